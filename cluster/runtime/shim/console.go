package shim

import (
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// newConsole is a pair of sockets over which a terminal comes out of a
// container: it is opened inside, so that its name means something there.
func newConsole() (conn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return conn{}, nil, err
	}
	mine, theirs := os.NewFile(uintptr(pair[0]), "console"), os.NewFile(uintptr(pair[1]), "console")
	defer mine.Close()
	c, err := net.FileConn(mine)
	if err != nil {
		return conn{}, nil, errors.Join(err, theirs.Close())
	}
	return conn{c.(*net.UnixConn)}, theirs, nil
}

func receiveTerminal(console conn) (*os.File, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	n, nr, _, _, err := console.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	fds, err := parseRights(rights[:nr])
	if err == nil && len(fds) != 1 {
		err = errors.New("no terminal came along")
	}
	if err == nil {
		err = unix.SetNonblock(fds[0], true)
	}
	if err != nil {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "terminal"), nil
}
