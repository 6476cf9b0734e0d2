package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/argosy-ml/argosy/cluster/podholder"
)

// streams are a command's input and output as whoever runs it holds them; what
// is nil is not connected.
type streams struct {
	in          io.Reader
	out, errOut io.Writer
	tty         bool // the command runs on a terminal of its own: all output comes through out
	resize      <-chan remotecommand.TerminalSize
	// drain is how long output is waited for when the command has ended: what it left running in the background may hold its
	// streams open. 0 waits as long as the context lives.
	drain time.Duration
}

// exec runs a command in a running container, as its user and in its
// environment, and returns the command's exit code. When the context ends, the
// command is ended.
func (p *pod) exec(ctx context.Context, container string, command []string, s streams) (int, error) {
	proc, err := p.process(container)
	if err != nil {
		return 0, err
	}
	if s.tty {
		return proc.execTTY(ctx, command, s)
	}
	return proc.execPipes(ctx, command, s)
}

// executor runs commands in the containers of a pod for clients of the apiserver.
type executor struct{ pod *pod }

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
	if sig, kill := argoKill(command); kill && e.pod.argo != nil {
		return e.pod.kill(container, sig, out)
	}
	s := streams{in: in, tty: tty, resize: resize}
	// A nil interface of one kind is not a nil interface of another.
	if out != nil {
		s.out = out
	}
	if errOut != nil {
		s.errOut = errOut
	}
	code, err := e.pod.exec(ctx, container, command, s)
	if err == nil && code != 0 {
		err = utilexec.CodeExitError{Err: fmt.Errorf("command exited with code %d", code), Code: code}
	}
	return err
}

// argoKill recognizes how Argo's controller stops a container: it runs
// `argoexec kill SIGNAL 1` in it. Starting that large program only to send a
// signal takes longer than everything else.
func argoKill(command []string) (syscall.Signal, bool) {
	if len(command) != 4 || path.Base(command[0]) != "argoexec" || command[1] != "kill" || command[3] != "1" {
		return 0, false
	}
	n, err := strconv.Atoi(command[2])
	return syscall.Signal(n), err == nil && n > 0 && n < 65
}

// kill sends the signal that Argo asks for.
func (p *pod) kill(container string, sig syscall.Signal, out io.Writer) error {
	if p.plays(container) || container == argoWait && sig == syscall.SIGTERM {
		// It ends with the main container, which is told too. The controller sends this as soon as the main container has ended,
		// and the first process of a container that has not begun to listen would die of it and report nothing.
		return nil
	}
	proc, err := p.process(container)
	if err != nil {
		return err
	}
	if out != nil {
		if _, err := fmt.Fprintf(out, "killing 1 with %v\n", sig); err != nil {
			return err
		}
	}
	return proc.signal(sig, false)
}

// execPipes runs a command between pipes.
func (proc *process) execPipes(ctx context.Context, command []string, s streams) (int, error) {
	var all []*os.File
	defer func() {
		for _, f := range all {
			_ = f.Close() // once more for some
		}
	}()
	pipe := func(wanted bool) (r, w *os.File, err error) {
		if !wanted {
			return nil, nil, nil
		}
		r, w, err = os.Pipe()
		all = append(all, r, w)
		return r, w, err
	}
	inR, inW, err1 := pipe(s.in != nil)
	outR, outW, err2 := pipe(s.out != nil)
	errR, errW, err3 := pipe(s.errOut != nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, err
	}
	if s.in != nil {
		// Nobody waits for this one: it may be blocked in a read that ends only with the connection, which ends when we return.
		go func() {
			_, _ = io.Copy(inW, s.in)
			_ = inW.Close()
		}()
	}
	var copies sync.WaitGroup
	if s.out != nil {
		copies.Go(func() { _, _ = io.Copy(s.out, outR) })
	}
	if s.errOut != nil {
		copies.Go(func() { _, _ = io.Copy(s.errOut, errR) })
	}
	stop := context.AfterFunc(ctx, func() {
		_ = outR.Close() // also where it is nil
		_ = errR.Close()
	})
	defer stop()
	code, err := proc.holder.Exec(ctx, proc.name, command, podholder.Stdio{In: inR, Out: outW, Err: errW})
	for _, f := range []*os.File{outW, errW} {
		_ = f.Close()
	}
	if s.drain > 0 {
		for _, f := range []*os.File{outR, errR} {
			_ = f.SetReadDeadline(time.Now().Add(s.drain))
		}
	}
	copies.Wait()
	return code, err
}

// execTTY runs a command on a terminal of its own.
func (proc *process) execTTY(ctx context.Context, command []string, s streams) (int, error) {
	var copied sync.WaitGroup
	stop := make(chan struct{})
	defer close(stop)
	code, err := proc.holder.ExecTerminal(ctx, proc.name, command, func(terminal *os.File) {
		// Like the input, this ends at the latest with the connection.
		go resizeTerminal(terminal, s.resize, stop)
		if s.in != nil {
			go func() { _, _ = io.Copy(terminal, s.in) }()
		}
		copied.Go(func() {
			defer terminal.Close()
			stop := context.AfterFunc(ctx, func() { _ = terminal.Close() }) // it may have users that the command left behind
			defer stop()
			if s.out != nil {
				_, _ = io.Copy(s.out, terminal) // ends with EIO when the last user of the terminal is gone
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
