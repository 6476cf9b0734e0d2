package container

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fakeOwners installs a filter that answers 0 to every call that changes owners
// or groups: with one user id to hand out, none of them could do anything.
func fakeOwners() error {
	if err := answerCalls(ownerCalls, 0, unix.SECCOMP_RET_ALLOW); err != nil {
		return fmt.Errorf("install the filter for owners: %w", err)
	}
	return nil
}

// guardKernel installs the filter of the seccomp profile RuntimeDefault: the calls that container engines refuse by default. Of these
// the documentation of Docker's profile has a list with reasons. Those with the capability for a call may make it.
func guardKernel(capabilities []uintptr) error {
	calls := slices.Concat(refusedCalls, oldCalls)
	for _, c := range callsOfCapability {
		if !slices.Contains(capabilities, uintptr(slices.Index(capabilityNames, c.name))) {
			calls = append(calls, c.calls...)
		}
	}
	err := answerCalls(calls, unix.EPERM, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS))
	if err == nil && !slices.Contains(capabilities, uintptr(slices.Index(capabilityNames, "SYS_ADMIN"))) {
		// It takes its flags from memory, where a filter cannot look: the C library then takes clone, where it can.
		if err = answerCalls([]uintptr{unix.SYS_CLONE3}, unix.ENOSYS, unix.SECCOMP_RET_ALLOW); err == nil {
			err = refuseNamespaces()
		}
	}
	if err != nil {
		return fmt.Errorf("install the seccomp filter: %w", err)
	}
	return nil
}

// refusedCalls are refused whatever capabilities there are, and so are oldCalls. No map is made of such lists, nor one list of two: that
// would be done at the start of each of this program's processes.
var refusedCalls = []uintptr{
	unix.SYS_KEXEC_LOAD, unix.SYS_NFSSERVCTL, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // the way into the kernel most often abused
}

// callsOfCapability are refused without the capability.
var callsOfCapability = []struct {
	name  string
	calls []uintptr
}{
	{"SYS_ADMIN", []uintptr{
		unix.SYS_BPF, unix.SYS_FANOTIFY_INIT, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK, unix.SYS_LOOKUP_DCOOKIE,
		unix.SYS_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PIVOT_ROOT, unix.SYS_QUOTACTL,
		unix.SYS_QUOTACTL_FD, unix.SYS_SETDOMAINNAME, unix.SYS_SETHOSTNAME, unix.SYS_SETNS, unix.SYS_SWAPOFF, unix.SYS_SWAPON, unix.SYS_SYSLOG, unix.SYS_UMOUNT2, unix.SYS_UNSHARE,
	}},
	{"DAC_READ_SEARCH", []uintptr{unix.SYS_OPEN_BY_HANDLE_AT}},
	{"SYS_BOOT", []uintptr{unix.SYS_REBOOT}},
	{"SYS_MODULE", []uintptr{unix.SYS_DELETE_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_INIT_MODULE}},
	{"SYS_PACCT", []uintptr{unix.SYS_ACCT}},
	{"SYS_TIME", []uintptr{unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY}},
	{"SYS_TTY_CONFIG", []uintptr{unix.SYS_VHANGUP}},
}

// Pieces of a filter's program, see seccomp(2).
const (
	loadWord  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	jumpEq    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpSet   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	jumpLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	clearBits = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	ret       = unix.BPF_RET | unix.BPF_K
	otherKind = 0x40000000 // from here on, numbers of amd64 mean the calls of its kind with short pointers
	offNR     = 0
	offArch   = 4
	offArg0   = 16 // its lower half: both machines are little-endian
	offArg1   = 24
)

// answerCalls installs a filter that answers the calls with an error, or with success where that is 0. Calls of another machine's
// kind, such as those of 32 bits, have other numbers: all of them are answered with others.
func answerCalls(calls []uintptr, errno unix.Errno, others uint32) error {
	n := len(calls)
	filter := []unix.SockFilter{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: auditArch, Jt: 1, Jf: 0},
		{Code: ret, K: others},
		{Code: loadWord, K: offNR},
		{Code: jumpLeast, K: otherKind, Jt: 0, Jf: 1},
		{Code: ret, K: others},
	}
	for i, nr := range calls {
		filter = append(filter, unix.SockFilter{Code: jumpEq, K: uint32(nr), Jt: uint8(n - i), Jf: 0})
	}
	return install(append(filter,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}))
}

// refuseNamespaces installs a filter that refuses clone with flags for new namespaces.
func refuseNamespaces() error {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return install([]unix.SockFilter{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: auditArch, Jt: 0, Jf: 4},
		{Code: loadWord, K: offNR},
		{Code: jumpEq, K: unix.SYS_CLONE, Jt: 0, Jf: 2},
		{Code: loadWord, K: offArg0},
		{Code: jumpSet, K: namespaces, Jt: 1, Jf: 0},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
	})
}

// refuseKernelLog installs a filter that refuses syslog(2), with which many machines let everybody read what the kernel said. There is one
// log for the machine, and no namespace for it.
func refuseKernelLog() error {
	const elsewhere = 103 // its number on both 32-bit machines whose programs these run
	err := install([]unix.SockFilter{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: auditArch, Jt: 0, Jf: 4},
		{Code: loadWord, K: offNR},
		{Code: jumpEq, K: unix.SYS_SYSLOG, Jt: 4, Jf: 0},
		{Code: jumpEq, K: otherKind | unix.SYS_SYSLOG, Jt: 3, Jf: 0},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: loadWord, K: offNR},
		{Code: jumpEq, K: elsewhere, Jt: 0, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		return fmt.Errorf("install the filter for the kernel's log: %w", err)
	}
	return nil
}

// refuseOthersNamespaces installs a filter that refuses two ways to open a namespace without a file that leads to it: by a handle, whose
// numbers can be guessed (Linux 6.18), and from one mount namespace to the next (Linux 6.12). The kernel asks for CAP_SYS_ADMIN in the user
// namespace that owns them, which all pods share with the kubelet.
func refuseOthersNamespaces() error {
	const (
		command         = 0xffff                     // type and number in a command of ioctl; beside them stands a size that may vary
		nextNS, priorNS = 0xb7<<8 | 11, 0xb7<<8 | 12 // NS_MNT_GET_NEXT and NS_MNT_GET_PREV of <linux/nsfs.h>
	)
	err := install([]unix.SockFilter{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: auditArch, Jt: 0, Jf: 5},
		{Code: loadWord, K: offNR},
		{Code: clearBits, K: ^uint32(otherKind)},
		{Code: jumpEq, K: unix.SYS_OPEN_BY_HANDLE_AT, Jt: 11, Jf: 0},
		{Code: jumpEq, K: unix.SYS_IOCTL, Jt: 5, Jf: 0},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: loadWord, K: offNR}, // of 32 bits
		{Code: jumpEq, K: openByHandle32, Jt: 7, Jf: 0},
		{Code: jumpEq, K: ioctl32, Jt: 1, Jf: 0},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: loadWord, K: offArg1},
		{Code: clearBits, K: command},
		{Code: jumpEq, K: nextNS, Jt: 2, Jf: 0},
		{Code: jumpEq, K: priorNS, Jt: 1, Jf: 0},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
	})
	if err != nil {
		return fmt.Errorf("install the filter for namespaces: %w", err)
	}
	return nil
}

// ioctl32 is the number of ioctl on both 32-bit machines whose programs these run.
const ioctl32 = 54

// refuseKeys installs a filter that refuses all calls about keys of the kernel, those in numbers of another kind too.
func refuseKeys() error {
	err := install([]unix.SockFilter{
		{Code: loadWord, K: offArch},
		{Code: jumpEq, K: auditArch, Jt: 5, Jf: 0},
		{Code: loadWord, K: offNR}, // of 32 bits
		{Code: jumpEq, K: addKey32, Jt: 8, Jf: 0},
		{Code: jumpEq, K: addKey32 + 1, Jt: 7, Jf: 0},
		{Code: jumpEq, K: addKey32 + 2, Jt: 6, Jf: 0},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: loadWord, K: offNR},
		{Code: clearBits, K: ^uint32(otherKind)},
		{Code: jumpEq, K: unix.SYS_ADD_KEY, Jt: 2, Jf: 0},
		{Code: jumpEq, K: unix.SYS_REQUEST_KEY, Jt: 1, Jf: 0},
		{Code: jumpEq, K: unix.SYS_KEYCTL, Jt: 0, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		return fmt.Errorf("install the filter for keys: %w", err)
	}
	return nil
}

// install adds a filter. Without the flag, kernels before 5.16 slow every program down that has one.
func install(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
