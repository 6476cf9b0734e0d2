package container

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exec is argosy-podinit's `exec COMMAND...`: it joins the container whose first
// process stands at PidFD, runs the command there with the surroundings of the
// container's own, and returns the command's exit code. What keeps the command
// from being run is written to the status descriptor.
func Exec(command []string) int {
	closeOnExec()
	// The holder says so when nobody waits for the command any more. From the first moment on: without a handler the
	// signal would end this process, and not the command.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	cmd, err := startIn(command)
	if err != nil {
		_, _ = syscall.Write(StatusFD, []byte(err.Error()))
		return ExitNotStarted
	}
	if err := syscall.Close(StatusFD); err != nil {
		return ExitNotStarted
	}
	go func() {
		<-told
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	}()
	_ = cmd.Wait() // the state says more
	return exitCode(cmd.ProcessState)
}

func startIn(command []string) (*exec.Cmd, error) {
	spec, err := readSpec()
	if err != nil {
		return nil, err
	}
	p := &spec.Process
	p.Args, p.SelfExec = command, false
	if err := dieFirst(); err != nil {
		return nil, err
	}
	// A thread that shares its root folder with others may not change mount namespaces.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return nil, err
	}
	const all = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if err := unix.Setns(PidFD, all); err != nil {
		return nil, fmt.Errorf("join the container: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return nil, err
	}
	terminal, err := takeTerminal()
	if err != nil {
		return nil, err
	}
	path, err := p.enter()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: p.Args, Env: p.Env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	// A session of its own, to be ended as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
	if p.User != nil {
		if err := p.User.giveOutput(); err != nil {
			return nil, err
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: p.User.UID, Gid: *p.User.GID, Groups: p.User.Groups}
	}
	return cmd, cmd.Start()
}

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// closeOnExec keeps what the holder gave to this program from the command.
func closeOnExec() {
	for fd := SpecFD; fd <= ConsoleFD; fd++ {
		unix.CloseOnExec(fd)
	}
}

// takeTerminal opens a terminal of the container, makes it the standard streams
// and sends its outer end out. It does nothing where no socket asks for one.
func takeTerminal() (bool, error) {
	var st unix.Stat_t
	if unix.Fstat(ConsoleFD, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return false, nil
	}
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open a terminal: /dev/ptmx: %w", err)
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return false, fmt.Errorf("unlock the terminal: %w", err)
	}
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return false, fmt.Errorf("open the terminal's inner end: %w", errno)
	}
	if err := unix.Sendmsg(ConsoleFD, []byte{0}, unix.UnixRights(master), nil, 0); err != nil {
		return false, fmt.Errorf("hand the terminal out: %w", err)
	}
	for fd := range 3 {
		if err := unix.Dup3(int(peer), fd, 0); err != nil {
			return false, err
		}
	}
	return true, errors.Join(unix.Close(master), unix.Close(int(peer)), unix.Close(ConsoleFD))
}
