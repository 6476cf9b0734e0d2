package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/user"
	"strconv"
	"sync"
)

// Caller is the other end of a connection.
type Caller struct {
	conn    net.Conn
	account func() (int, error) // that opened the other end, if it is on this machine
}

// CallerOf is the other end of a connection. Its account is looked up once, with the first request.
func CallerOf(conn net.Conn) *Caller {
	return &Caller{conn: conn, account: sync.OnceValues(func() (int, error) {
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return 0, errors.New("it is not a TCP connection")
		}
		return accountOf(tcp)
	})}
}

type callerKey struct{}

// WithCaller adds the other end of a connection to its context; it fits http.Server.ConnContext.
func WithCaller(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, callerKey{}, CallerOf(conn))
}

// CallerFrom is the caller that WithCaller added.
func CallerFrom(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return CallerOf(nil)
}

// source names where a password comes from: the account on this machine, or the machine. Of an IPv6 address only the network counts,
// as each machine has all addresses of one.
func (c *Caller) source() string {
	if c.conn == nil {
		return "an unknown connection"
	}
	remote, err := netip.ParseAddrPort(c.conn.RemoteAddr().String())
	if err != nil {
		return c.conn.RemoteAddr().String()
	}
	address := remote.Addr().Unmap().WithZone("")
	switch {
	case address.IsLoopback():
		if account, err := c.account(); err == nil {
			return named(account)
		}
	case address.Is6():
		if network, err := address.Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}

// owners are the accounts that run the server: the account of this process and, under sudo, the account that called sudo, so that its
// browser gets in.
func owners() []int {
	own := []int{os.Getuid()}
	if invoker, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && own[0] == 0 {
		own = append(own, invoker)
	}
	return own
}

// named is an account as people know it.
func named(account int) string {
	id := strconv.Itoa(account)
	if u, err := user.LookupId(id); err == nil {
		return fmt.Sprintf("%s, user id %s", u.Username, id)
	}
	return "user id " + id
}
