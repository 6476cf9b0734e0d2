package pgtest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// attributes are those of the server's processes: they end with the test, and are not root's, which PostgreSQL refuses.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if id, ok := other(); ok {
		a.Credential = &syscall.Credential{Uid: id, Gid: id}
	}
	return a
}

// giveAway makes a folder that of the user that the server runs as.
func giveAway(dir string) error {
	id, ok := other()
	if !ok {
		return nil
	}
	return os.Chown(dir, int(id), int(id))
}

// other is the user that the server runs as when the tests are root's.
func other() (id uint32, ok bool) {
	if os.Geteuid() != 0 {
		return 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(u.Uid, 10, 32); err == nil {
			return uint32(n), true
		}
	}
	return 65534, true // the account without rights on most systems
}
