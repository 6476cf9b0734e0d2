package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
)

// process is a running container.
type process struct {
	spec   container.Process // for exec, which joins with the same surroundings
	cmd    *exec.Cmd
	pidfd  *os.File // for exec
	log    *logFile
	exited chan struct{} // closed when it is gone and its output is in the log
	code   int           // set before exited is closed
}

// startProcess starts a container. It returns when its command runs.
func (p *pod) startProcess(c *corev1.Container, spec *container.Spec, restarts int32) (*process, error) {
	select {
	case p.k.starting <- struct{}{}:
	case <-p.starting.Done():
		return nil, p.starting.Err()
	}
	defer func() { <-p.k.starting }()

	// A restarted container starts from the image again.
	if err := os.RemoveAll(spec.Scratch); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(spec.Scratch, 0o755); err != nil {
		return nil, err
	}
	log, err := createLog(p.logPath(c.Name, restarts))
	if err != nil {
		return nil, err
	}
	proc := &process{spec: spec.Process, log: log, exited: make(chan struct{})}
	output, err := p.spawn(spec, proc)
	if err != nil {
		log.close()
		return nil, err
	}
	p.mu.Lock()
	p.running[c.Name], p.logs[c.Name] = proc, log
	ending := p.ending
	p.mu.Unlock()
	if ending {
		// The order to stop came while the container was being set up and has not reached it.
		if err := proc.signal(syscall.SIGKILL); err != nil {
			p.log.Warn("container not killed", "container", c.Name, "err", err)
		}
	}
	p.k.work.Go(func() { proc.reap(output, p) })
	return proc, nil
}

// spawn runs argosy-podinit and waits until it has become the container's command.
func (p *pod) spawn(spec *container.Spec, proc *process) (*os.File, error) {
	var toClose []*os.File
	defer func() {
		for _, f := range toClose {
			_ = f.Close()
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		toClose = append(toClose, r, w)
		return r, w, err
	}
	specR, specW, err1 := pipe()
	statusR, statusW, err2 := pipe()
	outR, outW, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	toClose = append(toClose, outW)
	namespaces, err := p.pause.namespaces()
	if err != nil {
		return nil, errors.Join(err, outR.Close())
	}
	toClose = append(toClose, namespaces...)
	spec.Namespaces = len(namespaces)

	pidfd := -1
	cmd := exec.Command(p.k.helper("argosy-podinit"), "run")
	cmd.Env = []string{}
	cmd.Stdout, cmd.Stderr = outW, outW
	cmd.ExtraFiles = append([]*os.File{specR, statusW}, namespaces...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, PidFD: &pidfd}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, outR.Close())
	}
	proc.cmd, proc.pidfd = cmd, os.NewFile(uintptr(pidfd), "pidfd")
	// A set-up that hangs, on a dead network file system say, must not outlive the order to stop.
	stop := context.AfterFunc(p.starting, func() { _ = cmd.Process.Kill() })
	defer stop()
	_ = statusW.Close()
	_ = specR.Close()
	_ = outW.Close()
	// The description may be larger than a pipe; the reader reads it all before it says anything.
	werr := json.NewEncoder(specW).Encode(spec)
	_ = specW.Close()
	fault, err := io.ReadAll(statusR)
	if err == nil {
		err = werr
	}
	if err == nil && len(fault) == 0 {
		return outR, nil
	}
	_ = cmd.Process.Kill()
	said, _ := io.ReadAll(io.LimitReader(outR, 1024)) // a crash of the helper itself shows here
	_ = cmd.Wait()
	_ = outR.Close()
	_ = proc.pidfd.Close()
	if len(fault) > 0 {
		err = errors.New(string(fault))
	}
	return nil, fmt.Errorf("%w%s", err, strings.TrimSpace(" "+string(said)))
}

// reap pumps the output into the log and waits for the end.
func (proc *process) reap(output *os.File, p *pod) {
	defer close(proc.exited)
	if err := proc.log.pump(output); err != nil {
		p.log.Warn("output of a container lost", "err", err)
		_, _ = io.Copy(io.Discard, output) // a full pipe would stop the program
	}
	_ = output.Close()
	if err := proc.cmd.Wait(); proc.cmd.ProcessState == nil {
		p.log.Warn("container not waited for", "err", err)
		proc.code = 255
	} else {
		proc.code = exitCode(proc.cmd.ProcessState)
	}
	_ = proc.pidfd.Close()
	proc.log.close()
}

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// signal sends sig to the container's first process. It is no error when that is gone.
func (proc *process) signal(sig syscall.Signal) error {
	// Like every first process of a pid namespace it never sees a signal it has no handler for. Waiting for it to
	// react would only waste the grace period.
	if sig == syscall.SIGTERM && deaf(proc.cmd.Process.Pid, sig) {
		sig = syscall.SIGKILL
	}
	if err := proc.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// deaf says whether the process neither catches nor blocks the signal.
func deaf(pid int, sig syscall.Signal) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		name, mask, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "SigCgt" && name != "SigBlk" {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if err != nil || bits&(1<<(uint(sig)-1)) != 0 {
			return false
		}
	}
	return true
}

// stop ends the container, by force when the grace is over, and waits for it.
func (proc *process) stop(grace time.Duration) error {
	if err := proc.signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-proc.exited:
		return nil
	case <-timer.C:
	}
	if err := proc.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-proc.exited
	return nil
}

// joinGrace is how long argosy-podinit gets to end a command that nobody waits for any more.
const joinGrace = 2 * time.Second

// join runs a command in the container and returns its exit code.
func (proc *process) join(ctx context.Context, helper string, p container.Process, stdio [3]*os.File, tty bool) (int, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, helper, "exec")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends the command
	cmd.WaitDelay = joinGrace
	cmd.Env = []string{}
	// A nil file would not be a nil reader.
	if f := stdio[0]; f != nil {
		cmd.Stdin = f
	}
	if f := stdio[1]; f != nil {
		cmd.Stdout = f
	}
	if f := stdio[2]; f != nil {
		cmd.Stderr = f
	}
	cmd.ExtraFiles = []*os.File{r, proc.pidfd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: tty}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return 0, err
	}
	werr := json.NewEncoder(w).Encode(p)
	_ = w.Close()
	if err := cmd.Wait(); cmd.ProcessState == nil {
		return 0, errors.Join(err, werr)
	}
	return exitCode(cmd.ProcessState), ctx.Err()
}
