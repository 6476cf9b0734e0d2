package node

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/dialer"
	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
	"github.com/argosy-ml/argosy/cluster/runtime/idmap"
)

// stopLimit is how long the sandbox gets to end its pods before it is ended with them.
const stopLimit = 15 * time.Second

func itoa(n int) string { return strconv.Itoa(n) }

// run serves the sandbox from the host's network and keeps it until the context ends.
func run(ctx context.Context, o options, log *slog.Logger) error {
	// Before there are other processes of the node, which would have to be moved too.
	groups, err := cgroup.Claim(treeName(o.home))
	if err == nil {
		o.cgroup = groups.Dir()
		defer func() { _ = groups.Clear() }() // nothing runs in them any more
	} else {
		o.noCgroup = err.Error()
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the sandbox is gone
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var outside errgroup.Group
	outside.Go(func() error {
		defer cancel()
		return dialer.Serve(serving, home.Home(o.home).Socket("dial"), log)
	})
	outside.Go(func() error {
		defer cancel()
		return serveUplink(serving, o, ours, log)
	})
	err = runSandbox(ctx, o, theirs, log)
	stop()
	return errors.Join(err, outside.Wait())
}

// treeName tells a cluster's control groups from those of another one, and is the same at its next start.
func treeName(home string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(home)) // it cannot fail
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// runSandbox makes the sandbox and keeps it until the context ends. It gives outside to the sandbox.
func runSandbox(ctx context.Context, o options, outside *os.File, log *slog.Logger) error {
	defer outside.Close()
	lifeline, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer alive.Close()
	listener := os.NewFile(listenerFD, "listener")
	cmd := exec.Command("/proc/self/exe")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{listener, lifeline, outside}
	// Its own session: a terminal's Ctrl-C is for the supervisor, which stops things in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	cmd.Args = o.args("holder")
	ordinary := os.Geteuid() != 0
	start := cmd.Start
	if ordinary {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.Args = o.args("holder", "--wait")
	} else if idmap.Needed() {
		if start, err = startShifted(cmd, o); err != nil {
			return err
		}
	}
	if err := start(); err != nil {
		return fmt.Errorf("make the sandbox's namespaces: %w", err)
	}
	_ = lifeline.Close()
	_ = listener.Close()
	_ = outside.Close() // so that the other end learns when the sandbox is gone
	if ordinary {
		if err := mapIDs(ctx, cmd.Process.Pid, log); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return err
		}
		if _, err := alive.Write([]byte{'\n'}); err != nil {
			return fmt.Errorf("start the sandbox: %w", err)
		}
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		if err == nil {
			err = errors.New("its holder ended with exit code 0")
		}
		return fmt.Errorf("the sandbox is gone: %w", err)
	case <-ctx.Done():
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-exited:
		if err != nil {
			log.Warn("the sandbox did not end well", "err", err)
		}
	case <-time.After(stopLimit):
		_ = cmd.Process.Kill()
		log.Warn("the sandbox did not end in time and was killed", "after", stopLimit, "err", <-exited)
	}
	return nil
}

// becomeRoot waits until the node has mapped the sandbox's user ids, and executes
// the holder again: a program gets its user's capabilities when it is executed,
// and until now the user had no id.
func becomeRoot(o options) error {
	if _, err := io.ReadFull(os.NewFile(lifelineFD, "lifeline"), make([]byte, 1)); err != nil {
		return fmt.Errorf("the node is gone: %w", err)
	}
	for _, fd := range []int{listenerFD, lifelineFD, outsideFD} {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_SETFD, 0); errno != 0 {
			return errno
		}
	}
	return syscall.Exec("/proc/self/exe", o.args("holder"), os.Environ())
}
