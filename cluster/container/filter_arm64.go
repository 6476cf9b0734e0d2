package container

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

var ownerCalls = []uintptr{unix.SYS_SETGROUPS, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT}

var oldCalls = []uintptr{unix.SYS_KEXEC_FILE_LOAD}
