#!/usr/bin/env bash
# Runs a script as root on a Linux kernel of its own, with control groups of version 2, whatever the machine's kernel has:
#   vm.sh SCRIPT FILE...   the virtual machine holds busybox, the FILEs in /, and the kernel modules overlay, tun and veth
#   vm.sh fetch            fetches the kernel and busybox, and runs nothing
# The processor is QEMU's own, not the machine's, so that it does the same everywhere. Kernel and busybox are Debian's, taken out of
# their packages into .build: they are not installed, because a kernel would change how the machine starts.
# Exits with what SCRIPT exited with, 124 when it did not come to its end within VM_LIMIT seconds (600), and 125 when there can be no such
# machine here.
set -euo pipefail
kernel=$(realpath -m "$(dirname "$0")/../../../.build/kernel")

unable() {
	echo "vm.sh: $*" >&2
	exit 125
}

# download fetches the packages' files into the current folder. Arguments are options of apt.
download() {
	local image
	image=$(apt-cache "$@" depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p') &&
		[ -n "$image" ] && apt-get -qq "$@" download "$image" busybox-static
} 2>/dev/null

fetch() {
	[ ! -e "$kernel/vmlinuz" ] || return 0
	command -v apt-get >/dev/null || unable "the kernel is Debian's, and this system has no apt-get to fetch it with"
	echo "fetching Debian's kernel for a virtual machine" >&2
	local new=$kernel.new
	rm -rf "$kernel" "$new"
	mkdir -p "$new/lists/partial" "$new/files" "$new/kernel/modules"
	cd "$new"
	# The system's lists of packages may be missing or old, and new ones of our own take no root.
	local sandbox=APT::Sandbox::User=root
	local own=(-o $sandbox -o "Dir::State::lists=$new/lists" -o "Dir::Cache=$new")
	download -o $sandbox || { apt-get -qq "${own[@]}" update 2>/dev/null && download "${own[@]}"; } ||
		unable "apt-get cannot fetch Debian's packages linux-image-cloud-amd64 and busybox-static"
	dpkg-deb --fsys-tarfile busybox-static_*.deb | tar -C files -x --wildcards '*/bin/busybox'
	dpkg-deb --fsys-tarfile linux-image-*.deb | tar -C files -x --wildcards '*/vmlinuz-*' '*/overlay.ko*' '*/tun.ko*' '*/veth.ko*'
	find files -name '*.ko*' -exec mv -t kernel/modules {} +
	find files -name busybox -exec mv {} kernel/busybox \;
	find files -name 'vmlinuz-*' -exec mv {} kernel/vmlinuz \;
	mv kernel "$kernel"
	rm -rf "$new"
}

[ "$(uname -m)" = x86_64 ] || unable "the kernel that is fetched is for x86_64, and this machine is $(uname -m)"
(fetch)
[ "$1" != fetch ] || exit 0
command -v qemu-system-x86_64 >/dev/null || unable "there is no qemu-system-x86_64: apt-get install --no-install-recommends qemu-system-x86"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{bin,dev,etc,proc,sys,run,tmp}
cp "$kernel/busybox" "$root/bin/"
cp -r "$kernel/modules" "$root/"
cp "$1" "$root/script"
shift
cp -L "$@" "$root/"
printf 'root:x:0:0::/run:/bin/sh\nann:x:1000:1000::/run:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nann:x:1000:\n' >"$root/etc/group"
cat >"$root/init" <<'GUEST'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=1777 run /run
for module in /modules/*; do insmod "$module"; done
ip link set lo up
dmesg -n 1 # nothing of the kernel between the lines of the script
sh /script </dev/null
echo "vm: exit $?"
poweroff -f
GUEST
chmod 755 "$root/init"
(cd "$root" && find . | "$kernel/busybox" cpio -o -H newc -R 0:0 2>/dev/null) >"$work/initrd"

limit=${VM_LIMIT:-600}
timeout -k 5 "$limit" qemu-system-x86_64 -machine pc -accel tcg -cpu Nehalem -smp 1 -m 512M -nodefaults -display none -no-reboot -serial stdio \
	-kernel "$kernel/vmlinuz" -initrd "$work/initrd" -append 'console=ttyS0 panic=-1 mitigations=off' </dev/null 2>&1 |
	tr -d '\r' | tee "$work/log" || true
code=$(sed -n 's/^vm: exit \([0-9]*\)$/\1/p' "$work/log" | tail -1)
if [ -z "$code" ]; then
	echo "vm.sh: the script did not come to its end (it has $limit s); printed last: $(grep -v 'terminating on signal' "$work/log" | tail -1)" >&2
	code=124
fi
exit "$code"
