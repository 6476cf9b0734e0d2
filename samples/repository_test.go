package samples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepository(t *testing.T) {
	t.Parallel()
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "benchmarks.git")
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(src, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	write("README.md", "hello\n", 0o644)
	write("scripts/train.py", "print(1)\n", 0o755)
	write("scripts.txt", "sorts between the folder and its name\n", 0o644)
	write("scripts/__pycache__/train.pyc", "left behind", 0o644)
	require.NoError(t, os.Mkdir(filepath.Join(src, "empty"), 0o755))
	require.NoError(t, os.Symlink("train.py", filepath.Join(src, "scripts/link")))

	first, changed, err := Repository(os.DirFS(src), dst, Branch)
	require.NoError(t, err)
	require.True(t, changed)
	again, changed, err := Repository(os.DirFS(src), dst, Branch)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, first, again)
	elsewhere, _, err := Repository(os.DirFS(src), filepath.Join(t.TempDir(), "other.git"), Branch)
	require.NoError(t, err)
	require.Equal(t, first, elsewhere, "the same files give the same commit")

	// git itself judges what was made.
	out := gitOut(t, dst, "fsck", "--strict")
	require.NotContains(t, out, "error")
	clone := filepath.Join(t.TempDir(), "clone")
	gitOut(t, ".", "clone", "--quiet", dst, clone)
	require.Equal(t, Branch, gitOut(t, clone, "rev-parse", "--abbrev-ref", "HEAD"))
	require.Equal(t, "README.md scripts.txt scripts/link scripts/train.py", strings.Join(strings.Fields(gitOut(t, clone, "ls-files")), " "))
	info, err := os.Stat(filepath.Join(clone, "scripts/train.py"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&0o100)

	write("README.md", "changed\n", 0o644)
	second, changed, err := Repository(os.DirFS(src), dst, Branch)
	require.NoError(t, err)
	require.True(t, changed)
	require.NotEqual(t, first, second)
	require.Equal(t, second, gitOut(t, dst, "rev-parse", Branch))

	_, _, err = Repository(os.DirFS(t.TempDir()), filepath.Join(t.TempDir(), "x.git"), Branch)
	require.ErrorContains(t, err, "no files")
	_, _, err = Repository(os.DirFS(filepath.Join(src, "none")), filepath.Join(t.TempDir(), "x.git"), Branch)
	require.ErrorContains(t, err, "no such file")
}

func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}
