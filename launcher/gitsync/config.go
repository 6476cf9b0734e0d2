package gitsync

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The variables that say what to fetch.
const (
	EnvRepo     = "GIT_SYNC_REPO"   // URL or absolute path
	EnvRoot     = "GIT_SYNC_ROOT"   // folder the clone goes below
	EnvDest     = "GIT_SYNC_DEST"   // name of the clone there; the repository's unless set
	EnvBranch   = "GIT_SYNC_BRANCH" // branch or tag; the repository's default unless set
	EnvRevision = "GIT_SYNC_REV"    // commit; the newest of the branch unless set

	EnvUsername     = "GIT_SYNC_USERNAME"
	EnvPassword     = "GIT_SYNC_PASSWORD"
	EnvPasswordFile = "GIT_SYNC_PASSWORD_FILE"
	EnvSSHKey       = "GIT_SYNC_SSH_KEY_FILE"
	// EnvKnownHosts set to false accepts any SSH host key.
	EnvKnownHosts = "GIT_SYNC_SSH_KNOWN_HOSTS"
	// EnvSubmodules set to off leaves submodules out.
	EnvSubmodules = "GIT_SYNC_SUBMODULES"
)

// Known tells whether a variable is meant for this package.
func Known(name string) bool { return strings.HasPrefix(name, "GIT_SYNC_") }

// Config says what to fetch, and to where.
type Config struct {
	Repo, Branch, Revision string
	// Dir is the folder that becomes the clone; what was there is replaced.
	Dir string

	Username, Password string
	SSHKey             string
	AnyHostKey         bool
	Submodules         bool

	// CommitFile is the file to which the hash of the checked-out commit is written, if the file exists. Empty means none.
	CommitFile string
}

// FromEnv reads the configuration from the environment.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{
		Repo:       strings.TrimSpace(getenv(EnvRepo)),
		Branch:     strings.TrimSpace(getenv(EnvBranch)),
		Revision:   strings.TrimSpace(getenv(EnvRevision)),
		Username:   getenv(EnvUsername),
		Password:   getenv(EnvPassword),
		SSHKey:     getenv(EnvSSHKey),
		AnyHostKey: getenv(EnvKnownHosts) == "false",
		Submodules: getenv(EnvSubmodules) != "off",
	}
	if c.Repo == "" {
		return Config{}, fmt.Errorf("%s is not set: it must hold the repository to fetch", EnvRepo)
	}
	root, dest := getenv(EnvRoot), strings.TrimSpace(getenv(EnvDest))
	if root == "" {
		return Config{}, fmt.Errorf("%s is not set: it must hold the folder to clone into", EnvRoot)
	}
	if dest == "" {
		dest = Dest(c.Repo)
	}
	if !filepath.IsLocal(dest) || filepath.Clean(dest) == "." {
		return Config{}, fmt.Errorf("%s is %q: it must be the name of a folder below %s", EnvDest, dest, root)
	}
	c.Dir = filepath.Join(root, dest)
	if file := getenv(EnvPasswordFile); file != "" && c.Password == "" {
		secret, err := os.ReadFile(file)
		if err != nil {
			return Config{}, fmt.Errorf("%s: %w", EnvPasswordFile, err)
		}
		c.Password = strings.TrimSpace(string(secret))
	}
	return c, nil
}

// Dest is the name of a repository: the last part of its URL without .git.
func Dest(repo string) string {
	repo = strings.TrimRight(strings.TrimSpace(repo), "/")
	if u, err := url.Parse(repo); err == nil && u.Scheme != "" && u.Path != "" {
		repo = u.Path
	}
	if at := strings.LastIndex(repo, ":"); at >= 0 && !strings.Contains(repo[at:], "/") {
		repo = repo[at+1:] // git@host:repo.git
	}
	name := strings.TrimSuffix(path.Base(repo), ".git")
	if name == "" || name == "." || name == ".." || name == "/" {
		return "repository"
	}
	return name
}

// isLocal tells whether a repository is a path of this machine, and returns it.
func isLocal(repo string) (string, bool) {
	if p, ok := strings.CutPrefix(repo, "file://"); ok {
		return p, true
	}
	return repo, strings.HasPrefix(repo, "/") || strings.HasPrefix(repo, ".")
}

// redact takes passwords out of a URL.
func redact(repo string) string {
	if u, err := url.Parse(repo); err == nil && u.User != nil {
		return u.Redacted()
	}
	return repo
}

var errRelative = errors.New("a local repository must be given by its absolute path")
