#!/usr/bin/env bash
# Runs a command as root on a Linux kernel of its own, user-mode Linux, with this machine's files, read-only, /run and /sys/fs/cgroup
# its own: uml.sh MEMORY COMMAND... What the machine's kernel lacks can be tested so: control groups of version 2, above all.
# Exits with what the command exited with, and with 125 when the kernel did not come so far within UML_LIMIT seconds (300).
set -euo pipefail
memory=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
	cat <<'GUEST'
#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs -o mode=1777 run /run
mkdir -p /dev/pts /dev/shm 2>/dev/null
mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
ip link set lo up
for module in fs/overlayfs/overlay drivers/net/tun drivers/net/veth; do
	python3 -c 'import ctypes, os, sys; ctypes.CDLL(None).syscall(313, os.open(sys.argv[1], 0), b"", 0)' \
		"/usr/lib/uml/modules/$(uname -r)/kernel/$module.ko" # finit_module
done 2>/dev/null
GUEST
	printf 'cd %q\n' "$PWD"
	printf '%q ' "$@"
	printf '\necho "uml: exit $?"\necho o >/proc/sysrq-trigger\nsleep 60\n'
} >"$work/init"
chmod 755 "$work" "$work/init"

TMPDIR=$work timeout -k 5 "${UML_LIMIT:-300}" linux.uml mem="$memory" root=/dev/root rootfstype=hostfs rootflags=/ ro init="$work/init" con=null con0=null,fd:1 quiet \
	</dev/null 2>&1 | tee "$work/log" || true
code=$(sed -n 's/^uml: exit \([0-9]*\).*/\1/p' "$work/log" | tail -1)
exit "${code:-125}"
