package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mountOptions is the most that mount(2) takes: a page, less the terminating zero.
const mountOptions = 4095

// mountImage lays the image's layers over each other, and over them a folder that takes what the container writes. The
// layers themselves are shared by all containers and never written.
func (r *root) mountImage() error {
	img := r.spec.Image
	upper, work, empty := r.upper("image"), r.work("image"), filepath.Join(r.spec.Scratch, "empty")
	for _, d := range []string{r.dir, upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	lower := strings.Join(img.Layers, ":")
	if len(img.Layers) == 0 { // an image can hold nothing but a configuration
		if err := os.MkdirAll(empty, 0o755); err != nil {
			return err
		}
		lower = escapeOption(empty, true)
	}
	opts := overlayOptions(lower, upper, work)
	if len(opts) > mountOptions {
		return fmt.Errorf("the image has %d layers; with the path of the data folder that is more than a mount can take", len(img.Layers))
	}
	// Relative to their folder the names of many layers fit.
	if err := os.Chdir(img.Folder); err != nil {
		return err
	}
	if err := unix.Mount("overlay", r.dir, "overlay", 0, opts); err != nil {
		return fmt.Errorf("mount the image: %w (the data folder must lie on a local file system such as ext4, xfs or btrfs, and the kernel must be 5.11 or newer)", err)
	}
	return os.Chdir("/")
}

// mountImageOwn makes what a container has for itself whatever its image holds.
func (r *root) mountImageOwn() error {
	top, err := os.OpenFile(r.dir, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer top.Close()
	for _, name := range []string{"dev", "proc", "sys"} {
		if err := ownFolder(top, name); err != nil {
			return fmt.Errorf("make /%s: %w", name, err)
		}
	}
	if err := unix.Mkdirat(int(top.Fd()), "tmp", 0o777); err == nil {
		err = unix.Fchmodat(int(top.Fd()), "tmp", 0o1777, 0)
		if err != nil {
			return err
		}
	} else if !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("make /tmp: %w", err)
	}
	for _, d := range r.spec.Image.Folders {
		f, err := MakeBelow(top, d, unix.RESOLVE_IN_ROOT, true, 0o755)
		if err != nil {
			return fmt.Errorf("make %s: %w", d, err)
		}
		_ = f.Close()
	}
	if err := r.mountKernel(); err != nil {
		return err
	}
	return r.mountDev()
}

// ownFolder makes a folder of the root that is mounted over. A link that an image has there instead would have the mount
// land wherever it leads.
func ownFolder(top *os.File, name string) error {
	fd := int(top.Fd())
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	if err == nil {
		err = unix.Unlinkat(fd, name, 0)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return unix.Mkdirat(fd, name, 0o755)
}
