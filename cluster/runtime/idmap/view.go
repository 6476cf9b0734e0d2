package idmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// View is what commands see that run with the ids of a range: this machine's files, which are those of strangers, and some folders
// that belong to them.
type View struct {
	ids    Range
	ways   [][]step // to the command's own folders, outermost first
	hidden []string
	frozen []string
	root   string
	// Covered are folders of the machine on the way to the command's own that strangers may not enter: nothing else is seen of them.
	Covered []string
}

// NewView looks how the folders are reached, and changes nothing.
func NewView(ids Range, folders ...string) (*View, error) {
	v := &View{ids: ids}
	for _, f := range folders {
		steps, err := route(f)
		if err != nil {
			return nil, fmt.Errorf("the way to %s: %w", f, err)
		}
		v.ways = append(v.ways, steps)
		for _, s := range steps[:len(steps)-1] {
			if s.closed && !v.covers(s.path) {
				v.Covered = append(v.Covered, s.path)
			}
		}
	}
	// A folder would cover what is mounted in it.
	slices.SortStableFunc(v.ways, func(a, b []step) int { return strings.Count(end(a), "/") - strings.Count(end(b), "/") })
	return v, nil
}

// end is where steps lead.
func end(steps []step) string { return steps[len(steps)-1].path }

// Hide leaves out of the command's own folders what it needs nothing of. It cannot be uncovered there. What is not there yet is not hidden.
func (v *View) Hide(paths ...string) { v.hidden = append(v.hidden, paths...) }

// Freeze keeps the command from writing to folders in its own. It cannot undo that.
func (v *View) Freeze(paths ...string) { v.frozen = append(v.frozen, paths...) }

// ShowRoot shows the machine's root file system in a folder without what is mounted there. At / itself the kernel locks that in place, and
// overlayfs refuses what it would have to lift mounts from.
func (v *View) ShowRoot(folder string) { v.root = folder }

// covers says whether path is a covered folder or lies in one.
func (v *View) covers(path string) bool {
	for _, c := range v.Covered {
		if path == c || strings.HasPrefix(path, c+"/") {
			return true
		}
	}
	return false
}

// Reachable says whether strangers may read what lies at path.
func Reachable(path string) bool {
	steps, err := route(path)
	if err != nil {
		return false
	}
	for _, s := range steps {
		if s.closed {
			return false
		}
	}
	return true
}

// step is a folder on the way to another one, or a symbolic link.
type step struct {
	path   string
	link   string // where it leads to; empty for a folder
	closed bool   // strangers may not enter
}

// route lists what lies on the way to path, itself the last.
func route(path string) (steps []step, err error) {
	todo := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	at := "/"
	for links := 0; len(todo) > 0; {
		next := filepath.Join(at, todo[0])
		todo = todo[1:]
		fi, err := os.Lstat(next)
		if err != nil {
			return nil, err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			const enter = 0o001
			steps = append(steps, step{path: next, closed: fi.Mode().Perm()&enter == 0})
			at = next
			continue
		}
		if links++; links > 40 {
			return nil, unix.ELOOP
		}
		target, err := os.Readlink(next)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{path: next, link: target})
		if filepath.IsAbs(target) {
			at = "/"
		}
		todo = append(strings.Split(strings.Trim(filepath.Clean(target), "/"), "/"), todo...)
	}
	return steps, nil
}

// Start starts the command as root of the view's ids, in a mount namespace of its own beside those that it asks for.
func (v *View) Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNS
	v.ids.apply(cmd.SysProcAttr)
	cmd.SysProcAttr.Credential = &syscall.Credential{} // root, and no groups
	return onThread(func() error {
		// The command inherits the thread's mounts, and cannot undo them: the kernel locks what comes from a namespace with more rights.
		if err := v.arrange(); err != nil {
			return err
		}
		return cmd.Start()
	})
}

// onThread calls f on a thread that ends afterwards. The main thread cannot: it stands for the process in /proc.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onThread(f) // on another one, as long as this one is taken
			return
		}
		done <- f()
	}()
	return <-done
}

// arrange mounts the view in a new mount namespace of this thread.
func (v *View) arrange() error {
	ns, err := v.ids.namespace()
	if err != nil {
		return fmt.Errorf("a user namespace with ids %d to %d: %w", v.ids.First, v.ids.First+Count-1, err)
	}
	defer ns.Close()
	mounts := make([]*os.File, len(v.ways))
	for i, way := range v.ways {
		if mounts[i], err = shifted(end(way), ns); err != nil {
			return err
		}
		defer mounts[i].Close()
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// A user namespace may mount a /proc of its own where all of one is seen. That of a container that this runs in may be covered in part.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for i, way := range v.ways {
		if err := attach(mounts[i], way); err != nil {
			return err
		}
	}
	if v.root != "" {
		if err := unix.Mount("/", v.root, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show the machine's root file system: %w", err)
		}
	}
	for _, path := range v.hidden {
		if err := hide(path); err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	for _, path := range v.frozen {
		if err := freeze(path); err != nil {
			return fmt.Errorf("make %s read-only: %w", path, err)
		}
	}
	return nil
}

func freeze(path string) error {
	if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

func hide(path string) error {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case fi.IsDir():
		return unix.Mount("argosy", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0000")
	}
	return unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
}

// shifted is the mount of a folder in which the range's ids stand for those on the disk.
func shifted(path string, ns *os.File) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, &fs.PathError{Op: "open_tree", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(ns.Fd())}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be mounted with the user ids of pods (%w): that takes Linux 5.19, and a file system such as ext4, xfs or btrfs; "+
			"run the cluster as an ordinary user, or choose another --home", path, err), f.Close())
	}
	return f, nil
}

// attach mounts what is at the end of the steps. Folders on the way that strangers may not enter are covered first.
func attach(mount *os.File, steps []step) error {
	last, at := len(steps)-1, end(steps)
	for i, s := range steps {
		fi, err := os.Lstat(s.path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && s.link != "": // it lies under a cover
			err = os.Symlink(s.link, s.path)
		case errors.Is(err, fs.ErrNotExist):
			err = errors.Join(os.Mkdir(s.path, 0o755), os.Chmod(s.path, 0o755)) // whatever the umask says
		case err == nil && s.closed && i < last && fi.Mode().Perm()&0o001 == 0:
			err = unix.Mount("argosy", s.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755")
		}
		if err != nil {
			return fmt.Errorf("a way to %s: %w", at, err)
		}
	}
	if err := unix.MoveMount(int(mount.Fd()), "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %s for pods: %w", at, err)
	}
	return nil
}

// namespace makes a user namespace with these ids; it lives as long as the file is open. Only a process can make one, so namespace starts
// a process that the kernel stops before its first instruction.
func (r Range) namespace() (*os.File, error) {
	attr := &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	r.apply(attr)
	p, err := os.StartProcess("/proc/self/exe", []string{"argosy-cluster"}, &os.ProcAttr{Sys: attr})
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = p.Kill()
		_, _ = p.Wait()
	}()
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", p.Pid))
}
