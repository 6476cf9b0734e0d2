//go:build !linux

package access

import (
	"errors"
	"net"
)

// Unsupported says that this operating system does not report the account of a connection.
const Unsupported = true

func accountOf(*net.TCPConn) (int, error) {
	return 0, errors.New("this operating system does not report the account of a connection")
}
