package container

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

var ownerCalls = []uintptr{unix.SYS_SETGROUPS, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT}

var oldCalls = []uintptr{unix.SYS_KEXEC_FILE_LOAD}

// addKey32 is the number of add_key for programs of 32 bits. Those of request_key and keyctl follow.
const addKey32 = 309

// openByHandle32 is the number of open_by_handle_at among the calls of 32 bits.
const openByHandle32 = 371
