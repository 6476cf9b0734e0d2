package emissary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// defaultGrace is how long a sidecar gets to end when the pod does not say.
const defaultGrace = 30 * time.Second

// command runs the command once and returns its exit code.
func (s *step) command(args []string) (int, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return ExitFault, fmt.Errorf("failed to find name in PATH: %w", err)
	}
	cmd := exec.Command(path)
	cmd.Args = append([]string{path}, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var outputs taps
	defer outputs.end()
	if s.capture {
		if err := s.tap(cmd, &outputs); err != nil {
			return ExitFault, err
		}
	}
	err = s.start(cmd)
	outputs.started()
	if err != nil {
		return ExitFault, fmt.Errorf("failed to start command: %w", err)
	}
	ctx, exited := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { s.forward(ctx, cmd.Process.Pid) })
	if !s.alone { // to stop watching a folder takes the kernel tens of milliseconds
		beside.Go(func() { s.obey(ctx, cmd.Process.Pid) })
	}
	if s.template.isSidecar(s.container) {
		beside.Go(func() { s.endWithMains(ctx, cmd.Process.Pid) })
	}
	err = cmd.Wait()
	exited()
	beside.Wait()
	if cmd.ProcessState == nil {
		return ExitFault, err
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// start starts the command with the umask that this program was started with. Argo's own emissary hands its own down, and all that a
// step makes can be written by everybody.
func (s *step) start(cmd *exec.Cmd) error {
	defer unix.Umask(unix.Umask(s.umask))
	return cmd.Start()
}

// forward passes signals on to the command's process group until it has exited.
func (s *step) forward(ctx context.Context, pid int) {
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-s.signals:
			n, ok := sig.(syscall.Signal)
			s.told = s.told || n == syscall.SIGTERM
			if ok && n != syscall.SIGCHLD && n != syscall.SIGURG && n != syscall.SIGPIPE {
				send(pid, n)
			}
		}
	}
}

// obey sends the signals that other containers of the pod leave word of.
func (s *step) obey(ctx context.Context, pid int) {
	file := filepath.Join(s.dir(), signalFile)
	err := Until(ctx, s.dir(), func() bool {
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 {
			return false
		}
		if n, err := strconv.Atoi(string(data)); err == nil && n > 0 {
			send(pid, syscall.Signal(n))
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "Error:", err)
		}
		return false
	})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
	}
}

// endWithMains ends a sidecar's command once the containers it serves have ended.
func (s *step) endWithMains(ctx context.Context, pid int) {
	for _, name := range s.template.mains() {
		if _, err := Ended(ctx, s.folder, name); err != nil {
			if ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "Error:", err)
			}
			return
		}
	}
	send(pid, syscall.SIGTERM)
	timer := time.NewTimer(Grace())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		send(pid, syscall.SIGKILL)
	}
}

// Grace is how long a command of the pod gets to end.
func Grace() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("ARGO_TERMINATION_GRACE_PERIOD_SECONDS")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return defaultGrace
}

// send signals the command's process group.
func send(pid int, sig syscall.Signal) {
	if err := syscall.Kill(-pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		fmt.Fprintln(os.Stderr, "Error: forward signal:", err)
	}
}
