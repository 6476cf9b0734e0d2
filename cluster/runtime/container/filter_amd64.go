package container

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

var ownerCalls = []uintptr{unix.SYS_SETGROUPS, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT}

// oldCalls are those that only this machine has, for what is old or belongs to its hardware.
var oldCalls = []uintptr{
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
}

// addKey32 is the number of add_key for programs of 32 bits. Those of request_key and keyctl follow.
const addKey32 = 286

// openByHandle32 is the number of open_by_handle_at among the calls of 32 bits.
const openByHandle32 = 342
