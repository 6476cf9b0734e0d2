// Package dns is the pods' name server, CoreDNS's part in other clusters:
// it answers for the names of Services and pods and hands every other question
// to the machine's own name servers.
package dns

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/argosy-ml/argosy/cluster/net/services"
)

const (
	// maxAsking bounds the questions that wait for an answer from outside; more get SERVFAIL and may come again.
	maxAsking = 512
	// readLimit is how long a question waits for the directory after the start.
	readLimit = 5 * time.Second
	// maxChain bounds how many names may stand for each other.
	maxChain = 8
)

// Config says where the answers come from.
type Config struct {
	Directory *services.Directory
	Pods      netip.Prefix // network of the pods
	Services  netip.Prefix // network of the Services
	Resolv    string       // resolv.conf of the machine
	// Dial connects in the network in which the servers of that file are reached.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	Log  *slog.Logger
}

// Server is a running name server.
type Server struct {
	ctx     context.Context // ends with the server; each question's
	cancel  context.CancelFunc
	records *records
	forward *forwarder
	cache   cache
	now     func() time.Time // for the cache
	asking  chan struct{}    // a place for each question that is out
	log     *slog.Logger
	udp     *dns.Server
	tcp     *dns.Server
	work    sync.WaitGroup
}

// Start serves on both sockets, which it closes in the end, until Stop is called.
func Start(packets net.PacketConn, streams net.Listener, cfg Config) *Server {
	return start(packets, streams, cfg, usual, time.Now)
}

func start(packets net.PacketConn, streams net.Listener, cfg Config, l limits, now func() time.Time) *Server {
	s := &Server{
		records: &records{directory: cfg.Directory, pods: cfg.Pods, services: cfg.Services},
		forward: &forwarder{file: cfg.Resolv, dial: cfg.Dial, limits: l},
		now:     now,
		asking:  make(chan struct{}, maxAsking),
		log:     cfg.Log,
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	up := make(chan struct{}, 4)
	started := func() { up <- struct{}{} }
	s.udp = &dns.Server{PacketConn: packets, Handler: s, UDPSize: dns.MaxMsgSize, NotifyStartedFunc: started}
	s.tcp = &dns.Server{Listener: streams, Handler: s, ReadTimeout: l.question, NotifyStartedFunc: started}
	for _, server := range []*dns.Server{s.udp, s.tcp} {
		s.work.Go(func() {
			defer started() // or it never will be
			if err := server.ActivateAndServe(); err != nil && !errors.Is(err, net.ErrClosed) {
				s.log.Warn("the pods' name server ended", "err", err)
			}
		})
	}
	for range 2 {
		<-up
	}
	return s
}

// Stop ends the server and every question that is not answered yet.
func (s *Server) Stop() {
	s.cancel()
	for _, server := range []*dns.Server{s.udp, s.tcp} {
		_ = server.Shutdown() // it has been started, or has said why not
	}
	s.work.Wait()
}

// ServeDNS answers a question.
func (s *Server) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	network := "udp"
	if _, ok := w.RemoteAddr().(*net.TCPAddr); ok {
		network = "tcp"
	}
	a := s.answer(network, q)
	size := dns.MaxMsgSize
	if network == "udp" {
		size = dns.MinMsgSize
	}
	if opt := q.IsEdns0(); opt != nil {
		if network == "udp" {
			size = max(size, int(opt.UDPSize()))
		}
		if a.IsEdns0() == nil {
			a.SetEdns0(dns.DefaultMsgSize, opt.Do())
		}
	}
	a.Truncate(size)
	_ = w.WriteMsg(a) // a pod that is gone by now needs no answer
}

func (s *Server) answer(network string, q *dns.Msg) *dns.Msg {
	refusal := func(code int) *dns.Msg {
		return new(dns.Msg).SetRcode(q, code)
	}
	switch {
	case q.Opcode != dns.OpcodeQuery:
		return refusal(dns.RcodeNotImplemented)
	case len(q.Question) != 1:
		return refusal(dns.RcodeFormatError)
	}
	name := strings.ToLower(q.Question[0].Name)
	if !s.records.owns(name) {
		return s.ask(network, q)
	}
	if q.Question[0].Qclass != dns.ClassINET {
		return refusal(dns.RcodeRefused)
	}
	if !s.ready() {
		return refusal(dns.RcodeServerFailure)
	}
	a := new(dns.Msg).SetReply(q)
	a.Authoritative, a.RecursionAvailable = true, true
	s.fill(network, a, name, q.Question[0].Qtype)
	return a
}

// fill puts what a name of the cluster stands for into the answer, and what the names stand for that it leads to.
func (s *Server) fill(network string, a *dns.Msg, name string, kind uint16) {
	for range maxChain {
		found := s.records.lookup(name, kind)
		a.Answer, a.Extra = append(a.Answer, found.rrs...), append(a.Extra, found.extra...)
		if found.follow != "" && kind != dns.TypeCNAME {
			name = found.follow
			if s.records.owns(name) {
				continue
			}
			outside := s.ask(network, new(dns.Msg).SetQuestion(name, kind))
			a.Answer = append(a.Answer, outside.Answer...)
			if outside.Rcode == dns.RcodeServerFailure {
				a.Rcode = outside.Rcode
			}
			return
		}
		if len(a.Answer) == 0 {
			a.Rcode, a.Ns = found.code, []dns.RR{soa()}
		}
		return
	}
	a.Rcode = dns.RcodeServerFailure // names that stand for each other
}

// ready waits for the directory to know what there is.
func (s *Server) ready() bool {
	select {
	case <-s.records.directory.Ready():
		return true
	default:
	}
	timer := time.NewTimer(readLimit)
	defer timer.Stop()
	select {
	case <-s.records.directory.Ready():
		return true
	case <-s.ctx.Done():
	case <-timer.C:
	}
	return false
}

// ask answers a question from outside, or from what was said there a moment ago.
func (s *Server) ask(network string, q *dns.Msg) *dns.Msg {
	if opt := q.IsEdns0(); q.CheckingDisabled || opt != nil && opt.Do() {
		return s.askOutside(network, q) // who checks signatures gets what there is
	}
	question := q.Question[0]
	a := s.cache.get(question, s.now())
	if a == nil {
		plain := new(dns.Msg).SetQuestion(question.Name, question.Qtype)
		plain.Question[0].Qclass = question.Qclass
		plain.SetEdns0(dns.MaxMsgSize, false)
		a = s.askOutside(network, plain)
		a.Extra = slices.DeleteFunc(a.Extra, func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeOPT })
		s.cache.put(question, a, s.now())
	}
	a.Id = q.Id
	return a
}

// askOutside hands a question on.
func (s *Server) askOutside(network string, q *dns.Msg) *dns.Msg {
	failure := new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
	failure.RecursionAvailable = true
	select {
	case s.asking <- struct{}{}:
	default:
		return failure
	}
	defer func() { <-s.asking }()
	a, err := s.forward.ask(s.ctx, network, q)
	if err != nil {
		s.log.Debug("no answer from outside", "name", q.Question[0].Name, "err", err)
		return failure
	}
	return a
}
