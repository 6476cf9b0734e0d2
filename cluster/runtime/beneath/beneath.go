// Package beneath looks names up in a folder as if it were the root of the file
// system: symbolic links, absolute ones too, never lead out of it. The kernel
// ensures that (openat2, Linux 5.6), so another process cannot change a name between
// check and use. Files of an image's archive are only touched this way.
package beneath

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

// Tree is such a folder. It is for one goroutine.
type Tree struct {
	fd int
	// last is the folder that was looked up last: entries of a folder mostly follow each other.
	last     Dir
	lastName string
}

// Dir is an open folder inside a tree.
type Dir struct{ FD int }

// Open opens the folder dir of the file system as a tree.
func Open(dir string) (Tree, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Tree{}, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return Tree{fd: fd, last: Dir{-1}}, nil
}

func (t *Tree) Close() {
	t.forget()
	_ = unix.Close(t.fd)
}

func (t *Tree) forget() {
	if t.last.FD >= 0 {
		t.last.Close()
	}
	t.last = Dir{-1}
}

// Find opens a folder that is there. The caller closes it.
func (t *Tree) Find(name string) (Dir, error) {
	fd, err := Open2(t.fd, "./"+name, unix.O_DIRECTORY, unix.RESOLVE_IN_ROOT)
	return Dir{fd}, err
}

// Open2 is openat2: it opens the place of a name below a folder, as a path, following links as resolve says. The descriptor is -1
// where that fails.
func Open2(folder int, name string, flags, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: resolve | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(folder, name, &how)
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR): // something was renamed meanwhile, somewhere
			continue
		case err != nil:
			return -1, err
		}
		return fd, nil
	}
}

// Folder opens a folder and makes its missing parts. The folder stays open until the next call.
func (t *Tree) Folder(name string) (Dir, error) {
	name = path.Clean("/" + name)
	if t.last.FD >= 0 && t.lastName == name {
		return t.last, nil
	}
	h, err := t.Find(name)
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
func (t *Tree) makeAll(name string) (Dir, error) {
	at := ""
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		h, err := t.Find(at)
		if err != nil {
			return h, err
		}
		err = unix.Mkdirat(h.FD, part, 0o755)
		h.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return Dir{-1}, err
		}
		at += "/" + part
	}
	return t.Find(at)
}

func (h Dir) Close() { _ = unix.Close(h.FD) }

// Path leads to something in the folder however the folder is called.
func (h Dir) Path(name string) string { return "/proc/self/fd/" + strconv.Itoa(h.FD) + "/" + name }

// Kind is the type of what lies at a name, as in st_mode; 0 where nothing does.
func (h Dir) Kind(name string) (uint32, error) {
	var st unix.Stat_t
	err := unix.Fstatat(h.FD, orDot(name), &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return 0, nil
	}
	return st.Mode & unix.S_IFMT, err
}

// Remove takes away what lies at a name. Links inside a folder are removed, never followed.
func (h Dir) Remove(name string, kind uint32) error {
	if kind == unix.S_IFDIR {
		return os.RemoveAll(h.Path(name))
	}
	return unix.Unlinkat(h.FD, name, 0)
}

func (h Dir) MakeFolder(name string) error {
	err := unix.Mkdirat(h.FD, name, 0o755)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func (h Dir) Create(name string) (*os.File, error) {
	fd, err := unix.Openat(h.FD, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (h Dir) Symlink(target, name string) error { return unix.Symlinkat(target, h.FD, name) }

func (h Dir) Link(name string, dir Dir, as string) error {
	return unix.Linkat(h.FD, name, dir.FD, as, 0)
}

func (h Dir) Fifo(name string) error { return unix.Mknodat(h.FD, name, unix.S_IFIFO|0o600, 0) }

func (h Dir) Own(name string, uid, gid int) error {
	return unix.Fchownat(h.FD, orDot(name), uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

// Chmod is for names that this process has just made, which are not symbolic links.
func (h Dir) Chmod(name string, mode uint32) error {
	return unix.Fchmodat(h.FD, orDot(name), mode, 0)
}

func (h Dir) SetTime(name string, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(h.FD, orDot(name), []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

func orDot(name string) string {
	if name == "" {
		return "."
	}
	return name
}
