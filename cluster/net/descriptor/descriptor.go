// Package descriptor passes open files between processes over unix sockets
// (SCM_RIGHTS). Sockets passed so keep the network namespace they were made in.
package descriptor

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Limit is the size of the largest message, in bytes.
const Limit = 4096

// Send sends a message and, with it, the descriptor fd; none when fd is negative.
func Send(c *net.UnixConn, message []byte, fd int) error {
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	_, _, err := c.WriteMsgUnix(message, rights, nil)
	return err
}

// Receive reads a message and the file that came with it, nil when none did. On
// sockets that keep messages apart ("unixpacket") it reads one whole message.
func Receive(c *net.UnixConn) ([]byte, *os.File, error) {
	buf, rights := make([]byte, Limit), make([]byte, unix.CmsgSpace(4))
	n, rn, _, _, err := c.ReadMsgUnix(buf, rights)
	if err != nil {
		return nil, nil, err
	}
	file, err := received(rights[:rn])
	return buf[:n], file, err
}

func received(rights []byte) (*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, fmt.Errorf("control message: %w", err)
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, fmt.Errorf("control message: %w", err)
		}
		for _, fd := range fds { // there is room for one only
			unix.CloseOnExec(fd)
			return os.NewFile(uintptr(fd), "received"), nil
		}
	}
	return nil, nil
}
