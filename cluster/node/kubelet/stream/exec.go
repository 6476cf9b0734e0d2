package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/logs"
	"github.com/argosy-ml/argosy/cluster/runtime/pipe"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// Streams are a command's input and output. A nil stream is not connected.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	TTY      bool // the command runs on a terminal of its own: all output comes through Out
	Resize   <-chan remotecommand.TerminalSize
	// Drain is how long to wait for output when the command has ended, because processes in the background may hold its streams open. 0
	// waits as long as the context lives.
	Drain time.Duration
}

// Container is a running container.
type Container struct {
	Name   string
	Holder *shim.Holder
	Log    podlog.Life // of its output
}

// Pod is a pod whose containers run.
type Pod interface {
	// Container returns a running container, or an error.
	Container(name string) (Container, error)
	// Kill carries out a command of Argo's that sends a signal. It returns false for other commands.
	Kill(container string, command []string, out io.Writer) (done bool, err error)
	// Network opens the pod's network namespace for a client's connection.
	Network() (*os.File, error)
	Running() bool
}

// Exec runs a command in a running container, as its user and in its environment, and returns the command's exit code. When the context
// ends, the command is ended.
func (c Container) Exec(ctx context.Context, command []string, s Streams) (int, error) {
	if s.TTY {
		return c.execTTY(ctx, command, s)
	}
	return c.execPipes(ctx, command, s)
}

// executor runs commands in the containers of a pod for clients of the apiserver.
type executor struct {
	pod     Pod // nil if it does not run
	watcher *logs.Watcher
}

// ExecInContainer runs a command in a container and copies its input and output.
func (e *executor) ExecInContainer(ctx context.Context, _ string, _ types.UID, container string, command []string,
	in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, timeout time.Duration,
) error {
	if e.pod == nil {
		return errors.New("the pod does not run")
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if done, err := e.pod.Kill(container, command, out); done {
		return err
	}
	s := Streams{In: in, TTY: tty, Resize: resize}
	// A nil interface of one kind is not a nil interface of another.
	if out != nil {
		s.Out = out
	}
	if errOut != nil {
		s.Err = errOut
	}
	c, err := e.pod.Container(container)
	if err != nil {
		return err
	}
	code, err := c.Exec(ctx, command, s)
	if err == nil && code != 0 {
		err = utilexec.CodeExitError{Err: fmt.Errorf("command exited with code %d", code), Code: code}
	}
	return err
}

// execPipes runs a command between pipes.
func (c Container) execPipes(ctx context.Context, command []string, s Streams) (int, error) {
	var all []*os.File
	defer func() {
		for _, f := range all {
			_ = f.Close() // once more for some
		}
	}()
	open := func(wanted bool) (r, w *os.File, err error) {
		if !wanted {
			return nil, nil, nil
		}
		r, w, err = os.Pipe()
		all = append(all, r, w)
		return r, w, err
	}
	inR, inW, err1 := open(s.In != nil)
	outR, outW, err2 := open(s.Out != nil)
	errR, errW, err3 := open(s.Err != nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, err
	}
	if s.In != nil {
		// Nothing waits for this one, which may be blocked in a read that ends only with the connection, which ends when we return.
		go func() {
			_, _ = io.Copy(inW, s.In)
			_ = inW.Close()
		}()
	}
	var copies sync.WaitGroup
	if s.Out != nil {
		copies.Go(func() { _, _ = io.Copy(s.Out, pipe.New(outR)) })
	}
	if s.Err != nil {
		copies.Go(func() { _, _ = io.Copy(s.Err, pipe.New(errR)) })
	}
	stop := context.AfterFunc(ctx, func() {
		_ = outR.Close() // also where it is nil
		_ = errR.Close()
	})
	defer stop()
	code, err := c.Holder.Exec(ctx, c.Name, command, shim.Stdio{In: inR, Out: outW, Err: errW})
	for _, f := range []*os.File{outW, errW} {
		_ = f.Close()
	}
	if s.Drain > 0 {
		for _, f := range []*os.File{outR, errR} {
			_ = f.SetReadDeadline(time.Now().Add(s.Drain))
		}
	}
	copies.Wait()
	return code, err
}

// execTTY runs a command on a terminal of its own.
func (c Container) execTTY(ctx context.Context, command []string, s Streams) (int, error) {
	var copied sync.WaitGroup
	stop := make(chan struct{})
	defer close(stop)
	code, err := c.Holder.ExecTerminal(ctx, c.Name, command, func(terminal *os.File) {
		// Like the input, this ends at the latest with the connection.
		go resizeTerminal(terminal, s.Resize, stop)
		if s.In != nil {
			go func() { _, _ = io.Copy(terminal, s.In) }()
		}
		copied.Go(func() {
			defer terminal.Close()
			stop := context.AfterFunc(ctx, func() { _ = terminal.Close() }) // it may have users that the command left behind
			defer stop()
			if s.Out != nil {
				_, _ = io.Copy(s.Out, terminal) // ends with EIO when the last user of the terminal is gone
			}
		})
	})
	copied.Wait()
	return code, err
}

// resizeTerminal gives the terminal its sizes until there are no more or stop is closed.
func resizeTerminal(terminal *os.File, sizes <-chan remotecommand.TerminalSize, stop <-chan struct{}) {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return
	}
	for {
		select {
		case <-stop:
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			_ = raw.Control(func(fd uintptr) { // the terminal may be gone
				_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
			})
		}
	}
}
