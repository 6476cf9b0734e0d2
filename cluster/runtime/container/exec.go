package container

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/net/descriptor"
)

// Exec is argosy-podinit's `exec COMMAND...`: it joins the container whose first
// process stands at PidFD, runs the command there with the surroundings of the
// container's own, and returns the command's exit code. What keeps the command
// from being run is written to the status descriptor.
func Exec(command []string) int {
	if err := descriptor.KeepToSelf(); err != nil { // what the holder gave to this program is not for the command
		return ExitNotStarted
	}
	// The shim sends this signal when the command has no reader any more. From the first moment on: without a handler the
	// signal would end this process, and not the command.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	pid, err := startIn(command)
	if err != nil {
		_, _ = syscall.Write(StatusFD, []byte(err.Error()))
		return ExitNotStarted
	}
	if err := syscall.Close(StatusFD); err != nil {
		return ExitNotStarted
	}
	go func() {
		<-told
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may have ended by itself
	}()
	ws, err := wait(pid)
	if err != nil {
		return ExitNotStarted
	}
	return exitCode(ws)
}

// startIn starts the command in the container. The container's processes see the command's process from its first moment, but never this
// one: only children of this thread enter the container's process namespace. So this thread drops every right that the container lacks
// before it forks that child.
func startIn(command []string) (pid int, err error) {
	spec, err := readSpec()
	if err != nil {
		return 0, err
	}
	p := &spec.Process
	p.Args, p.SelfExec = command, false
	files, err := openFiles()
	if err != nil {
		return 0, err
	}
	if err := dieFirst(); err != nil {
		return 0, err
	}
	// A thread that shares its root folder with others may not change mount namespaces.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return 0, err
	}
	const all = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if err := unix.Setns(PidFD, all); err != nil {
		return 0, fmt.Errorf("join the container: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return 0, err
	}
	terminal, err := takeTerminal()
	if err != nil {
		return 0, err
	}
	path, err := p.enter()
	if err != nil {
		return 0, err
	}
	if err := p.giveUp(); err != nil {
		return 0, err
	}
	return startCopy(path, p.Args, p.Env, terminal, files)
}

// giveUp leaves this thread with what the command is to have, and nothing else.
func (p *Process) giveUp() error {
	if p.User != nil {
		if err := p.User.giveOutput(); err != nil {
			return err
		}
		if err := p.User.become(); err != nil {
			return err
		}
	}
	if p.limited() {
		if err := limitCapabilities(p.Capabilities); err != nil {
			return err
		}
	}
	// Last: a change of the user resets it. The copy of this thread has it too, and the command does not. It keeps processes of the
	// container out of the copy, whatever user they run as.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep others from looking into this process: %w", err)
	}
	return nil
}

// become changes the user of this thread, and of no other: those stay able to end the command. Package syscall changes all threads.
func (u *User) become() error {
	groups := u.Groups
	if len(groups) == 0 {
		groups = []uint32{0}
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(u.Groups)), uintptr(unsafe.Pointer(&groups[0])), 0); errno != 0 {
		return fmt.Errorf("set groups: %w", errno)
	}
	gid, uid := uintptr(*u.GID), uintptr(u.UID)
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
		return fmt.Errorf("run as group %d: %w", gid, errno)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
		return fmt.Errorf("run as user %d: %w", uid, errno)
	}
	return nil
}

func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
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
