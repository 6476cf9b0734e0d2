// Package cgroup keeps containers within their limits of processor time and
// memory, by the kernel's control groups of version 2.
//
// A group is a folder, and what it may use stands in files of it. An ordinary
// user may make groups where a part of the tree was handed over to it, as
// systemd does for services and scopes with Delegate=yes. A group with groups
// below it that are limited can hold no processes of its own, so what is in
// ours first moves one level down. The files are described in the kernel's
// Documentation/admin-guide/cgroup-v2.rst.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	mount = "/sys/fs/cgroup"
	// rest is the group of what was in ours before.
	rest = "argosy.rest"
	// maker is the group, in a tree that was handed over, of those who make the groups of containers.
	maker = "argosy.node"
	// pods is the beginning of the names of groups that hold containers' groups.
	pods = "argosy.pods."

	moves = 20 // attempts to empty a group: its processes may be starting others meanwhile
)

// needed are the controllers that limits take.
var needed = []string{"cpu", "memory"}

// counting is the controller that limits how many processes there are. Where a group is not given it, they are counted in another way.
const counting = "pids"

// Tree is a group below which every container has one.
type Tree struct{ dir string }

// Dir is the tree's folder; see Open.
func (t *Tree) Dir() string { return t.dir }

// Open is a tree that another process claimed.
func Open(dir string) *Tree { return &Tree{dir} }

// Why there can be no tree.
var (
	ErrVersion    = errors.New("this machine has no control groups of version 2")
	ErrController = errors.New("not given the controller")
)

// Usable returns the reason why there can be no tree below this process's own group, as a sentence; nil if there can. It changes nothing.
func Usable() error {
	group, err := ownGroup()
	if err != nil {
		return err
	}
	return usable(group)
}

// Claim makes a tree below this process's own group. Its error is that of Usable, or tells what failed. The tree's name tells
// it from those of other clusters in the same group.
func Claim(name string) (*Tree, error) {
	group, err := ownGroup()
	if err != nil {
		return nil, err
	}
	return claim(group, name)
}

// ownGroup is the folder of this process's group, if it may be handed out.
func ownGroup() (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(mount, &st); err != nil || st.Type != unix.CGROUP2_SUPER_MAGIC {
		return "", ErrVersion
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	path, err := Unified(string(own))
	if err != nil {
		return "", err
	}
	group := filepath.Join(mount, path)
	if _, err := os.Stat("/run/systemd/system"); err == nil && !delegated(whole(group)) {
		return "", fmt.Errorf("systemd has not delegated the control group %s", path)
	}
	return group, nil
}

// usable says why a group cannot be handed out.
func usable(group string) error {
	group = whole(group)
	for _, path := range []string{group, filepath.Join(group, "cgroup.procs"), filepath.Join(group, "cgroup.subtree_control")} {
		if err := unix.Access(path, unix.W_OK); err != nil {
			return fmt.Errorf("the control group %s is not delegated to this user (%w)", group, err)
		}
	}
	for _, c := range needed {
		if !has(group, c) {
			return fmt.Errorf("the control group %s is %w %s", group, ErrController, c)
		}
	}
	return nil
}

// has says whether a group is given a controller.
func has(group, controller string) bool {
	given, err := os.ReadFile(filepath.Join(group, "cgroup.controllers"))
	return err == nil && slices.Contains(strings.Fields(string(given)), controller)
}

// Counts says whether the tree limits how many processes there are.
func (t *Tree) Counts() bool { return has(t.dir, counting) }

// delegated says whether systemd leaves a group to those in it. In others it undoes what it did not do itself.
func delegated(group string) bool {
	value := make([]byte, 8)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(group, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// Unified finds the group of version 2 in the text of /proc/self/cgroup.
func Unified(text string) (string, error) {
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return filepath.Clean("/" + path), nil
		}
	}
	return "", errors.New("this process is in no control group of version 2")
}

// whole is the group that another cluster moved into its rest.
func whole(group string) string { return strings.TrimSuffix(group, "/"+rest) }

func claim(own, name string) (*Tree, error) {
	own = whole(own)
	if err := usable(own); err != nil {
		return nil, err
	}
	if err := empty(own); err != nil {
		return nil, fmt.Errorf("hand out the control group %s: %w", own, err)
	}
	t := &Tree{filepath.Join(own, pods+name)}
	if err := t.Clear(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return nil, err
	}
	return t, handDown(t.dir)
}

// empty moves a group's processes one level down and gives its controllers to the groups there. The root of all groups may
// keep its processes; only it has no file cgroup.type.
func empty(group string) error {
	if _, err := os.Stat(filepath.Join(group, "cgroup.type")); errors.Is(err, fs.ErrNotExist) {
		return handDown(group)
	}
	below := filepath.Join(group, rest)
	if err := os.Mkdir(below, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var err error
	for range moves {
		var procs []byte
		if procs, err = os.ReadFile(filepath.Join(group, "cgroup.procs")); err != nil {
			return err
		}
		for pid := range strings.FieldsSeq(string(procs)) {
			if err := write(below, "cgroup.procs", pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
		if err = handDown(group); !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
	return err
}

func handDown(group string) error {
	controllers := needed
	if has(group, counting) {
		controllers = append(slices.Clone(needed), counting)
	}
	return write(group, "cgroup.subtree_control", "+"+strings.Join(controllers, " +"))
}

func write(group, file, value string) error {
	return os.WriteFile(filepath.Join(group, file), []byte(value), 0o644)
}

// HandOver gives the tree to a user. A process of that user in the group that is returned may make groups in the tree, and start others
// in them: the kernel wants the group that both lie in to be the user's too.
func (t *Tree) HandOver(uid, gid int) (group string, err error) {
	group = filepath.Join(t.dir, maker)
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	for _, dir := range []string{t.dir, group} {
		for _, file := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
			if err := os.Lchown(filepath.Join(dir, file), uid, gid); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("hand over the control group: %w", err)
			}
		}
	}
	return group, nil
}

// Clear removes the tree, as far as nothing runs in it.
func (t *Tree) Clear() error {
	t.RemoveAll("")
	err := unix.Rmdir(t.dir)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENOTEMPTY) {
		return &fs.PathError{Op: "rmdir", Path: t.dir, Err: err}
	}
	return nil
}
