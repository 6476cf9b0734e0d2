package container

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

var ownerCalls = []uintptr{unix.SYS_SETGROUPS, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT}

// oldCalls are those that only this machine has, for what is old or belongs to its hardware.
var oldCalls = []uintptr{
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
}
