package image

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a folder that names are looked up in as if it were the root of the
// file system: symbolic links, absolute ones too, never lead out of it. The
// kernel sees to that, so nothing can be changed between a look and a deed.
type tree struct {
	fd int
	// last is the folder that was looked up last: entries of a folder mostly follow each other.
	last     handle
	lastName string
}

// handle is an open folder inside a tree.
type handle struct{ fd int }

func openTree(dir string) (tree, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return tree{}, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return tree{fd: fd, last: handle{-1}}, nil
}

func (t *tree) close() {
	t.forget()
	_ = unix.Close(t.fd)
}

func (t *tree) forget() {
	if t.last.fd >= 0 {
		t.last.close()
	}
	t.last = handle{-1}
}

// find opens a folder that is there. The caller closes it.
func (t *tree) find(name string) (handle, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(t.fd, "./"+name, &how)
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR): // something was renamed meanwhile, somewhere
			continue
		case err != nil:
			return handle{-1}, err
		}
		return handle{fd}, nil
	}
}

// folder opens a folder and makes what of it is missing. It stays open until the next one is asked for.
func (t *tree) folder(name string) (handle, error) {
	name = path.Clean("/" + name)
	if t.last.fd >= 0 && t.lastName == name {
		return t.last, nil
	}
	h, err := t.find(name)
	if errors.Is(err, unix.ENOENT) && name != "/" {
		h, err = t.makeAll(name)
	}
	if err != nil {
		return h, fmt.Errorf("its folder: %w", err)
	}
	t.forget()
	t.last, t.lastName = h, name
	return h, nil
}

// makeAll makes the folders of a path one after the other.
func (t *tree) makeAll(name string) (handle, error) {
	at := ""
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		h, err := t.find(at)
		if err != nil {
			return h, err
		}
		err = unix.Mkdirat(h.fd, part, 0o755)
		h.close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return handle{-1}, err
		}
		at += "/" + part
	}
	return t.find(at)
}

func (h handle) close() { _ = unix.Close(h.fd) }

// path leads to something in the folder however the folder is called.
func (h handle) path(name string) string { return "/proc/self/fd/" + strconv.Itoa(h.fd) + "/" + name }

// kind is the type of what lies at a name, as in st_mode; 0 where nothing does.
func (h handle) kind(name string) (uint32, error) {
	var st unix.Stat_t
	err := unix.Fstatat(h.fd, orDot(name), &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return 0, nil
	}
	return st.Mode & unix.S_IFMT, err
}

// remove takes away what lies at a name. Links inside a folder are removed, never followed.
func (h handle) remove(name string, kind uint32) error {
	if kind == unix.S_IFDIR {
		return os.RemoveAll(h.path(name))
	}
	return unix.Unlinkat(h.fd, name, 0)
}

func (h handle) makeFolder(name string) error {
	err := unix.Mkdirat(h.fd, name, 0o755)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func (h handle) create(name string) (*os.File, error) {
	fd, err := unix.Openat(h.fd, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (h handle) symlink(target, name string) error { return unix.Symlinkat(target, h.fd, name) }

func (h handle) link(name string, dir handle, as string) error {
	return unix.Linkat(h.fd, name, dir.fd, as, 0)
}

func (h handle) fifo(name string) error { return unix.Mknodat(h.fd, name, unix.S_IFIFO|0o600, 0) }

// whiteout makes the device that overlayfs takes for a removed file. The kernel lets everybody make this one.
func (h handle) whiteout(name string) error { return unix.Mknodat(h.fd, name, unix.S_IFCHR, 0) }

// setOpaque makes overlayfs show nothing of the folder of the same name below.
func (h handle) setOpaque(trusted bool) error {
	attr := "user.overlay.opaque"
	if trusted {
		attr = "trusted.overlay.opaque"
	}
	// A descriptor that is only a path has no attributes of its own, but the way to it has.
	return unix.Setxattr(h.path("."), attr, []byte("y"), 0)
}

func (h handle) own(name string, uid, gid int) error {
	return unix.Fchownat(h.fd, orDot(name), uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

// mode is called for names that are no symbolic links only: this process has just made them.
func (h handle) mode(name string, mode uint32) error {
	return unix.Fchmodat(h.fd, orDot(name), mode, 0)
}

func (h handle) time(name string, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(h.fd, orDot(name), []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// attributes sets the extended attributes that mean something to a container: file capabilities, and users' own.
// Overlayfs' are left out: they could show files of places that are not the image's.
func (h handle) attributes(name string, records map[string]string) error {
	for key, value := range records {
		attr, ok := strings.CutPrefix(key, "SCHILY.xattr.")
		own := strings.HasPrefix(attr, "user.") && !strings.HasPrefix(attr, "user.overlay.")
		if !ok || attr != "security.capability" && !own {
			continue
		}
		err := unix.Lsetxattr(h.path(orDot(name)), attr, []byte(value), 0)
		// Not every file system has them, and not every user may give capabilities away.
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("attribute %s: %w", attr, err)
		}
	}
	return nil
}

func orDot(name string) string {
	if name == "" {
		return "."
	}
	return name
}
