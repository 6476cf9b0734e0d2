package emissary

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// sparse is a file of that size with data at some places and holes between them.
func sparse(t *testing.T, size int64, places ...int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(size))
	for _, at := range places {
		_, err := f.WriteAt([]byte("data"), at)
		require.NoError(t, err)
	}
	return path
}

func TestSparseFilesArePackedWhole(t *testing.T) {
	t.Parallel()
	const size = 3<<20 + 17
	for _, places := range [][]int64{nil, {0}, {1 << 20}, {0, 1<<20 + 5, size - 4}} {
		path := sparse(t, size, places...)
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		require.NoError(t, pack(t.Context(), w, path))
		require.NoError(t, w.Close())
		r := tar.NewReader(&b)
		_, err := r.Next()
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%v", places)
	}
}

// endless takes what is written, and says when something was.
type endless struct{ began chan struct{} }

func (e endless) Write(b []byte) (int, error) {
	select {
	case e.began <- struct{}{}:
	default:
	}
	return len(b), nil
}

// A copy that would take hours ends with its step, and a file larger than its disk is refused.
func TestLargeOutputsAreGivenUp(t *testing.T) {
	t.Parallel()
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(t.TempDir(), &disk))
	has := int64(disk.Blocks) * disk.Bsize

	ctx, cancel := context.WithCancel(t.Context())
	to := endless{make(chan struct{}, 1)}
	ended := make(chan error)
	large := sparse(t, has, 0)
	go func() { ended <- pack(ctx, tar.NewWriter(to), large) }()
	<-to.began
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)

	err := pack(t.Context(), tar.NewWriter(io.Discard), sparse(t, has+1))
	require.ErrorContains(t, err, "and its disk has")
}

func TestOutputParametersAreBounded(t *testing.T) {
	t.Parallel()
	s := &step{folder: t.TempDir()}
	path := sparse(t, maxParameter+1)
	require.ErrorContains(t, s.saveParameter(t.Context(), path), "make it an artifact")
	require.NoError(t, os.Truncate(path, maxParameter))
	require.NoError(t, s.saveParameter(t.Context(), path))
}
