package samples

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// committed is the time of the repository's commit. It is fixed, so that the same files give the same commit.
var committed = time.Date(2019, 5, 10, 17, 5, 2, 0, time.UTC)

// Repository makes dst a bare git repository whose branch holds the files of src in one commit, and gives the commit.
// The same files give the same commit; changed tells whether the branch had to be moved.
func Repository(src fs.FS, dst, branch string) (commit string, changed bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("git repository %s: %w", dst, err)
		}
	}()
	repo, err := git.PlainOpen(dst)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		repo, err = git.PlainInit(dst, true)
	}
	if err != nil {
		return "", false, err
	}
	tree, err := writeTree(repo.Storer, src, ".")
	if err != nil {
		return "", false, err
	}
	if tree.IsZero() {
		return "", false, errors.New("there are no files in it")
	}
	author := object.Signature{Name: "Argosy", Email: "demo@argosy.invalid", When: committed}
	hash, err := write(repo.Storer, &object.Commit{Author: author, Committer: author, Message: "Benchmarks of the demo\n", TreeHash: tree})
	if err != nil {
		return "", false, err
	}
	name := plumbing.NewBranchReferenceName(branch)
	if old, err := repo.Storer.Reference(name); err == nil && old.Hash() == hash {
		return hash.String(), false, nil
	}
	for _, ref := range []*plumbing.Reference{plumbing.NewHashReference(name, hash), plumbing.NewSymbolicReference(plumbing.HEAD, name)} {
		if err := repo.Storer.SetReference(ref); err != nil {
			return "", false, err
		}
	}
	return hash.String(), true, nil
}

// writeTree stores a folder and gives its hash; zero for one without files, which git does not know.
func writeTree(s storer.EncodedObjectStorer, src fs.FS, dir string) (plumbing.Hash, error) {
	list, err := fs.ReadDir(src, dir)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree := &object.Tree{}
	for _, e := range list {
		if skipped(e) {
			continue
		}
		entry := object.TreeEntry{Name: e.Name(), Mode: filemode.Dir}
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			entry.Hash, err = writeTree(s, src, name)
		} else {
			entry.Mode, entry.Hash, err = writeBlob(s, src, name, e)
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if !entry.Hash.IsZero() {
			tree.Entries = append(tree.Entries, entry)
		}
	}
	if len(tree.Entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int {
		if object.TreeEntrySorter([]object.TreeEntry{a, b}).Less(0, 1) {
			return -1
		}
		return 1
	})
	return write(s, tree)
}

// skipped leaves out what running the program leaves behind, and repositories inside.
func skipped(e fs.DirEntry) bool {
	return e.Name() == ".git" || e.Name() == "__pycache__" || path.Ext(e.Name()) == ".pyc"
}

func writeBlob(s storer.EncodedObjectStorer, src fs.FS, name string, e fs.DirEntry) (filemode.FileMode, plumbing.Hash, error) {
	mode := filemode.Regular
	var data []byte
	info, err := e.Info()
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = fs.ReadLink(src, name)
		mode, data = filemode.Symlink, []byte(target)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is neither a file nor a folder", name)
	default:
		if info.Mode()&0o111 != 0 {
			mode = filemode.Executable
		}
		data, err = fs.ReadFile(src, name)
	}
	if err != nil {
		return mode, plumbing.ZeroHash, err
	}
	o := s.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err != nil {
		return mode, plumbing.ZeroHash, err
	}
	if _, err := w.Write(data); err != nil {
		return mode, plumbing.ZeroHash, err
	}
	if err := w.Close(); err != nil {
		return mode, plumbing.ZeroHash, err
	}
	hash, err := store(s, o)
	return mode, hash, err
}

// encoder is a tree or a commit.
type encoder interface {
	Encode(o plumbing.EncodedObject) error
}

func write(s storer.EncodedObjectStorer, what encoder) (plumbing.Hash, error) {
	o := s.NewEncodedObject()
	if err := what.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return store(s, o)
}

// store writes an object unless the repository has it.
func store(s storer.EncodedObjectStorer, o plumbing.EncodedObject) (plumbing.Hash, error) {
	if s.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	return s.SetEncodedObject(o)
}
