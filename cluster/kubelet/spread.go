package kubelet

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// makeHalls makes the folders in which those of pods and berths lie.
func (k *Kubelet) makeHalls() error {
	for _, dir := range []string{k.podsDir(), k.berthsDir()} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return err
		}
		if err := spread(dir); err != nil {
			k.log.Warn("pods may start slower", "folder", dir, "err", err)
		}
	}
	return nil
}

// topDir is the attribute T of chattr(1), FS_TOPDIR_FL of <linux/fs.h>: what lies in the folder has nothing to do with each other.
const topDir = 0x00020000

// spread has ext4 put the folders below dir far from each other. It keeps what lies in one folder together and looks for a free inode
// there; without a journal it passes by those that were deleted in the last minutes, one after the other, and the more pods have come
// and gone, the longer that takes. Other file systems have nothing of that, and do not know the attribute.
func spread(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topDir == 0 {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(flags|topDir))
	}
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
