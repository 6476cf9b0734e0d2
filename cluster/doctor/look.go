package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/node"
	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

// podPath is where pods look for programs.
var podPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Look gathers the facts of this machine for a cluster in the folder.
func Look(ctx context.Context, h home.Home) Facts {
	f := Facts{
		Kernel: kernel(), Root: os.Geteuid() == 0, User: strconv.Itoa(os.Geteuid()),
		Sysctls: sysctls(), IDHelpers: have("newuidmap") && have("newgidmap"), IDRanges: node.HasIDRanges(),
		Home: string(h), MissingTools: missingTools(), Apt: have("apt-get"),
	}
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	if err := cgroup.Usable(); err != nil {
		f.NoCgroups, f.NoCgroup2, f.NoControl = err.Error(), errors.Is(err, cgroup.ErrVersion), errors.Is(err, cgroup.ErrController)
	}
	_, err := os.Stat("/run/systemd/system")
	f.Systemd = err == nil
	f.lookAtPrograms()
	f.Python = pythonInTime(ctx)
	if m, err := machine.Look("/"); err == nil {
		f.GPUs, f.MilliCPU, f.Memory = len(m.GPUs), m.MilliCPU, uint64(m.Memory)
	}
	if free, err := machine.FreeMemory(); err == nil {
		f.FreeMemory = min(uint64(free), f.Memory)
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		f.OpenFiles = files.Max
	}
	if refused := (*Refused)(nil); errors.As(Namespaces(ctx), &refused) {
		f.Namespaces = refused.Finding.Says
	}
	if err := f.lookAtFolder(ctx, h); err != nil {
		f.Folder = fmt.Sprintf("%s cannot be the data folder: %v", h, err)
	}
	return f
}

// lookAtFolder looks at the folder, or at what it would be made in, and tries there what pods will do.
func (f *Facts) lookAtFolder(ctx context.Context, h home.Home) error {
	if err := h.Check(); err != nil {
		return err
	}
	at := string(h)
	for {
		if st, err := os.Stat(at); err == nil && st.IsDir() {
			break
		} else if err == nil {
			return fmt.Errorf("%s is not a folder", at)
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		at = filepath.Dir(at)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(at, &fs); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	f.FreeDisk, f.HomeType = fs.Bavail*uint64(fs.Bsize), fileSystem(fs.Type)
	scratch, err := os.MkdirTemp(at, ".argosy-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // it is empty
	if f.Namespaces == "" {
		f.Overlay = tryOverlays(ctx, scratch)
	}
	return nil
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Machine[:])
}

// sysctls are the kernel settings that checks look at, those that this kernel has.
func sysctls() map[string]string {
	values := map[string]string{}
	for _, name := range []string{
		"kernel.unprivileged_userns_clone", "kernel.apparmor_restrict_unprivileged_userns", "user.max_user_namespaces",
		"fs.inotify.max_user_instances", "fs.inotify.max_user_watches",
	} {
		if b, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/")); err == nil {
			values[name] = strings.TrimSpace(string(b))
		}
	}
	return values
}

func have(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func missingTools() (missing []Tool) {
next:
	for _, t := range tools {
		for _, dir := range podPath {
			if unix.Access(filepath.Join(dir, t.Name), unix.X_OK) == nil {
				continue next
			}
		}
		missing = append(missing, t)
	}
	return missing
}

// fileSystem names the file systems that matter; others are "local".
func fileSystem(magic int64) string {
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
		unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2",
		unix.V9FS_MAGIC: "9p", unix.CEPH_SUPER_MAGIC: "ceph", unix.FUSE_SUPER_MAGIC: "fuse", 0x0BD00BD0: "lustre", 0x2FC12FC1: "zfs",
	}
	if name, known := names[magic]; known {
		return name
	}
	return "local"
}
