package gitsync

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// serveLocal makes local repositories be read in this process: go-git's own way
// is to start git, which an image need not have.
var serveLocal = sync.OnceFunc(func() {
	client.InstallProtocol("file", server.NewClient(localLoader{}))
})

// localLoader opens repositories, bare ones and those with files.
type localLoader struct{}

// Load implements server.Loader.
func (localLoader) Load(ep *transport.Endpoint) (storer.Storer, error) {
	dir, err := gitDir(ep.Path)
	if err != nil {
		return nil, err
	}
	return filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault()), nil
}

// gitDir finds where a repository keeps its objects.
func gitDir(repo string) (string, error) {
	dot := filepath.Join(repo, ".git")
	if fi, err := os.Stat(dot); err == nil {
		if fi.IsDir() {
			return dot, nil
		}
		link, err := os.ReadFile(dot) // a submodule: "gitdir: ../.git/modules/x"
		if err != nil {
			return "", err
		}
		target := strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
		if !filepath.IsAbs(target) {
			target = filepath.Join(repo, target)
		}
		return target, nil
	}
	for _, name := range []string{"HEAD", "objects"} {
		if _, err := os.Stat(filepath.Join(repo, name)); err != nil {
			return "", transport.ErrRepositoryNotFound
		}
	}
	return repo, nil
}
