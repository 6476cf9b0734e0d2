package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// Container is a life of a container in the pod.
type Container struct {
	Started time.Time // zero where the command could not be started

	conn conn
	exit *podlog.Exit
}

// Run starts a container from its Spec. It returns when the command runs, or
// cannot; either way Wait says how it ended. When the context ends before, the
// start is given up.
func (h *Holder) Run(ctx context.Context, name string, life int, cmd Command, spec any) (*Container, error) {
	file, err := memoryFile(spec)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// A set-up that hangs, on a dead network file system say, must not outlive the order to stop.
	stop := context.AfterFunc(ctx, func() { _ = h.Signal(name, syscall.SIGKILL, false) })
	defer stop()
	return h.begin(request{Op: opRun, Container: name, Life: life, Command: &cmd, Hostname: h.hostname}, file)
}

// Watch is Run for a life that was started before.
func (h *Holder) Watch(name string, life int) (*Container, error) {
	return h.begin(request{Op: opWatch, Container: name, Life: life})
}

func (h *Holder) begin(r request, files ...*os.File) (*Container, error) {
	c, answer, _, err := h.call(r, files...)
	if err != nil {
		return nil, err
	}
	return &Container{Started: answer.Started, conn: c, exit: answer.Exit}, nil
}

// call sends a request and receives the first reply to it.
func (h *Holder) call(r request, files ...*os.File) (c conn, answer reply, received []*os.File, err error) {
	if c, err = dial(h.dir); err != nil {
		return c, answer, nil, err
	}
	if err = c.send(r, files...); err == nil {
		received, err = c.receive(&answer)
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		_ = c.Close()
		closeAll(received)
	}
	return c, answer, received, err
}

// Wait returns how the container ended. An error means that this is unknown: the shim is gone, and with it the
// container. It is called once.
func (ct *Container) Wait() (podlog.Exit, error) {
	defer ct.conn.end()
	if ct.exit != nil {
		return *ct.exit, nil
	}
	var answer reply
	if _, err := ct.conn.receive(&answer); err != nil {
		return podlog.Exit{}, fmt.Errorf("the pod's holder is gone: %w", err)
	}
	if answer.Exit == nil {
		return podlog.Exit{}, errors.New(answer.Error)
	}
	return *answer.Exit, nil
}

// Signal sends a signal to a container's first process. It succeeds when that
// is gone. With orKill a process that would never see the signal is killed.
func (h *Holder) Signal(name string, sig syscall.Signal, orKill bool) error {
	c, _, _, err := h.call(request{Op: opSignal, Container: name, Signal: int(sig), OrKill: orKill})
	if err == nil {
		err = c.Close()
	}
	return err
}

// Stdio are the descriptors of a command; nil ones lead nowhere. They stay the caller's.
type Stdio struct{ In, Out, Err *os.File }

// Exec runs a command in a container and returns its exit code. When the context ends, the command is ended.
func (h *Holder) Exec(ctx context.Context, name string, args []string, stdio Stdio) (int, error) {
	return h.exec(ctx, name, args, []*os.File{stdio.In, stdio.Out, stdio.Err, nil})
}

// ExecTerminal runs a command on a terminal of its own, which is handed to use
// as soon as it is there.
func (h *Holder) ExecTerminal(ctx context.Context, name string, args []string, use func(*os.File)) (int, error) {
	console, theirs, err := newConsole()
	if err != nil {
		return 0, err
	}
	received := make(chan struct{})
	go func() {
		defer close(received)
		// When there is none, the command was not started and its error says why.
		if terminal, err := receiveTerminal(console); err == nil {
			use(terminal)
		}
	}()
	code, err := h.exec(ctx, name, args, []*os.File{nil, nil, nil, theirs})
	_ = theirs.Close()
	_ = console.Close()
	<-received
	return code, err
}

func (h *Holder) exec(ctx context.Context, name string, args []string, files []*os.File) (int, error) {
	r := request{Op: opExec, Container: name, Args: args}
	var given []*os.File
	for i, f := range files {
		if f != nil {
			r.Given[i], given = true, append(given, f)
		}
	}
	c, err := dial(h.dir)
	if err != nil {
		return 0, err
	}
	defer c.end()
	// Half a close: the holder ends the command and still says how.
	stop := context.AfterFunc(ctx, func() { _ = c.CloseWrite() })
	defer stop()
	if err := c.send(r, given...); err != nil {
		return 0, err
	}
	var answer reply
	if _, err := c.receive(&answer); err != nil {
		// The holder is gone: with the container the kernel killed the command.
		return 128 + int(syscall.SIGKILL), ctx.Err()
	}
	if answer.Error != "" {
		return 0, errors.New(answer.Error)
	}
	return answer.Code, ctx.Err()
}

// Stdin returns where the container's input, or its terminal, is written to. Closing done means that no writer is left any
// more.
func (h *Holder) Stdin(name string) (stdin *os.File, done io.Closer, err error) {
	c, _, files, err := h.call(request{Op: opStdin, Container: name})
	if err != nil {
		return nil, nil, err
	}
	if len(files) != 1 {
		closeAll(files)
		return nil, nil, errors.Join(errors.New("the pod's holder gave no stdin"), c.Close())
	}
	return files[0], c, nil
}

// memoryFile holds a message as a file without a name: a Spec may be larger than what a socket takes at once, and those
// who join the container later read it too.
func memoryFile(message any) (*os.File, error) {
	fd, err := unix.MemfdCreate("spec", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "spec")
	if err := json.NewEncoder(f).Encode(message); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
