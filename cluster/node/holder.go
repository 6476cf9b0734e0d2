package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/podnet"
)

// Restarts of the kubelet.
const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 5 * time.Second
	settled    = 5 * time.Second // a kubelet that lived this long, or was killed, could run
)

// hold is the first process of the sandbox.
func hold(ctx context.Context, o options, log *slog.Logger) error {
	if err := furnish(log); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		// It sends nothing more, but it ends with the node. Ending the first process of a pid namespace ends them all.
		_, _ = io.Copy(io.Discard, os.NewFile(lifelineFD, "lifeline"))
		os.Exit(1)
	}()
	nodeNetwork, err := podnet.OpenNode()
	if err != nil {
		return fmt.Errorf("set up the network of pods with hostNetwork: %w", err)
	}
	defer nodeNetwork.Close()
	network, err := startNetwork(ctx, home.Home(o.home), nodeNetwork, log)
	if err != nil {
		return err
	}
	defer network.stop()
	return newKeeper(o, nodeNetwork, log).keep(ctx)
}

// furnish prepares the sandbox's file systems and network.
func furnish(log *slog.Logger) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc of the sandbox: %w (inside another container, that one's /proc must not be masked)", err)
	}
	if err := podnet.Setup(); err != nil {
		return fmt.Errorf("set up the pods' network: %w", err)
	}
	if err := openUplink(); err != nil {
		log.Warn("pods have no uplink to the machine's network", "err", err)
	}
	return nil
}

// keeper keeps a kubelet running and reaps what its pods leave behind. It does
// not use package os for that: as first process it waits for every child, its
// own and those that lost their parent.
type keeper struct {
	o       options
	log     *slog.Logger
	network *os.File // namespace of pods with hostNetwork
	changes chan os.Signal
	kubelet int
}

func newKeeper(o options, network *os.File, log *slog.Logger) *keeper {
	k := &keeper{o: o, log: log, network: network, changes: make(chan os.Signal, 1)}
	signal.Notify(k.changes, syscall.SIGCHLD)
	return k
}

// keep runs kubelets until the context ends. The first must prove that it can run at all.
func (k *keeper) keep(ctx context.Context) error {
	defer signal.Stop(k.changes)
	delay := firstDelay
	for first := true; ; first = false {
		born := time.Now()
		if err := k.start(); err != nil {
			return err
		}
		status := k.await(ctx)
		if ctx.Err() != nil {
			return nil
		}
		lived := time.Since(born)
		if first && lived < settled && status.Exited() {
			return fmt.Errorf("the kubelet ended after %s (%s)", lived.Round(time.Millisecond), describe(status))
		}
		k.log.Warn("the kubelet is gone and is started again; pods go on", "how", describe(status))
		if lived > time.Minute {
			delay = firstDelay
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
		delay = min(2*delay, lastDelay)
	}
}

func (k *keeper) start() error {
	pid, err := syscall.ForkExec("/proc/self/exe", k.o.args("kubelet"), &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2, listenerFD, k.network.Fd()},
	})
	if err != nil {
		return fmt.Errorf("start the kubelet: %w", err)
	}
	k.kubelet = pid
	return nil
}

// await returns when the kubelet is gone. It stops the kubelet when the context ends.
func (k *keeper) await(ctx context.Context) syscall.WaitStatus {
	told := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-k.changes:
			if status, gone := k.reap(); gone {
				return status
			}
		case <-told:
			told, late = nil, time.After(stopLimit-2*time.Second)
			if err := syscall.Kill(k.kubelet, syscall.SIGTERM); err != nil {
				k.log.Warn("the kubelet was not told to stop", "err", err)
			}
		case <-late:
			k.log.Warn("the kubelet does not end in time and is killed")
			_ = syscall.Kill(k.kubelet, syscall.SIGKILL)
		}
	}
}

// reap collects all that have ended, and says whether the kubelet was among them.
func (k *keeper) reap() (status syscall.WaitStatus, gone bool) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return status, gone
		}
		if pid == k.kubelet {
			status, gone = ws, true
		}
	}
}

func describe(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "signal: " + ws.Signal().String()
	}
	return fmt.Sprintf("exit code %d", ws.ExitStatus())
}
