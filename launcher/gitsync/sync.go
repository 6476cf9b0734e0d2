package gitsync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/memory"
)

// tries is how often a fetch that the network broke is tried in all.
const tries = 6

// Sync fetches the repository into c.Dir and writes its progress to progress, line by line. Afterwards the folder is complete or absent.
// Network errors are retried for about half a minute.
func Sync(ctx context.Context, c Config, progress io.Writer) error {
	if p, local := isLocal(c.Repo); local && !filepath.IsAbs(p) {
		return fmt.Errorf("repository %s: %w", c.Repo, errRelative)
	}
	serveLocal() // whatever the repository: go-git keeps its protocols in a map without a lock, which others may be reading later
	auth, err := c.auth()
	if err != nil {
		return err
	}
	f := fetch{Config: c, auth: auth, progress: progress}
	say(progress, "fetching %s%s", redact(c.Repo), f.wanted())
	started := time.Now()
	commit, err := backoff.Retry(ctx, func() (string, error) { return f.once(ctx) },
		backoff.WithMaxTries(tries), backoff.WithBackOff(backoff.NewExponentialBackOff()),
		backoff.WithNotify(func(err error, wait time.Duration) {
			say(progress, "%v; trying again in %s", err, wait.Round(time.Millisecond))
		}))
	if err != nil {
		var permanent *backoff.PermanentError
		if errors.As(err, &permanent) {
			err = permanent.Err
		}
		return err
	}
	say(progress, "%s is at %s, fetched in %.1f s", c.Dir, commit, time.Since(started).Seconds())
	return c.leaveCommit()
}

// leaveCommit writes the hash of the commit that is checked out to the file for it.
func (c *Config) leaveCommit() error {
	if c.CommitFile == "" {
		return nil
	}
	repo, err := git.PlainOpen(c.Dir)
	if err != nil {
		return fmt.Errorf("open the clone: %w", err)
	}
	head, err := repo.Head()
	if err != nil {
		return fmt.Errorf("the clone has no commit: %w", err)
	}
	f, err := os.OpenFile(c.CommitFile, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the commit: %w", err)
	}
	_, err = f.WriteString(head.Hash().String())
	return errors.Join(err, f.Close())
}

// fetch is one repository to be cloned.
type fetch struct {
	Config
	auth     transport.AuthMethod
	progress io.Writer
}

func (f *fetch) wanted() string {
	switch {
	case f.Revision != "" && f.Branch != "":
		return fmt.Sprintf(", commit %s of %s", f.Revision, f.Branch)
	case f.Revision != "":
		return ", commit " + f.Revision
	case f.Branch != "":
		return ", branch " + f.Branch
	}
	return ""
}

// once clones beside the final folder and moves the whole into place.
func (f *fetch) once(ctx context.Context) (string, error) {
	ref, err := f.reference(ctx)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(f.Dir), 0o755); err != nil {
		return "", backoff.Permanent(err)
	}
	beside, err := os.MkdirTemp(filepath.Dir(f.Dir), ".git-sync-")
	if err != nil {
		return "", backoff.Permanent(err)
	}
	defer func() { _ = os.RemoveAll(beside) }() // gone already when all went well
	if err := os.Chmod(beside, 0o755); err != nil {
		return "", backoff.Permanent(err)
	}
	commit, err := f.clone(ctx, beside, ref)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(f.Dir); err != nil {
		return "", backoff.Permanent(err)
	}
	if err := os.Rename(beside, f.Dir); err != nil {
		return "", backoff.Permanent(err)
	}
	return commit, nil
}

// reference asks the repository which of its references is wanted; empty means
// its default branch.
func (f *fetch) reference(ctx context.Context) (plumbing.ReferenceName, error) {
	remote := git.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{f.Repo}})
	refs, err := remote.ListContext(ctx, &git.ListOptions{Auth: f.auth})
	if err != nil {
		return "", f.explain(err)
	}
	if f.Branch == "" {
		return "", nil
	}
	var branches []string
	for _, name := range []plumbing.ReferenceName{plumbing.NewBranchReferenceName(f.Branch), plumbing.NewTagReferenceName(f.Branch)} {
		if slices.ContainsFunc(refs, func(r *plumbing.Reference) bool { return r.Name() == name }) {
			return name, nil
		}
	}
	for _, r := range refs {
		if r.Name().IsBranch() {
			branches = append(branches, r.Name().Short())
		}
	}
	return "", backoff.Permanent(fmt.Errorf("%s has no branch or tag %q; its branches are %s", redact(f.Repo), f.Branch, list(branches)))
}

func (f *fetch) clone(ctx context.Context, dir string, ref plumbing.ReferenceName) (string, error) {
	options := &git.CloneOptions{
		URL: f.Repo, Auth: f.auth, ReferenceName: ref, SingleBranch: ref != "" || f.Revision == "",
		Progress: &lines{w: f.progress}, NoCheckout: f.Revision != "", Tags: git.NoTags,
	}
	if _, local := isLocal(f.Repo); !local && f.Revision == "" {
		options.Depth = 1 // a local repository cannot be served shallow, and a commit may lie anywhere
	}
	if f.Revision != "" {
		options.Tags = git.AllTags
	}
	repo, err := git.PlainCloneContext(ctx, dir, false, options)
	if err != nil {
		return "", f.explain(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		return "", backoff.Permanent(err)
	}
	if f.Revision != "" {
		hash, err := repo.ResolveRevision(plumbing.Revision(f.Revision))
		if err != nil {
			return "", backoff.Permanent(fmt.Errorf("%s has no commit %q%s", redact(f.Repo), f.Revision, f.onBranch()))
		}
		if err := tree.Checkout(&git.CheckoutOptions{Hash: *hash}); err != nil {
			return "", backoff.Permanent(fmt.Errorf("check out %s: %w", f.Revision, err))
		}
	}
	if f.Submodules {
		if err := f.submodules(ctx, tree); err != nil {
			return "", err
		}
	}
	return describe(repo)
}

func (f *fetch) submodules(ctx context.Context, tree *git.Worktree) error {
	modules, err := tree.Submodules()
	if err != nil {
		return backoff.Permanent(fmt.Errorf("submodules of %s: %w", redact(f.Repo), err))
	}
	for _, m := range modules {
		say(f.progress, "fetching submodule %s", m.Config().Path)
		err := m.UpdateContext(ctx, &git.SubmoduleUpdateOptions{
			Init: true, RecurseSubmodules: git.DefaultSubmoduleRecursionDepth, Auth: f.auth,
		})
		if err != nil {
			return fmt.Errorf("submodule %s (leave submodules out with %s=off): %w", m.Config().Path, EnvSubmodules, f.explain(err))
		}
	}
	return nil
}

func (f *fetch) onBranch() string {
	if f.Branch == "" {
		return ""
	}
	return " on branch " + f.Branch
}

// explain makes an error of go-git one for people, and tells faults that another
// try may cure from those that it cannot.
func (f *fetch) explain(err error) error {
	repo := redact(f.Repo)
	var why string
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return backoff.Permanent(err)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		why = "there is no such repository, or it is private: check the URL, and set " + EnvUsername + " and " + EnvPassword + " if it needs them"
		if _, local := isLocal(f.Repo); local {
			why = "there is no git repository in that folder"
		}
	case errors.Is(err, transport.ErrAuthenticationRequired):
		why = "the repository does not exist or asks for a password: check the URL, and set " + EnvUsername + " and " + EnvPassword
	case errors.Is(err, transport.ErrAuthorizationFailed), errors.Is(err, transport.ErrInvalidAuthMethod):
		why = "the repository refuses this user name and password or key"
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		why = "the repository is empty"
	case strings.Contains(err.Error(), "unsupported scheme"):
		why = "only https, http, ssh, git and local paths are understood"
	case strings.Contains(err.Error(), "certificate"), strings.Contains(err.Error(), "knownhosts"), strings.Contains(err.Error(), "unable to authenticate"):
		why = err.Error()
	default:
		return fmt.Errorf("repository %s: %w", repo, err)
	}
	return backoff.Permanent(fmt.Errorf("repository %s: %s", repo, why))
}

// describe names the commit that is checked out.
func describe(repo *git.Repository) (string, error) {
	head, err := repo.Head()
	if err != nil {
		return "", backoff.Permanent(fmt.Errorf("the clone has no commit: %w", err))
	}
	commit, err := repo.CommitObject(head.Hash())
	if err != nil {
		return "", backoff.Permanent(err)
	}
	subject, _, _ := strings.Cut(commit.Message, "\n")
	return fmt.Sprintf("%s (%s)", head.Hash().String()[:12], subject), nil
}

func list(names []string) string {
	const most = 20
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
