package container

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// copied is a command that a copy of this thread becomes. All that the copy needs is made before it is: it may not allocate.
type copied struct {
	path      *byte
	args, env []*byte
	terminal  bool        // make the standard input the controlling terminal
	files     unix.Rlimit // of open files
	fault     int         // descriptor that takes the error number of an exec that failed
}

// startCopy starts a command in the namespaces that this thread made its children's, with this thread's capabilities, user and
// filters, in a session of its own.
//
// Package syscall starts programs otherwise: until the program begins, its child has the memory of its parent, all threads included.
// Here the child can be seen by processes of the container before it becomes the command, and those with CAP_SYS_PTRACE could
// write to that memory, and so take over the parent, which lives outside of the container's process namespace.
func startCopy(path string, args, env []string, terminal bool, files unix.Rlimit) (pid int, err error) {
	c := copied{terminal: terminal, files: files}
	var err1, err2, err3 error
	c.path, err1 = unix.BytePtrFromString(path)
	c.args, err2 = syscall.SlicePtrFromStrings(args)
	c.env, err3 = syscall.SlicePtrFromStrings(env)
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, err
	}
	var fault [2]int
	if err := unix.Pipe2(fault[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	c.fault = fault[1]
	pid, errno := c.start()
	runtime.KeepAlive(&c)
	_ = unix.Close(fault[1])
	told := os.NewFile(uintptr(fault[0]), "fault of an exec")
	defer told.Close()
	if errno != 0 {
		return 0, &os.PathError{Op: "fork", Path: path, Err: errno}
	}
	var code [unsafe.Sizeof(errno)]byte
	if n, _ := told.Read(code[:]); n == len(code) { // else it has become the command
		_, _ = wait(pid)
		return 0, &os.PathError{Op: "fork/exec", Path: path, Err: *(*syscall.Errno)(unsafe.Pointer(&code))}
	}
	return pid, nil
}

// start returns in the parent only. Its callees must not grow the stack: the copy has only this thread of the runtime.
//
//go:norace
//go:noinline
func (c *copied) start() (pid int, errno syscall.Errno) {
	beforeFork()
	n, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || n != 0 {
		afterFork()
		return int(n), errno
	}
	afterForkInChild()
	_, _, errno = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	if errno == 0 && c.terminal {
		_, _, errno = syscall.RawSyscall(unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 1)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&c.files)), 0, 0, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(c.path)), uintptr(unsafe.Pointer(&c.args[0])), uintptr(unsafe.Pointer(&c.env[0])))
	}
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(c.fault), uintptr(unsafe.Pointer(&errno)), unsafe.Sizeof(errno))
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, ExitNotStarted, 0, 0)
	}
}

// The runtime's part in a fork: no signal is handled in the copy.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// wait returns how a child ended.
func wait(pid int) (ws syscall.WaitStatus, err error) {
	for {
		if _, err = syscall.Wait4(pid, &ws, 0, nil); !errors.Is(err, syscall.EINTR) {
			return ws, err
		}
	}
}

// openFiles is the limit of open files that this program was started with. Package syscall has raised it, gives it back to programs that
// it starts, and keeps the number to itself: one of those programs is held before its first instruction and asked. Where that is
// forbidden (kernel.yama.ptrace_scope 3), it is the raised one.
func openFiles() (limit unix.Rlimit, err error) {
	cmd := &exec.Cmd{Path: "/proc/self/exe", SysProcAttr: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}}
	if cmd.Start() != nil {
		err = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
		return limit, err
	}
	err = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &limit)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return limit, err
}
