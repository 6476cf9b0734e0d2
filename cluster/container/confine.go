package container

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kept are the capabilities of a container that is not privileged: those that
// container engines leave by default, and the few that training programs ask
// for (pinned memory, scheduling, process_vm_readv between ranks).
var kept = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID,
	unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW, unix.CAP_SYS_CHROOT, unix.CAP_MKNOD, unix.CAP_AUDIT_WRITE, unix.CAP_SETFCAP,
	unix.CAP_IPC_LOCK, unix.CAP_SYS_NICE, unix.CAP_SYS_PTRACE,
}

// dropCapabilities bounds what any program run from this thread can get.
func dropCapabilities() error {
	for c := uintptr(0); ; c++ {
		if slices.Contains(kept, c) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) { // past the last one this kernel knows
			return nil
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
}

// fakeOwners installs a filter that answers 0 to every call that changes owners
// or groups: with one user id to hand out, none of them could do anything.
func fakeOwners() error {
	const (
		loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jumpEq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ret      = unix.BPF_RET | unix.BPF_K
		offNR    = 0
		offArch  = 4
	)
	n := len(ownerCalls)
	filter := []unix.SockFilter{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: auditArch, Jt: 0, Jf: uint8(n + 1)},
		{Code: loadWord, K: offNR},
	}
	for i, nr := range ownerCalls {
		filter = append(filter, unix.SockFilter{Code: jumpEq, K: uint32(nr), Jt: uint8(n - i), Jf: 0})
	}
	filter = append(filter,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO})
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("install the filter for owners: %w", err)
	}
	return nil
}
