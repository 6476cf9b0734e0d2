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

// pause is the process that holds the namespaces which the pod's containers share.
type pause struct {
	cmd    *exec.Cmd
	ownNet bool
}

// startNetwork starts the holder of the pod's namespaces and gives the pod its address and names.
func (p *pod) startNetwork() error {
	host := p.obj.Spec.HostNetwork
	p.addr = gatewayAddr
	if !host {
		addr, err := p.k.addresses.Take()
		if err != nil {
			return err
		}
		p.addr = addr
	}
	// Names are known before anything listens: a peer that is early is refused and tries again, but one that cannot
	// resolve a name gives up.
	p.k.hosts.add(p)
	ps, err := startPause(p.k.helper("argosy-podinit"), hostnameOf(p.obj), !host)
	if err != nil {
		return fmt.Errorf("start the pod's namespaces: %w", err)
	}
	p.pause = ps
	if host {
		return nil
	}
	ns, err := ps.namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	return attach(ns, p.addr)
}

func startPause(helper, hostname string, ownNet bool) (*pause, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(helper, "pause", hostname)
	cmd.Env = []string{}
	// Its own error messages go where the kubelet's go; it lives on in silence.
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{w, w} // the second is container.StatusFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	if ownNet {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	ps := &pause{cmd: cmd, ownNet: ownNet}
	ok := make([]byte, 2)
	if _, err := io.ReadFull(r, ok); err != nil {
		return nil, errors.Join(fmt.Errorf("argosy-podinit pause ended early: %w", err), ps.stop())
	}
	return ps, nil
}

func (ps *pause) namespace(kind string) (*os.File, error) {
	return os.Open(filepath.Join("/proc", strconv.Itoa(ps.cmd.Process.Pid), "ns", kind))
}

// namespaces opens what a container joins.
func (ps *pause) namespaces() ([]*os.File, error) {
	kinds := []string{"ipc", "uts"}
	if ps.ownNet {
		kinds = append(kinds, "net")
	}
	var files []*os.File
	for _, kind := range kinds {
		f, err := ps.namespace(kind)
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (ps *pause) stop() error {
	if err := ps.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = ps.cmd.Wait() // it was killed; that is no news
	return nil
}

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
	for i, f := range stdio {
		if f == nil {
			continue
		}
		switch i {
		case 0:
			cmd.Stdin = f
		case 1:
			cmd.Stdout = f
		case 2:
			cmd.Stderr = f
		}
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
