package container

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// kept are the capabilities of a container that asks for nothing else: those that container engines leave by default.
var kept = []string{
	"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "NET_BIND_SERVICE", "NET_RAW", "SYS_CHROOT", "AUDIT_WRITE",
	"SETFCAP",
}

// keptInNamespace is another one of theirs. Engines that leave it guard devices by cgroup. Here a device that root of the machine
// makes is the machine's own; in a user namespace it allows pipes and sockets, and the kernel refuses devices.
const keptInNamespace = "MKNOD"

// capabilityNames are the names of include/uapi/linux/capability.h, by number, without CAP_.
var capabilityNames = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE",
	"NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN",
	"SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE",
	"MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
}

// Capabilities are the numbers of the capabilities of a container that adds and
// drops some, each with or without CAP_ and in any case; ALL means every one.
// What is added wins, but for an added ALL.
func Capabilities(add, drop []string) ([]uintptr, error) {
	wanted := map[string]bool{}
	for _, name := range kept {
		wanted[name] = true
	}
	wanted[keptInNamespace] = InUserNamespace()
	all := func(value bool) {
		for _, name := range capabilityNames {
			wanted[name] = value
		}
	}
	normal := func(names []string) (out []string) {
		for _, n := range names {
			out = append(out, strings.TrimPrefix(strings.ToUpper(n), "CAP_"))
		}
		return out
	}
	add, drop = normal(add), normal(drop)
	if slices.Contains(add, "ALL") {
		all(true)
	}
	if slices.Contains(drop, "ALL") {
		all(false)
	}
	for i, name := range slices.Concat(drop, add) {
		if name == "ALL" {
			continue
		}
		if !slices.Contains(capabilityNames, name) {
			return nil, fmt.Errorf("invalid capability: %q", "CAP_"+name)
		}
		wanted[name] = i >= len(drop)
	}
	numbers := []uintptr{} // not nil: none is not the same as the usual ones
	for n, name := range capabilityNames {
		if wanted[name] {
			numbers = append(numbers, uintptr(n))
		}
	}
	return numbers, nil
}

// usual are the capabilities of a container that asks for nothing else, where allowed does not say otherwise.
func usual(allowed []uintptr) ([]uintptr, error) {
	if allowed != nil {
		return allowed, nil
	}
	return Capabilities(nil, nil)
}

// limited says whether the command is to have less than all capabilities.
func (p *Process) limited() bool { return !p.Privileged || p.Capabilities != nil }

// dropCapabilities bounds what any program run from this thread can get.
func dropCapabilities(allowed []uintptr) error {
	allowed, err := usual(allowed)
	if err != nil {
		return err
	}
	for c := uintptr(0); ; c++ {
		if slices.Contains(allowed, c) {
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

// limitCapabilities takes from this thread all others than those allowed.
func limitCapabilities(allowed []uintptr) error {
	allowed, err := usual(allowed)
	if err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	var mask [2]uint32
	for _, c := range allowed {
		mask[c/32] |= 1 << (c % 32)
	}
	for i := range sets {
		sets[i].Permitted &= mask[i]
		sets[i].Effective &= mask[i]
		sets[i].Inheritable = 0
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
