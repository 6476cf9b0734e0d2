package home

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be another process that holds a folder.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_HOLD"); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

func hold(dir string) {
	if _, err := Home(dir).Lock(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until the test closes it
}

func TestDefault(t *testing.T) {
	t.Setenv("HOME", "/home/susan")
	for set, want := range map[string]string{
		"":         "/home/susan/.local/share/argosy",
		"/data":    "/data/argosy",
		"relative": "/home/susan/.local/share/argosy",
	} {
		t.Setenv("XDG_DATA_HOME", set)
		got, err := Default()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	_, err := Default()
	require.ErrorContains(t, err, "--home")
}

func TestResolve(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data")
	resolve := func(args ...string) Settings {
		flags := pflag.NewFlagSet("up", pflag.ContinueOnError)
		flags.String("home", "", "")
		flags.String("http", DefaultHTTP, "")
		flags.String("grpc", DefaultGRPC, "")
		flags.String("store", "", "")
		flags.Bool("scales-up", false, "")
		require.NoError(t, flags.Parse(args))
		s, err := Resolve(flags)
		require.NoError(t, err)
		return s
	}
	for _, v := range []string{"ARGOSY_HOME", "ARGOSY_HTTP", "ARGOSY_GRPC", "ARGOSY_STORE", "ARGOSY_SCALES_UP"} {
		t.Setenv(v, "") // empty is not set
	}
	require.Equal(t, Settings{Home: "/data/argosy", HTTP: DefaultHTTP, GRPC: DefaultGRPC}, resolve())
	t.Setenv("ARGOSY_HOME", "/env")
	t.Setenv("ARGOSY_HTTP", "127.0.0.1:1")
	t.Setenv("ARGOSY_GRPC", "127.0.0.1:2")
	t.Setenv("ARGOSY_STORE", "postgres://host/env")
	t.Setenv("ARGOSY_SCALES_UP", "true")
	require.Equal(t, Settings{Home: "/env", HTTP: "127.0.0.1:1", GRPC: "127.0.0.1:2", Store: "postgres://host/env", ScalesUp: true}, resolve())
	require.Equal(t, Settings{Home: "/flag", HTTP: "127.0.0.1:1", GRPC: DefaultGRPC, Store: "x.db"},
		resolve("--home", "/flag", "--grpc", DefaultGRPC, "--store", "x.db", "--scales-up=false"), "a flag that says the default was given too")
}

func TestLock(t *testing.T) {
	t.Parallel()
	h, err := Open(filepath.Join(t.TempDir(), "new"))
	require.NoError(t, err)
	info, err := os.Stat(string(h))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "TEST_HOLD="+string(h))
	in, err := other.StdinPipe()
	require.NoError(t, err)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held\n", line)

	_, err = h.Lock()
	var held *Held
	require.ErrorAs(t, err, &held)
	require.Equal(t, other.Process.Pid, held.PID)
	require.ErrorContains(t, err, fmt.Sprintf("process %d runs Argosy on %s already", other.Process.Pid, h))

	require.NoError(t, in.Close())
	require.NoError(t, other.Wait())
	l, err := h.Lock()
	require.NoError(t, err, "the kernel let go when the other ended")
	require.NoError(t, l.Release())
}

func TestSupervisor(t *testing.T) {
	t.Parallel()
	// A process that is being forked has for a moment all files that are open, and with them their locks.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	h, err := Open(t.TempDir())
	require.NoError(t, err)
	_, runs := h.Supervisor()
	require.False(t, runs, "no lock file")
	require.NoError(t, os.WriteFile(h.Path("cluster", "lock"), []byte("123\n"), 0o600))
	_, runs = h.Supervisor()
	require.False(t, runs, "a lock file that nobody holds")
	f, err := os.OpenFile(h.Path("cluster", "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, lockFile(f, true))
	pid, runs := h.Supervisor()
	require.True(t, runs)
	require.Equal(t, 123, pid)
}
