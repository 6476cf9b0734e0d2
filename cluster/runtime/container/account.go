package container

import (
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAccounts bounds what is read of /etc/passwd and /etc/group, which come out of images.
const maxAccounts = 1 << 20

// settleAccount completes the user and HOME from the container's own /etc/passwd and /etc/group.
func (p *Process) settleAccount() error {
	home := !slices.ContainsFunc(p.Env, func(e string) bool { return strings.HasPrefix(e, "HOME=") })
	if p.User == nil && !home {
		return nil
	}
	passwd, err := readAccounts("/etc/passwd")
	if err != nil {
		return err
	}
	var uid uint32
	if p.User != nil {
		if err := p.User.findName(passwd); err != nil {
			return err
		}
		uid = p.User.UID
	}
	name, gid, folder := accountOf(passwd, uid)
	if home {
		p.Env = append(p.Env, "HOME="+folder)
	}
	if p.User == nil {
		return nil
	}
	if p.User.GID == nil {
		p.User.GID = &gid
	}
	if !p.User.Merge || name == "" {
		return nil
	}
	group, err := readAccounts("/etc/group")
	if err != nil {
		return err
	}
	for _, g := range groupsOf(group, name) {
		if !slices.Contains(p.User.Groups, g) && g != *p.User.GID {
			p.User.Groups = append(p.User.Groups, g)
		}
	}
	return nil
}

// findName makes numbers of the names of an image's user.
func (u *User) findName(passwd string) error {
	if u.Name == "" {
		return nil
	}
	user, group, hasGroup := strings.Cut(u.Name, ":")
	uid, gid, ok := idOf(passwd, 7, user)
	if !ok {
		return fmt.Errorf("the image's user %q is not in its /etc/passwd", user)
	}
	u.UID = uid
	if u.GID != nil {
		return nil
	}
	if hasGroup {
		groups, err := readAccounts("/etc/group")
		if err != nil {
			return err
		}
		if gid, _, ok = idOf(groups, 4, group); !ok {
			return fmt.Errorf("the image's group %q is not in its /etc/group", group)
		}
		u.GID = &gid
	} else if _, err := strconv.ParseUint(user, 10, 32); err != nil {
		u.GID = &gid // a number's group is looked for by number
	}
	return nil
}

// idOf finds the id of a name, and the one after it, in rows of n fields. A number stands for itself.
func idOf(file string, n int, name string) (id, next uint32, ok bool) {
	if number, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(number), 0, true
	}
	for fields := range rows(file, n) {
		number, err := strconv.ParseUint(fields[2], 10, 32)
		if fields[0] != name || err != nil {
			continue
		}
		after, _ := strconv.ParseUint(fields[3], 10, 32) // of a group: its members, which have no use here
		return uint32(number), uint32(after), true
	}
	return 0, 0, false
}

// readAccounts reads a file that may be missing.
func readAccounts(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // whatever it is, do not wait for it
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxAccounts))
	return string(b), err
}

// accountOf finds a user in a passwd file; one that is not there has group 0, lives in / and has no name.
func accountOf(passwd string, uid uint32) (name string, gid uint32, home string) {
	for fields := range rows(passwd, 7) {
		if id, err := strconv.ParseUint(fields[2], 10, 32); err != nil || uint32(id) != uid {
			continue
		}
		g, err := strconv.ParseUint(fields[3], 10, 32)
		if err != nil {
			continue
		}
		home := fields[5]
		if home == "" {
			home = "/"
		}
		return fields[0], uint32(g), home
	}
	return "", 0, "/"
}

// groupsOf are the groups of a group file that have the user as a member.
func groupsOf(group, name string) (groups []uint32) {
	for fields := range rows(group, 4) {
		if g, err := strconv.ParseUint(fields[2], 10, 32); err == nil && slices.Contains(strings.Split(fields[3], ","), name) {
			groups = append(groups, uint32(g))
		}
	}
	return groups
}

// rows are the lines of such a file that have n fields.
func rows(file string, n int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(file) {
			if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == n && !yield(fields) {
				return
			}
		}
	}
}
