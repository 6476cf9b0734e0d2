package dns

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/net/services"
)

// patience is long enough for a busy machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is one with a Service of each kind.
func cluster() *services.Directory {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }
	ports := []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}, {Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}}
	external := func(name, target string) *corev1.Service {
		return &corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: target}}
	}
	slice := func(service string, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
		s := &discoveryv1.EndpointSlice{ObjectMeta: meta(service + "-1"), Endpoints: endpoints, Ports: []discoveryv1.EndpointPort{
			{Name: ptr("http"), Port: ptr(int32(8080)), Protocol: ptr(corev1.ProtocolTCP)},
		}}
		s.Labels = map[string]string{discoveryv1.LabelServiceName: service}
		return s
	}
	return services.Known([]*corev1.Service{
		{ObjectMeta: meta("web"), Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10", Ports: ports}},
		{ObjectMeta: meta("job"), Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: ports[:1]}},
		{ObjectMeta: meta("nobody"), Spec: corev1.ServiceSpec{ClusterIP: "None"}},
		external("other", "web.ns.svc.cluster.local"), external("far", "Far.Example"), external("loop", "loop.ns.svc.cluster.local"),
	}, []*discoveryv1.EndpointSlice{
		slice("web", discoveryv1.Endpoint{Addresses: []string{"10.88.0.9"}}),
		slice("job",
			discoveryv1.Endpoint{Addresses: []string{"10.88.0.2"}, Hostname: ptr("worker-0"), Conditions: discoveryv1.EndpointConditions{Ready: ptr(true)}},
			discoveryv1.Endpoint{Addresses: []string{"10.88.0.3"}, Hostname: ptr("worker-1")},
			discoveryv1.Endpoint{Addresses: []string{"10.88.0.4"}},
			discoveryv1.Endpoint{Addresses: []string{"10.88.0.5"}, Hostname: ptr("worker-2"), Conditions: discoveryv1.EndpointConditions{Ready: ptr(false)}},
		),
	})
}

func ptr[T any](v T) *T { return &v }

// upstream is the machine's name server: it knows far.example, and one name with more addresses than fit in a packet.
func upstream(t *testing.T) string {
	t.Helper()
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg).SetReply(q)
		switch name := q.Question[0].Name; name {
		case "far.example.":
			a.Answer = []dns.RR{&dns.A{Hdr: header(name, dns.TypeA), A: net.IPv4(192, 0, 2, 1)}}
		case "many.example.":
			for i := range 200 {
				a.Answer = append(a.Answer, &dns.A{Hdr: header(name, dns.TypeA), A: net.IPv4(192, 0, 2, byte(i))})
			}
		default:
			a.Rcode = dns.RcodeNameError
		}
		if _, tcp := w.RemoteAddr().(*net.TCPAddr); !tcp {
			size := dns.MinMsgSize
			if opt := q.IsEdns0(); opt != nil {
				size = int(opt.UDPSize())
			}
			a.Truncate(size)
		}
		_ = w.WriteMsg(a)
	})
	packets, streams := listen(t)
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: streams, Handler: handler, ReadTimeout: patience}} {
		up, done := make(chan struct{}), make(chan error, 1)
		s.NotifyStartedFunc = func() { close(up) }
		go func() { done <- s.ActivateAndServe() }()
		<-up
		t.Cleanup(func() {
			require.NoError(t, s.Shutdown())
			require.NoError(t, <-done)
		})
	}
	return packets.LocalAddr().String()
}

// listen opens the same port for packets and streams.
func listen(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		streams, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, streams
		}
		require.NoError(t, packets.Close()) // another process has that port
	}
}

// serve starts a name server that asks the upstream; every server of the file is there.
func serve(t *testing.T, d *services.Directory, file, upstream string) string {
	t.Helper()
	packets, streams := listen(t)
	began := time.Now() // the server's clock stands still: what it keeps from outside stays as long as it runs
	s := start(packets, streams, Config{
		Directory: d, Pods: netip.MustParsePrefix("10.88.0.0/16"), Services: netip.MustParsePrefix("10.96.0.0/16"), Resolv: file,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strings.HasPrefix(addr, "192.0.2.99:") {
				return nil, fmt.Errorf("%s does not answer", addr)
			}
			var d net.Dialer
			return d.DialContext(ctx, network, upstream)
		},
		Log: slog.New(slog.DiscardHandler),
	}, limits{question: patience, forward: patience, attempt: patience}, func() time.Time { return began })
	t.Cleanup(s.Stop)
	return packets.LocalAddr().String()
}

func resolvConf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "resolv.conf")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func ask(t *testing.T, server, network, name string, kind uint16, change ...func(*dns.Msg)) *dns.Msg {
	t.Helper()
	q := new(dns.Msg).SetQuestion(name, kind)
	for _, f := range change {
		f(q)
	}
	a, _, err := (&dns.Client{Net: network, UDPSize: dns.MaxMsgSize, Timeout: patience}).Exchange(q, server)
	require.NoError(t, err, name)
	return a
}

// said are the records of a section without their times and sorted, for comparison.
func said(rrs []dns.RR) []string {
	var all []string
	for _, rr := range rrs {
		fields := strings.Fields(rr.String())
		all = append(all, strings.Join(append(fields[:1:1], fields[3:]...), " "))
	}
	slices.Sort(all)
	return all
}

func TestRecords(t *testing.T) {
	t.Parallel()
	server := serve(t, cluster(), resolvConf(t, "nameserver 192.0.2.53\n"), upstream(t))
	const svc = ".ns.svc.cluster.local."
	nobody := dns.RcodeNameError
	for name, c := range map[string]struct {
		name string
		kind uint16
		code int
		want []string
	}{
		"service":                   {"web" + svc, dns.TypeA, 0, []string{"web" + svc + " A 10.96.0.10"}},
		"in capitals":               {"WEB.ns.SVC.cluster.local.", dns.TypeA, 0, []string{"web" + svc + " A 10.96.0.10"}},
		"no IPv6":                   {"web" + svc, dns.TypeAAAA, 0, nil},
		"no such service":           {"wep" + svc, dns.TypeA, nobody, nil},
		"no such namespace":         {"web.sn.svc.cluster.local.", dns.TypeA, nobody, nil},
		"search list on a full one": {"far.example.ns.svc.cluster.local.", dns.TypeA, nobody, nil},
		"headless": {"job" + svc, dns.TypeA, 0, []string{
			"job" + svc + " A 10.88.0.2", "job" + svc + " A 10.88.0.3", "job" + svc + " A 10.88.0.4",
		}},
		"headless without pods":    {"nobody" + svc, dns.TypeA, nobody, nil},
		"pod with a host name":     {"worker-1.job" + svc, dns.TypeA, 0, []string{"worker-1.job" + svc + " A 10.88.0.3"}},
		"pod without one":          {"10-88-0-4.job" + svc, dns.TypeA, 0, []string{"10-88-0-4.job" + svc + " A 10.88.0.4"}},
		"pod that is not ready":    {"worker-2.job" + svc, dns.TypeA, nobody, nil},
		"pod of a plain service":   {"10-88-0-9.web" + svc, dns.TypeA, nobody, nil},
		"pod by address":           {"10-88-7-8.ns.pod.cluster.local.", dns.TypeA, 0, []string{"10-88-7-8.ns.pod.cluster.local. A 10.88.7.8"}},
		"stranger by address":      {"127-0-0-1.ns.pod.cluster.local.", dns.TypeA, nobody, nil},
		"port of a service":        {"_http._tcp.web" + svc, dns.TypeSRV, 0, []string{"_http._tcp.web" + svc + " SRV 0 1 80 web" + svc}},
		"port of another protocol": {"_http._udp.web" + svc, dns.TypeSRV, nobody, nil},
		"address of a port":        {"_http._tcp.web" + svc, dns.TypeA, 0, nil},
		"all ports":                {"web" + svc, dns.TypeSRV, 0, []string{"web" + svc + " SRV 0 1 53 web" + svc, "web" + svc + " SRV 0 1 80 web" + svc}},
		"ports of a headless one": {"_http._tcp.job" + svc, dns.TypeSRV, 0, []string{
			"_http._tcp.job" + svc + " SRV 0 1 8080 10-88-0-4.job" + svc, "_http._tcp.job" + svc + " SRV 0 1 8080 worker-0.job" + svc,
			"_http._tcp.job" + svc + " SRV 0 1 8080 worker-1.job" + svc,
		}},
		"name for another service":  {"other" + svc, dns.TypeA, 0, []string{"other" + svc + " CNAME web" + svc, "web" + svc + " A 10.96.0.10"}},
		"name for something far":    {"far" + svc, dns.TypeA, 0, []string{"far.example. A 192.0.2.1", "far" + svc + " CNAME far.example."}},
		"name of a name":            {"far" + svc, dns.TypeCNAME, 0, []string{"far" + svc + " CNAME far.example."}},
		"address of a service":      {"10.0.96.10.in-addr.arpa.", dns.TypePTR, 0, []string{"10.0.96.10.in-addr.arpa. PTR web" + svc}},
		"address of a pod":          {"2.0.88.10.in-addr.arpa.", dns.TypePTR, 0, []string{"2.0.88.10.in-addr.arpa. PTR worker-0.job" + svc}},
		"address of nobody":         {"99.0.88.10.in-addr.arpa.", dns.TypePTR, nobody, nil},
		"namespace":                 {"ns.svc.cluster.local.", dns.TypeA, 0, nil},
		"no zone for services":      {"x.cluster.local.", dns.TypeA, nobody, nil},
		"version":                   {"dns-version.cluster.local.", dns.TypeTXT, 0, []string{`dns-version.cluster.local. TXT "1.1.0"`}},
		"elsewhere":                 {"far.example.", dns.TypeA, 0, []string{"far.example. A 192.0.2.1"}},
		"a half name":               {"worker-0.job.ns.svc.", dns.TypeA, nobody, nil},
		"nowhere":                   {"none.example.", dns.TypeA, nobody, nil},
		"address elsewhere":         {"1.2.0.192.in-addr.arpa.", dns.TypePTR, nobody, nil},
		"names for each other loop": {"loop" + svc, dns.TypeA, dns.RcodeServerFailure, slices.Repeat([]string{"loop" + svc + " CNAME loop" + svc}, maxChain)},
	} {
		for _, network := range []string{"udp", "tcp"} {
			t.Run(name+" by "+network, func(t *testing.T) {
				t.Parallel()
				a := ask(t, server, network, c.name, c.kind)
				require.Equal(t, dns.RcodeToString[c.code], dns.RcodeToString[a.Rcode])
				require.Equal(t, c.want, said(a.Answer))
			})
		}
	}
	t.Run("addresses of targets", func(t *testing.T) {
		t.Parallel()
		a := ask(t, server, "udp", "_http._tcp.job"+svc, dns.TypeSRV)
		require.Equal(t, []string{"10-88-0-4.job" + svc + " A 10.88.0.4", "worker-0.job" + svc + " A 10.88.0.2", "worker-1.job" + svc + " A 10.88.0.3"}, said(a.Extra))
	})
	t.Run("a refusal says how long it is good for", func(t *testing.T) {
		t.Parallel()
		a := ask(t, server, "udp", "wep"+svc, dns.TypeA)
		require.Len(t, a.Ns, 1)
		require.EqualValues(t, ttl, a.Ns[0].(*dns.SOA).Minttl)
	})
}

func TestLongAnswers(t *testing.T) {
	t.Parallel()
	server := serve(t, cluster(), resolvConf(t, "nameserver 192.0.2.53\n"), upstream(t))
	short := ask(t, server, "udp", "many.example.", dns.TypeA)
	require.True(t, short.Truncated)
	require.Less(t, len(short.Answer), 200)
	long := ask(t, server, "tcp", "many.example.", dns.TypeA)
	require.False(t, long.Truncated)
	require.Len(t, long.Answer, 200)
	roomy := ask(t, server, "udp", "many.example.", dns.TypeA, func(q *dns.Msg) { q.SetEdns0(8192, false) })
	require.False(t, roomy.Truncated)
	require.Len(t, roomy.Answer, 200)
	require.NotNil(t, roomy.IsEdns0())
	local := ask(t, server, "udp", "web.ns.svc.cluster.local.", dns.TypeA, func(q *dns.Msg) { q.SetEdns0(1232, false) })
	require.NotNil(t, local.IsEdns0())
}

func TestServersAreThoseOfTheMachineAtTheTime(t *testing.T) {
	t.Parallel()
	file := resolvConf(t, "search x\n")
	server := serve(t, cluster(), file, upstream(t))
	require.Equal(t, dns.RcodeServerFailure, ask(t, server, "udp", "none.example.", dns.TypeA).Rcode, "the file names none")

	require.NoError(t, os.WriteFile(file, []byte("nameserver 192.0.2.99\nnameserver 127.0.0.53\n"), 0o600))
	a := ask(t, server, "udp", "far.example.", dns.TypeA)
	require.Equal(t, []string{"far.example. A 192.0.2.1"}, said(a.Answer), "the first is down, the second answers")

	require.NoError(t, os.Remove(file))
	require.Equal(t, dns.RcodeServerFailure, ask(t, server, "udp", "many.example.", dns.TypeA).Rcode)
	require.Equal(t, []string{"far.example. A 192.0.2.1"}, said(ask(t, server, "tcp", "FAR.example.", dns.TypeA).Answer), "still known")
}

func TestAnswersFromOutsideAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	now := time.Now()
	question := func(name string) dns.Question {
		return dns.Question{Name: name, Qtype: dns.TypeA, Qclass: dns.ClassINET}
	}
	answer := func(code int, ttls ...uint32) *dns.Msg {
		a := new(dns.Msg).SetRcode(new(dns.Msg).SetQuestion("a.b.", dns.TypeA), code)
		for _, ttl := range ttls {
			h := header("a.b.", dns.TypeA)
			h.Ttl = ttl
			a.Answer = append(a.Answer, &dns.A{Hdr: h, A: net.IPv4(192, 0, 2, 1)})
		}
		return a
	}
	cut := answer(dns.RcodeSuccess, 60)
	cut.Truncated = true
	for name, c := range map[string]struct {
		answer *dns.Msg
		keep   time.Duration
	}{
		"as long as the shortest record":   {answer(dns.RcodeSuccess, 60, 7), 7 * time.Second},
		"no longer than half a minute":     {answer(dns.RcodeSuccess, 3600), longestKept},
		"not at all if the record says so": {answer(dns.RcodeSuccess, 0), 0},
		"no such name":                     {answer(dns.RcodeNameError), refusalKept},
		"no such record":                   {answer(dns.RcodeSuccess), refusalKept},
		"nobody answered":                  {answer(dns.RcodeServerFailure), failureKept},
		"cut":                              {cut, 0},
	} {
		var kept cache
		kept.put(question("a.b."), c.answer, now)
		if c.keep > 0 {
			a := kept.get(question("A.b."), now.Add(c.keep-time.Nanosecond))
			require.NotNil(t, a, name)
			require.Equal(t, "A.b.", a.Question[0].Name)
		}
		require.Nil(t, kept.get(question("a.b."), now.Add(c.keep)), name)
	}
	var kept cache
	kept.put(question("a.b."), answer(dns.RcodeSuccess, 20), now)
	require.EqualValues(t, 15, kept.get(question("a.b."), now.Add(5*time.Second)).Answer[0].Header().Ttl)
	for i := range 3 * cacheEntries {
		kept.put(question(fmt.Sprintf("%d.b.", i)), answer(dns.RcodeSuccess, 20), now)
		require.LessOrEqual(t, len(kept.entries), cacheEntries)
	}
}

func TestWhatIsNoQuestionIsRefused(t *testing.T) {
	t.Parallel()
	server := serve(t, cluster(), resolvConf(t, ""), "")
	for code, change := range map[int]func(*dns.Msg){
		dns.RcodeNotImplemented: func(q *dns.Msg) { q.Opcode = dns.OpcodeStatus },
		dns.RcodeRefused:        func(q *dns.Msg) { q.Question[0].Qclass = dns.ClassCHAOS },
	} {
		a := ask(t, server, "udp", "web.ns.svc.cluster.local.", dns.TypeA, change)
		require.Equal(t, dns.RcodeToString[code], dns.RcodeToString[a.Rcode])
	}
}

func FuzzNames(f *testing.F) {
	f.Add("web.ns.svc.cluster.local.", uint16(1))
	f.Add("_._.job.ns.svc.cluster.local.", uint16(33))
	f.Add(".in-addr.arpa.", uint16(12))
	r := &records{directory: cluster(), pods: netip.MustParsePrefix("10.88.0.0/16"), services: netip.MustParsePrefix("10.96.0.0/16")}
	f.Fuzz(func(t *testing.T, name string, kind uint16) {
		if !r.owns(name) {
			return
		}
		a := r.lookup(name, kind)
		if a.code == dns.RcodeNameError && len(a.rrs) > 0 {
			t.Fatalf("%q does not exist and stands for %v", name, a.rrs)
		}
	})
}
