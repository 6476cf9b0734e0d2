package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// mountOwn makes the folders that every container has for itself.
func (r *root) mountOwn() error {
	for _, d := range ownFolders {
		if err := os.MkdirAll(r.in(d), 0o755); err != nil {
			return err
		}
	}
	if err := bind(r.upper("/tmp"), r.in("/tmp"), false); err != nil {
		return err
	}
	if err := r.mountKernel(); err != nil {
		return err
	}
	for _, d := range append([]string{"/run"}, r.spec.Private...) {
		if err := place(r.in(d), true); err != nil {
			return err
		}
		if err := r.mountMemory(r.in(d), unix.MS_NOSUID|unix.MS_NODEV, "0755"); err != nil {
			return fmt.Errorf("mount %s: %w", d, err)
		}
	}
	if err := os.MkdirAll(r.in("/run/sshd"), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(r.in("/run/lock"), 0o755); err != nil {
		return err
	}
	return errors.Join(os.Chmod(r.in("/run/lock"), 0o777|os.ModeSticky), r.mountDev())
}

// mountMemory mounts a file system in memory, no larger than the container's memory.
func (r *root) mountMemory(path string, flags uintptr, mode string) error {
	options := "mode=" + mode
	if r.spec.MaxInMemory > 0 {
		options += ",size=" + strconv.FormatInt(r.spec.MaxInMemory, 10)
	}
	return unix.Mount("tmpfs", path, "tmpfs", flags, options)
}

// mountKernel shows the kernel's own file systems.
func (r *root) mountKernel() error {
	if err := unix.Mount("proc", r.in("/proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if !r.spec.UnmaskedProc {
		if err := r.maskProc(); err != nil {
			return err
		}
	}
	if err := unix.Mount("sysfs", r.in("/sys"), "sysfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		if err := bind("/sys", r.in("/sys"), true); err != nil {
			return fmt.Errorf("mount /sys: %w", err)
		}
	}
	return nil
}

// Parts of /proc that belong to the machine. Where the container's root is root of the machine, a write there changes the
// machine: /proc/sys/kernel/core_pattern alone would run a program outside.
var (
	procReadOnly = []string{"bus", "fs", "irq", "sys", "sysrq-trigger"}
	procMasked   = []string{"acpi", "asound", "kcore", "keys", "latency_stats", "sched_debug", "scsi", "timer_list", "timer_stats"}
)

func (r *root) maskProc() error {
	for _, name := range procReadOnly {
		path := r.in("/proc/" + name)
		if _, err := os.Lstat(path); err != nil {
			continue // this kernel has none
		}
		if err := bind(path, path, true); err != nil {
			return fmt.Errorf("make /proc/%s read-only: %w", name, err)
		}
	}
	for _, name := range procMasked {
		path := r.in("/proc/" + name)
		fi, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if fi.IsDir() {
			err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		} else {
			err = bind("/dev/null", path, false)
		}
		if err != nil {
			return fmt.Errorf("mask /proc/%s: %w", name, err)
		}
	}
	return nil
}

var (
	plainDevices = []string{"null", "zero", "full", "random", "urandom", "tty"}
	// accelerators that the scheduler does not count are passed through when the machine has them: AMD's, InfiniBand.
	accelerators = []string{"dri", "kfd", "infiniband"}
	deviceLinks  = []struct{ name, target string }{
		{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"},
	}
)

func (r *root) mountDev() error {
	dev := r.in("/dev")
	if err := r.mountMemory(dev, unix.MS_NOSUID, "0755"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	devices := slices.Clone(r.spec.Devices)
	for _, name := range plainDevices {
		if makeDevice("/dev/"+name, filepath.Join(dev, name)) != nil {
			devices = append(devices, name)
		}
	}
	for _, name := range accelerators {
		if _, err := os.Stat("/dev/" + name); err == nil {
			devices = append(devices, name)
		}
	}
	for _, name := range devices {
		fi, err := os.Stat("/dev/" + name)
		if err == nil {
			err = place(filepath.Join(dev, name), fi.IsDir())
		}
		if err == nil {
			err = bind("/dev/"+name, filepath.Join(dev, name), false)
		}
		if err != nil {
			return fmt.Errorf("device %s: %w", name, err)
		}
	}
	for _, l := range deviceLinks {
		if err := os.Symlink(l.target, filepath.Join(dev, l.name)); err != nil {
			return err
		}
	}
	return errors.Join(r.mountPts(), r.mountShm())
}

// makeDevice makes a device like the host's, which takes privilege over the host. Elsewhere the host's own can be shown, by a mount each.
func makeDevice(like, path string) error {
	if InUserNamespace() {
		return unix.EPERM
	}
	var st unix.Stat_t
	if err := unix.Stat(like, &st); err != nil {
		return err
	}
	if err := unix.Mknod(path, st.Mode, int(st.Rdev)); err != nil {
		return err
	}
	return errors.Join(unix.Chmod(path, st.Mode&0o7777), unix.Lchown(path, int(st.Uid), int(st.Gid)))
}

func (r *root) mountPts() error {
	pts := r.in("/dev/pts")
	if err := os.Mkdir(pts, 0o755); err != nil {
		return err
	}
	err := unix.Mount("devpts", pts, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5")
	if errors.Is(err, unix.EINVAL) { // the tty group is not known in this user namespace
		err = unix.Mount("devpts", pts, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	}
	if err != nil {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	return nil
}

func (r *root) mountShm() error {
	shm := r.in("/dev/shm")
	if err := os.Mkdir(shm, 0o1777); err != nil {
		return err
	}
	if r.spec.Shm == "" {
		return r.mountMemory(shm, unix.MS_NOSUID|unix.MS_NODEV, "1777")
	}
	return bind(r.spec.Shm, shm, false)
}
