package beneath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// walkInside visits a folder that pods write to, and everything in it. Pods may replace a folder by a link at any moment, so every visited
// file is opened inside the folder.
func Walk(root *os.Root, visit fs.WalkDirFunc) error { return fs.WalkDir(root.FS(), ".", visit) }

// giveGroup gives a folder and everything in it to a group. It changes only files that it has opened, and skips those replaced in the
// meantime.
func GiveGroup(root *os.Root, gid int64, bits uint32) error {
	top, err := root.Open(".")
	if err != nil {
		return err
	}
	defer top.Close()
	return Walk(root, func(name string, _ fs.DirEntry, walkErr error) error {
		for _, err := range []error{walkErr, giveOne(top, name, gid, bits)} {
			if err != nil && !exchanged(err) {
				return fmt.Errorf("give %s in %s to group %d: %w", name, root.Name(), gid, err)
			}
		}
		return nil
	})
}

// exchanged says whether the error means that something is no longer what it was when its folder was read. That a link leads out of the
// folder is found by package os, not by the kernel.
func exchanged(err error) bool {
	var errno unix.Errno
	return !errors.As(err, &errno) || slices.Contains([]unix.Errno{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV}, errno)
}

func giveOne(top *os.File, name string, gid int64, bits uint32) error {
	fd, err := Open2(int(top.Fd()), name, unix.O_NOFOLLOW, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if err := unix.Fchownat(fd, "", -1, int(gid), unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
		bits |= unix.S_ISGID | 0o110
	}
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), st.Mode&0o7777|bits)
}

// blockSize is the unit in which stat(2) counts, whatever the file system's is.
const blockSize = 512

// diskUsage adds up the blocks of a folder's files. What disappears meanwhile, or cannot be read, does not count.
func DiskUsage(folder string) (bytes int64) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0
	}
	defer func() { _ = root.Close() }()
	_ = Walk(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		fi, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		st, ok := fi.Sys().(*syscall.Stat_t)
		switch {
		case !ok:
		case fi.IsDir():
			bytes += st.Blocks * blockSize
		case fi.Mode().IsRegular(): // it is met once for each of its names
			bytes += st.Blocks * blockSize / max(1, int64(st.Nlink))
		}
		return nil
	})
	return bytes
}
