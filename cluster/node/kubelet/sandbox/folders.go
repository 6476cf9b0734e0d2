package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// Folders in that of a pod.
const (
	Memory   = "memory" // a file system in memory, for small files that go with the pod
	Etc      = Memory + "/etc"
	Shm      = Memory + "/shm" // another one, because pods fill it
	Messages = Memory + "/messages"
)

// MakeFolders makes a pod's folder and the folders in it.
func MakeFolders(dir string) error {
	for _, d := range []string{"", shim.LogFolder, "containers", Memory} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", filepath.Join(dir, Memory), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount a file system in memory: %w", err)
	}
	for _, d := range []string{Etc, Shm, Messages} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", filepath.Join(dir, Shm), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("mount the pod's /dev/shm: %w", err)
	}
	return nil
}

// UnmountMemory unmounts the file systems in memory of a pod.
func UnmountMemory(dir string) error {
	m := filepath.Join(dir, Memory)
	if err := unix.Unmount(m, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
		return fmt.Errorf("unmount %s: %w", m, err)
	}
	return nil
}

// LimitShm bounds a pod's /dev/shm by the pod's memory limit; 0 means no limit. It was mounted before the pod was known.
func LimitShm(folder string, limit int64) error {
	if limit == 0 {
		return nil
	}
	if err := unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d", limit)); err != nil {
		return fmt.Errorf("limit the pod's /dev/shm: %w", err)
	}
	return nil
}

// UnmountBelow unmounts what an earlier kubelet mounted in a folder.
func UnmountBelow(dir string, mounts []container.MountPoint) error {
	var errs []error
	for _, m := range slices.Backward(mounts) {
		if strings.HasPrefix(m.Path, dir+"/") {
			if err := unix.Unmount(m.Path, unix.MNT_DETACH); err != nil {
				errs = append(errs, fmt.Errorf("unmount %s: %w", m.Path, err))
			}
		}
	}
	return errors.Join(errs...)
}
