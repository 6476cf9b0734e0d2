package home

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
)

// Listen opens a loopback listener for each named service. Ports are those of the last time where they are still free,
// so that addresses written into other files stay right, and otherwise chosen by the kernel.
func (h Home) Listen(ctx context.Context, services ...string) (map[string]*net.TCPListener, error) {
	ports, err := h.readPorts()
	if err != nil {
		return nil, err
	}
	opened := map[string]*net.TCPListener{}
	for _, s := range services {
		l, err := listen(ctx, ports[s])
		if err != nil {
			for _, o := range opened {
				_ = o.Close()
			}
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		opened[s] = l
		ports[s] = Port(l)
	}
	b, err := json.Marshal(ports)
	if err != nil {
		return nil, err
	}
	return opened, WriteFile(h.ports(), append(b, '\n'))
}

// Port is the TCP port of a listener.
func Port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func (h Home) readPorts() (map[string]int, error) {
	ports := map[string]int{}
	b, err := os.ReadFile(h.ports())
	if errors.Is(err, fs.ErrNotExist) {
		return ports, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &ports); err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to choose new ports", h.ports(), err)
	}
	return ports, nil
}

func listen(ctx context.Context, port int) (*net.TCPListener, error) {
	var lc net.ListenConfig
	if port != 0 {
		if l, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return l.(*net.TCPListener), nil
		} // another process has it now
	}
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}
