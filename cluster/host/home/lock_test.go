package home

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLockHasOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	_, held := Holder(path)
	require.False(t, held, "there is no file yet")

	lock, err := Acquire(path)
	require.NoError(t, err)
	pid, held := Holder(path)
	require.True(t, held)
	require.Equal(t, os.Getpid(), pid)

	_, err = Acquire(path)
	var refused *HeldError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, os.Getpid(), refused.PID)
	require.Contains(t, err.Error(), path)

	require.NoError(t, lock.Release())
	_, held = Holder(path)
	require.False(t, held)
	lock, err = Acquire(path)
	require.NoError(t, err)
	require.NoError(t, lock.Release())
}

// One who looks at a lock has a share of it meanwhile.
func TestLockIsNotRefusedForThoseWhoLook(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	looker, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, flock(looker, unix.LOCK_SH))
	closed := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { closed <- looker.Close() }) // as if it had been held up
	lock, err := Acquire(path)
	require.NoError(t, err)
	require.NoError(t, <-closed)
	require.NoError(t, lock.Release())
}

func TestWaitUnheldCountsFromTheRelease(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Acquire(path)
	require.NoError(t, err)

	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, WaitUnheld(short, path, 50*time.Millisecond), context.DeadlineExceeded, "it is held")

	require.NoError(t, lock.Release())
	start := time.Now()
	require.NoError(t, WaitUnheld(t.Context(), path, 50*time.Millisecond))
	require.GreaterOrEqual(t, time.Since(start), 50*time.Millisecond)
}

func TestPortsAreKeptWhereFree(t *testing.T) {
	t.Parallel()
	h, err := Open(t.TempDir())
	require.NoError(t, err)
	noted, err := json.Marshal(map[string]int{"a": quietPort(t)})
	require.NoError(t, err)
	require.NoError(t, WriteFile(h.ports(), noted))
	first, err := h.Listen(t.Context(), "a", "b")
	require.NoError(t, err)
	a, b := Port(first["a"]), Port(first["b"])
	require.NotEqual(t, a, b)
	require.NoError(t, first["a"].Close())

	second, err := h.Listen(t.Context(), "a", "b") // b is still taken
	require.NoError(t, err)
	require.Equal(t, a, Port(second["a"]))
	require.NotEqual(t, b, Port(second["b"]))
	for _, l := range second {
		require.True(t, strings.HasPrefix(l.Addr().String(), "127.0.0.1:"))
		require.NoError(t, l.Close())
	}
	require.NoError(t, first["b"].Close())
}

// quietPort is a free port below those that the kernel gives to listeners that name none: nothing takes it between two listeners.
func quietPort(t *testing.T) int {
	t.Helper()
	for port := 20_000 + os.Getpid()%10_000; ; port++ {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
}

func TestOpenRefusesAPathTooLongForSockets(t *testing.T) {
	t.Parallel()
	_, err := Open(filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	require.ErrorContains(t, err, "shorter --home")
}

func TestInfoIsPrivateAndReadsBack(t *testing.T) {
	t.Parallel()
	h, err := Open(t.TempDir())
	require.NoError(t, err)
	want := Info{Version: 1, PID: 7, APIServer: "https://127.0.0.1:1", S3: S3{AccessKey: "a", SecretKey: "b"}}
	require.NoError(t, h.WriteInfo(want))
	got, err := h.ReadInfo()
	require.NoError(t, err)
	require.Equal(t, want, got)
	st, err := os.Stat(h.info())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
	require.NoError(t, h.RemoveInfo())
	require.NoError(t, h.RemoveInfo(), "a second time is no error")
	_, err = h.ReadInfo()
	require.ErrorIs(t, err, os.ErrNotExist)
}
