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
)

// streams are a command's input and output as whoever runs it holds them; what
// is nil is not connected.
type streams struct {
	in          io.Reader
	out, errOut io.Writer
	tty         bool // the command runs on a terminal of its own: all output comes through out
	resize      <-chan remotecommand.TerminalSize
}

// exec runs a command in a running container, as its user and in its
// environment, and returns the command's exit code. When the context ends, the
// command is ended.
func (p *pod) exec(ctx context.Context, container string, command []string, s streams) (int, error) {
	proc, err := p.process(container)
	if err != nil {
		return 0, err
	}
	spec := proc.spec
	spec.Args, spec.SelfExec = command, false
	join := func(stdio [3]*os.File) (int, error) {
		return proc.join(ctx, p.k.helper("argosy-podinit"), spec, stdio, s.tty)
	}
	if s.tty {
		return execTTY(s, join)
	}
	return execPipes(s, join)
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
	if sig, kill := argoKill(command); kill {
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
	if p.plays(container) {
		return nil // it ends with the main container, which is told too
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
	return proc.signal(sig)
}

// execPipes runs a command between pipes.
func execPipes(s streams, run func([3]*os.File) (int, error)) (int, error) {
	var stdio, mine [3]*os.File
	closeAll := func(files [3]*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close()
			}
		}
	}
	for i, wanted := range []bool{s.in != nil, s.out != nil, s.errOut != nil} {
		if !wanted {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(stdio)
			closeAll(mine)
			return 0, err
		}
		if i == 0 {
			stdio[i], mine[i] = r, w
		} else {
			stdio[i], mine[i] = w, r
		}
	}
	defer closeAll(mine)
	if s.in != nil {
		// Nobody waits for this one: it may be blocked in a read that ends only with the connection, which ends when we return.
		go func() {
			_, _ = io.Copy(mine[0], s.in)
			_ = mine[0].Close()
		}()
	}
	var copies sync.WaitGroup
	if s.out != nil {
		copies.Go(func() { _, _ = io.Copy(s.out, mine[1]) })
	}
	if s.errOut != nil {
		copies.Go(func() { _, _ = io.Copy(s.errOut, mine[2]) })
	}
	code, err := run(stdio)
	closeAll(stdio)
	copies.Wait()
	return code, err
}

// execTTY runs a command on a terminal of its own.
func execTTY(s streams, run func([3]*os.File) (int, error)) (int, error) {
	master, slave, err := openTerminal()
	if err != nil {
		return 0, fmt.Errorf("open a terminal: %w", err)
	}
	defer master.Close()
	stop := make(chan struct{})
	defer close(stop)
	// Like the input, these end at the latest with the connection.
	go func() {
		for {
			select {
			case size, ok := <-s.resize:
				if !ok {
					return
				}
				_ = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
			case <-stop:
				return
			}
		}
	}()
	if s.in != nil {
		go func() { _, _ = io.Copy(master, s.in) }()
	}
	var copied sync.WaitGroup
	if s.out != nil {
		copied.Go(func() { _, _ = io.Copy(s.out, master) }) // ends with EIO when the last user of the terminal is gone
	}
	code, err := run([3]*os.File{slave, slave, slave})
	_ = slave.Close()
	copied.Wait()
	return code, err
}

func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	// Asked of the kernel and not opened by name: the name may mean another terminal in this mount namespace.
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return nil, nil, errors.Join(errno, master.Close())
	}
	return master, os.NewFile(peer, "terminal"), nil
}
