package dns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// limits bound how long others are waited for.
type limits struct {
	question time.Duration // the first question on a connection
	forward  time.Duration // the search for an answer outside
	attempt  time.Duration // one attempt at one server
}

// usual are the limits for pods, whose resolvers ask again after five seconds.
var usual = limits{question: 2 * time.Second, forward: 4 * time.Second, attempt: 1500 * time.Millisecond}

// forwarder asks the machine's own name servers.
type forwarder struct {
	file   string // resolv.conf of the machine
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	limits limits

	mu      sync.Mutex
	stamp   fs.FileInfo // of the file, when servers were read from it
	servers []string
}

// current are the servers of the machine as of now.
func (f *forwarder) current() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.file)
	if err != nil {
		return nil, err
	}
	if f.stamp != nil && os.SameFile(f.stamp, info) && info.ModTime().Equal(f.stamp.ModTime()) && info.Size() == f.stamp.Size() {
		return f.servers, nil
	}
	cfg, err := dns.ClientConfigFromFile(f.file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	f.servers = nil
	for _, s := range cfg.Servers {
		f.servers = append(f.servers, net.JoinHostPort(s, cfg.Port))
	}
	f.stamp = info
	return f.servers, nil
}

// ask returns what the first server that answers says. The network, udp or tcp,
// is that of the question: answers that do not fit are cut in the same way.
func (f *forwarder) ask(ctx context.Context, network string, question *dns.Msg) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, f.limits.forward)
	defer cancel()
	servers, err := f.current()
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("%s names no server", f.file)
	for range 2 {
		for _, s := range servers {
			var a *dns.Msg
			if a, err = f.attempt(ctx, network, s, question); err == nil {
				return a, nil
			}
			if ctx.Err() != nil {
				return nil, err
			}
		}
	}
	return nil, err
}

func (f *forwarder) attempt(ctx context.Context, network, server string, question *dns.Msg) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, f.limits.attempt)
	defer cancel()
	conn, err := f.dial(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	q := question.Copy()
	q.Id = dns.Id() // hard to guess, as is the port
	a, _, err := (&dns.Client{Net: network, UDPSize: dns.MaxMsgSize, Timeout: f.limits.attempt}).ExchangeWithConnContext(ctx, q, &dns.Conn{Conn: conn})
	if err != nil {
		return nil, err
	}
	if len(a.Question) != 1 || len(q.Question) != 1 || a.Question[0].Qtype != q.Question[0].Qtype ||
		dns.CanonicalName(a.Question[0].Name) != dns.CanonicalName(q.Question[0].Name) {
		return nil, errors.New("the answer is to another question")
	}
	a.Id = question.Id
	return a, nil
}
