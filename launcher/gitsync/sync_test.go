package gitsync_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/gitsync"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// upstream is a repository with two branches, a tag, a program and a link.
type upstream struct {
	dir           string // with files
	bare          string // the same, bare
	first, second string // commits of main
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func newUpstream(t *testing.T) upstream {
	t.Helper()
	root := t.TempDir()
	u := upstream{dir: filepath.Join(root, "benchmarks"), bare: filepath.Join(root, "bare", "benchmarks.git")}
	require.NoError(t, os.MkdirAll(filepath.Join(u.dir, "scripts"), 0o755))
	git(t, u.dir, "init", "-q", "-b", "main")
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "scripts", "run.sh"), []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.Symlink("scripts/run.sh", filepath.Join(u.dir, "run")))
	git(t, u.dir, "add", "-A")
	git(t, u.dir, "commit", "-q", "-m", "First\n\nwith a body")
	u.first = git(t, u.dir, "rev-parse", "HEAD")
	git(t, u.dir, "tag", "v1")
	git(t, u.dir, "checkout", "-q", "-b", "cnn_tf_v1.9_compatible")
	u.commit(t, "VERSION", "1.9")
	git(t, u.dir, "checkout", "-q", "main")
	u.commit(t, "VERSION", "2")
	u.second = git(t, u.dir, "rev-parse", "HEAD")
	git(t, root, "clone", "-q", "--bare", u.dir, u.bare)
	return u
}

func (u upstream) commit(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, file), []byte(text), 0o644))
	git(t, u.dir, "add", "-A")
	git(t, u.dir, "commit", "-q", "-m", file+" "+text)
}

// sync runs git-sync as the init container does, by its environment.
func sync(t *testing.T, root string, env map[string]string) (string, error) {
	t.Helper()
	env[gitsync.EnvRoot] = root
	c, err := gitsync.FromEnv(func(name string) string { return env[name] })
	require.NoError(t, err)
	var progress strings.Builder
	err = gitsync.Sync(t.Context(), c, &progress)
	t.Log(progress.String())
	return progress.String(), err
}

func TestSyncLocal(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	for name, tc := range map[string]struct {
		env     map[string]string
		version string // content of VERSION, empty when it is not there
	}{
		"folder":            {map[string]string{gitsync.EnvRepo: u.dir}, "2"},
		"bare":              {map[string]string{gitsync.EnvRepo: u.bare}, "2"},
		"trailing slash":    {map[string]string{gitsync.EnvRepo: u.bare + "/"}, "2"},
		"file URL":          {map[string]string{gitsync.EnvRepo: "file://" + u.bare}, "2"},
		"branch":            {map[string]string{gitsync.EnvRepo: u.dir, gitsync.EnvBranch: "cnn_tf_v1.9_compatible"}, "1.9"},
		"tag":               {map[string]string{gitsync.EnvRepo: u.dir, gitsync.EnvBranch: "v1"}, ""},
		"commit":            {map[string]string{gitsync.EnvRepo: u.bare, gitsync.EnvRevision: u.first}, ""},
		"short commit":      {map[string]string{gitsync.EnvRepo: u.bare, gitsync.EnvRevision: u.first[:8]}, ""},
		"tag as revision":   {map[string]string{gitsync.EnvRepo: u.bare, gitsync.EnvRevision: "v1"}, ""},
		"commit of branch":  {map[string]string{gitsync.EnvRepo: u.dir, gitsync.EnvRevision: u.second, gitsync.EnvBranch: "main"}, "2"},
		"other destination": {map[string]string{gitsync.EnvRepo: u.dir, gitsync.EnvDest: "benchmarks"}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for range 2 { // a container that is started again finds the first clone
				_, err := sync(t, root, tc.env)
				require.NoError(t, err)
			}
			clone := filepath.Join(root, "benchmarks")
			version, err := os.ReadFile(filepath.Join(clone, "VERSION"))
			if tc.version == "" {
				require.ErrorIs(t, err, os.ErrNotExist)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, tc.version, string(version))
			fi, err := os.Stat(filepath.Join(clone, "run"))
			require.NoError(t, err, "the link leads somewhere")
			require.NotZero(t, fi.Mode()&0o100, "the program can be run")
			entries, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Len(t, entries, 1, "nothing is left beside the clone")
		})
	}
}

// The commit that was checked out is written only where a reader waits for it.
func TestSyncLeavesTheCommit(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	root := t.TempDir()
	for name, there := range map[string]bool{"waited-for": true, "absent": false} {
		file := filepath.Join(root, name)
		if there {
			require.NoError(t, os.WriteFile(file, []byte("what was there before, which is longer than any hash of a commit"), 0o600))
		}
		c := gitsync.Config{Repo: u.bare, Revision: u.first[:8], Dir: filepath.Join(root, "clone-"+name), CommitFile: file}
		require.NoError(t, gitsync.Sync(t.Context(), c, io.Discard))
		if !there {
			require.NoFileExists(t, file)
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, u.first, string(text))
	}
}

func TestSyncErrors(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	empty := filepath.Join(t.TempDir(), "empty.git")
	git(t, u.dir, "init", "-q", "--bare", empty)
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"no such branch":    {map[string]string{gitsync.EnvRepo: u.dir, gitsync.EnvBranch: "master"}, []string{`no branch or tag "master"`, "its branches are cnn_tf_v1.9_compatible, main"}},
		"no such commit":    {map[string]string{gitsync.EnvRepo: u.dir, gitsync.EnvRevision: "0123456789"}, []string{`no commit "0123456789"`}},
		"not on the branch": {map[string]string{gitsync.EnvRepo: u.bare, gitsync.EnvRevision: u.second, gitsync.EnvBranch: "cnn_tf_v1.9_compatible"}, []string{"no commit", "on branch cnn_tf_v1.9_compatible"}},
		"no repository":     {map[string]string{gitsync.EnvRepo: t.TempDir()}, []string{"there is no git repository in that folder"}},
		"no folder":         {map[string]string{gitsync.EnvRepo: "/no/such/folder"}, []string{"there is no git repository in that folder"}},
		"relative":          {map[string]string{gitsync.EnvRepo: "../x"}, []string{"absolute path"}},
		"empty":             {map[string]string{gitsync.EnvRepo: empty}, []string{"is empty"}},
		"scheme":            {map[string]string{gitsync.EnvRepo: "ftp://h/x.git"}, []string{"only https"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			_, err := sync(t, root, tc.env)
			require.Error(t, err)
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
			entries, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Empty(t, entries, "a clone that failed leaves nothing")
		})
	}
}

// serve is git's own HTTP server for the folder that holds the bare repository.
func serve(t *testing.T, u upstream, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	backend := &cgi.Handler{
		Path: filepath.Join(git(t, u.dir, "--exec-path"), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(u.bare), "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	s := httptest.NewServer(wrap(backend))
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s.URL
}

func TestSyncHTTP(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	var shallow atomic.Bool
	base := serve(t, u, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				shallow.Store(true)
			}
			h.ServeHTTP(w, r)
		})
	})
	root := t.TempDir()
	out, err := sync(t, root, map[string]string{gitsync.EnvRepo: base + "/benchmarks.git", gitsync.EnvBranch: "main"})
	require.NoError(t, err)
	require.Contains(t, out, "(VERSION 2)")
	clone := filepath.Join(root, "benchmarks")
	require.FileExists(t, filepath.Join(clone, ".git", "shallow"), "only the newest commit is fetched")

	_, err = sync(t, t.TempDir(), map[string]string{gitsync.EnvRepo: base + "/nothing.git"})
	require.ErrorContains(t, err, "there is no such repository")

	root = t.TempDir()
	_, err = sync(t, root, map[string]string{gitsync.EnvRepo: base + "/benchmarks.git", gitsync.EnvRevision: u.first})
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(root, "benchmarks", "VERSION"))
}

func TestSyncPassword(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	base := serve(t, u, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, ok := r.BasicAuth(); !ok || user != "ada" || password != "s3cret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	repo := base + "/benchmarks.git"
	_, err := sync(t, t.TempDir(), map[string]string{gitsync.EnvRepo: repo, gitsync.EnvUsername: "ada", gitsync.EnvPassword: "s3cret"})
	require.NoError(t, err)

	out, err := sync(t, t.TempDir(), map[string]string{gitsync.EnvRepo: strings.Replace(repo, "http://", "http://ada:wrong-password@", 1)})
	require.ErrorContains(t, err, "asks for a password")
	require.NotContains(t, out+err.Error(), "wrong-password")
}

// A connection that breaks is tried again.
func TestSyncRetries(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	var calls atomic.Int32
	base := serve(t, u, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) <= 2 {
				panic(http.ErrAbortHandler) // cuts the connection
			}
			h.ServeHTTP(w, r)
		})
	})
	out, err := sync(t, t.TempDir(), map[string]string{gitsync.EnvRepo: base + "/benchmarks.git"})
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(out, "trying again"), out)
}

func TestSyncSubmodule(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	outer := filepath.Join(t.TempDir(), "outer")
	require.NoError(t, os.Mkdir(outer, 0o755))
	git(t, outer, "init", "-q", "-b", "main")
	git(t, outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", u.bare, "lib")
	git(t, outer, "commit", "-q", "-m", "With a submodule")

	root := t.TempDir()
	_, err := sync(t, root, map[string]string{gitsync.EnvRepo: outer})
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, "outer", "lib", "VERSION"))

	root = t.TempDir()
	_, err = sync(t, root, map[string]string{gitsync.EnvRepo: outer, gitsync.EnvSubmodules: "off"})
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(root, "outer", "lib", "VERSION"))
}

func TestSyncStops(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{})
	base := serve(t, u, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
		})
	})
	go func() {
		<-entered
		cancel()
	}()
	err := gitsync.Sync(ctx, gitsync.Config{Repo: base + "/benchmarks.git", Dir: filepath.Join(t.TempDir(), "x")}, &strings.Builder{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{gitsync.EnvRoot: "/code"}, gitsync.EnvRepo + " is not set"},
		{map[string]string{gitsync.EnvRepo: "/x"}, gitsync.EnvRoot + " is not set"},
		{map[string]string{gitsync.EnvRepo: "/x", gitsync.EnvRoot: "/code", gitsync.EnvDest: "../etc"}, "name of a folder below"},
		{map[string]string{gitsync.EnvRepo: "/x", gitsync.EnvRoot: "/code", gitsync.EnvDest: "."}, "name of a folder below"},
		{map[string]string{gitsync.EnvRepo: "/x", gitsync.EnvRoot: "/code", gitsync.EnvPasswordFile: "/no/such/file"}, gitsync.EnvPasswordFile},
	} {
		_, err := gitsync.FromEnv(func(name string) string { return tc.env[name] })
		require.ErrorContains(t, err, tc.want)
	}
}

func TestDest(t *testing.T) {
	t.Parallel()
	for repo, want := range map[string]string{
		"https://github.com/tensorflow/benchmarks.git": "benchmarks", "https://h/a/b": "b", "https://h/a/b.git/": "b", "git@h:b.git": "b", "git@h:a/b.git": "b",
		"/srv/git/benchmarks.git": "benchmarks", "file:///srv/x": "x", "https://h/": "h", "..": "repository", "": "repository", "ssh://git@h:22/a/b.git": "b",
	} {
		require.Equal(t, want, gitsync.Dest(repo), repo)
	}
}

func FuzzDest(f *testing.F) {
	for _, s := range []string{"https://h/a.git", "git@h:b.git", "/x/y", "..", "a\\b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, repo string) {
		dest := gitsync.Dest(repo)
		require.True(t, filepath.IsLocal(dest), "%q", dest)
		require.NotContains(t, dest, "/")
	})
}
