// Package dialer opens connections of the host's network for a process in
// another network namespace: a broker outside connects and passes the connected
// descriptor over a unix socket. A process that can open that socket reaches
// everything that the host reaches, including its loopback, so pods never see
// it.
package dialer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/argosy-ml/argosy/cluster/net/descriptor"
)

// request asks for a connection, with the arguments of net.Dial. Names are
// looked up by the broker, with the host's own resolver.
type request struct {
	Network string `json:"network"`
	Address string `json:"address"`
}

// answer comes with one descriptor, or says why there is none.
type answer struct {
	Error string `json:"error,omitempty"`
}

// Error says that the broker could not connect.
type Error struct{ Network, Address, Reason string }

func (e *Error) Error() string { return e.Reason }

// DialContext returns a function like that of net.Dialer, for TCP and UDP,
// which connects through the broker at the unix socket.
func DialContext(socket string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, socket, request{network, addr})
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // its reason for closing the connection to the broker
		}
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		return conn, nil
	}
}

func dial(ctx context.Context, socket string, r request) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unixpacket", socket)
	if err != nil {
		return nil, fmt.Errorf("the way to the host's network: %w", err)
	}
	broker := c.(*net.UnixConn)
	defer func() { _ = broker.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = broker.Close() })
	defer stop()
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, err := broker.Write(b); err != nil {
		return nil, fmt.Errorf("ask for a connection: %w", err)
	}
	return receive(broker, r)
}

// receive reads the broker's answer.
func receive(broker *net.UnixConn, r request) (net.Conn, error) {
	message, file, err := descriptor.Receive(broker)
	if file != nil {
		defer file.Close() // FileConn works on a copy
	}
	if err != nil {
		return nil, fmt.Errorf("the broker's answer: %w", err)
	}
	var a answer
	if err := json.Unmarshal(message, &a); err != nil {
		return nil, fmt.Errorf("the broker's answer: %w", err)
	}
	switch {
	case a.Error != "":
		return nil, &Error{Network: r.Network, Address: r.Address, Reason: a.Error}
	case file == nil:
		return nil, errors.New("the broker sent no connection")
	}
	return net.FileConn(file)
}
