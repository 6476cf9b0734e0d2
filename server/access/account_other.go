//go:build !linux

package access

import (
	"errors"
	"net"
)

// Unsupported says that this operating system does not tell to which account a connection belongs.
const Unsupported = true

func accountOf(*net.TCPConn) (int, error) {
	return 0, errors.New("this operating system does not tell to which account a connection belongs")
}
