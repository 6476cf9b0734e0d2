package test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// installPeer builds the program of these tests into the folder that every pod sees.
func (c *cluster) installPeer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(c.home.Shared(), "peer-"+c.namespace)
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "./peer")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Cleanup(func() { require.NoError(t, os.Remove(path)) })
	return path
}

// peerPod makes a pod that runs the program with arguments.
func peerPod(name, program string, args ...string) *corev1.Pod {
	p := podOf(name, "")
	p.Labels = map[string]string{"app": name}
	p.Spec.Containers[0].Command = append([]string{program}, args...)
	p.Spec.TerminationGracePeriodSeconds = ptr(int64(0))
	return p
}

// said runs a pod to its end and returns what it printed.
func (c *cluster) said(t *testing.T, p *corev1.Pod) string {
	t.Helper()
	phase, log := c.outcome(t, p)
	require.Equal(t, corev1.PodSucceeded, phase, log)
	return log
}

// outcome runs a pod and gives how it ended and what it printed.
func (c *cluster) outcome(t *testing.T, p *corev1.Pod) (corev1.PodPhase, string) {
	t.Helper()
	p.GenerateName, p.Name = p.Name+"-", ""
	p, err := c.kube.CoreV1().Pods(c.namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	p = c.awaitPod(t, p.Name, "ends", ended)
	return p.Status.Phase, c.logOf(t, p.Name)
}

func (c *cluster) createService(t *testing.T, name string, spec corev1.ServiceSpec) *corev1.Service {
	t.Helper()
	if spec.Type != corev1.ServiceTypeExternalName && spec.Selector == nil {
		spec.Selector = map[string]string{"app": name}
	}
	s, err := c.kube.CoreV1().Services(c.namespace).Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	return s
}

var webPorts = []corev1.ServicePort{
	{Name: "web", Port: 80, TargetPort: intstr.FromInt32(8080), Protocol: corev1.ProtocolTCP},
	{Name: "talk", Port: 80, TargetPort: intstr.FromInt32(8080), Protocol: corev1.ProtocolUDP},
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// awaitEndpoints waits until as many addresses stand behind a Service.
func (c *cluster) awaitEndpoints(t *testing.T, service string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s has %d endpoints", service, n), func(ctx context.Context) bool {
		slices, err := c.kube.DiscoveryV1().EndpointSlices(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + service})
		require.NoError(t, err)
		found := 0
		for _, s := range slices.Items {
			for _, e := range s.Endpoints {
				if *e.Conditions.Ready {
					found += len(e.Addresses)
				}
			}
		}
		return found == n
	})
}

// awaitAnswer waits until a pod that asks an address gets the answer.
func (c *cluster) awaitAnswer(t *testing.T, peer, addr, answer string) {
	t.Helper()
	eventually(t, addr+" says "+answer, func(context.Context) bool {
		_, said := c.outcome(t, peerPod("client", peer, "ask", "tcp", addr)) // it fails while what it asks comes or goes
		return strings.Contains(said, answer)
	})
}

func TestServices(t *testing.T) {
	t.Parallel()
	c := shared(t)
	peer := c.installPeer(t)
	for _, name := range []string{"web-0", "web-1"} {
		p := peerPod(name, peer, "serve", name, "8080")
		p.Labels["app"], p.Spec.Hostname, p.Spec.Subdomain = "web", name, "webs"
		c.createPod(t, p)
	}
	web := c.createService(t, "web", corev1.ServiceSpec{Ports: webPorts})
	c.createService(t, "webs", corev1.ServiceSpec{Ports: webPorts, ClusterIP: corev1.ClusterIPNone, Selector: web.Spec.Selector})
	node := c.createService(t, "node", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: webPorts, Selector: web.Spec.Selector})
	c.createService(t, "nobody", corev1.ServiceSpec{Ports: webPorts})
	c.createService(t, "alias", corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "web." + c.namespace + ".svc.cluster.local"})
	for _, service := range []string{"web", "webs", "node"} {
		c.awaitEndpoints(t, service, 2)
	}
	for _, addr := range []string{"web-0.webs:8080", "web-1.webs:8080", fmt.Sprintf("10.88.0.2:%d", node.Spec.Ports[0].NodePort), "alias:80"} { // the node receives each over a watch
		c.awaitAnswer(t, peer, addr, "hello")
	}
	pod := c.awaitPod(t, "web-1", "is ready", isReady)

	domain := "." + c.namespace + ".svc.cluster.local"
	lines := func(t *testing.T, args ...string) []string {
		t.Helper()
		return strings.Split(strings.TrimSpace(c.said(t, peerPod("client", peer, args...))), "\n")
	}
	t.Run("by name, over TCP and UDP, every pod in turn", func(t *testing.T) {
		t.Parallel()
		for _, network := range []string{"tcp", "udp"} {
			answers := lines(t, append([]string{"ask", network}, slices.Repeat([]string{"web:80"}, 40)...)...)
			require.Contains(t, answers, "web:80 says web-0 hello")
			require.Contains(t, answers, "web:80 says web-1 hello")
		}
	})
	t.Run("under all names", func(t *testing.T) {
		t.Parallel()
		answers := lines(t, "ask", "tcp", "web-0.webs:8080", "web-1.webs"+domain+":8080", "alias:80", "nobody:80", "kubernetes.default:80",
			fmt.Sprintf("10.88.0.2:%d", node.Spec.Ports[0].NodePort))
		require.Equal(t, "web-0.webs:8080 says web-0 hello", answers[0])
		require.Equal(t, "web-1.webs"+domain+":8080 says web-1 hello", answers[1])
		require.Regexp(t, `^alias:80 says web-\d hello$`, answers[2])
		require.Equal(t, "nobody:80 says refused", answers[3])
		require.Equal(t, "kubernetes.default:80 says refused", answers[4], "it has another port")
		require.Regexp(t, `says web-\d hello$`, answers[5])
	})
	t.Run("names are those of Kubernetes", func(t *testing.T) {
		t.Parallel()
		for _, q := range []struct{ kind, name, want string }{
			{"host", "web", web.Spec.ClusterIP},
			{"host", "web-1.webs", pod.Status.PodIP},
			{"host", "web-1", "unknown"},
			{"host", "no-such-service", "unknown"},
			{"host", strings.ReplaceAll(pod.Status.PodIP, ".", "-") + "." + c.namespace + ".pod.cluster.local", pod.Status.PodIP},
			{"cname", "alias" + domain, "web" + domain + "."},
			{"srv", "_web._tcp.webs" + domain, "web-0.webs" + domain + ".:8080 web-1.webs" + domain + ".:8080"},
			{"ptr", web.Spec.ClusterIP, "web" + domain + "."},
		} {
			require.Equal(t, []string{q.name + " is " + q.want}, lines(t, "lookup", q.kind, q.name))
		}
	})
	t.Run("pods that are not ready have names where the Service wants that", func(t *testing.T) {
		t.Parallel()
		early := peerPod("early", peer, "serve", "early", "8080")
		early.Spec.Hostname, early.Spec.Subdomain = "early", "early"
		early.Spec.InitContainers = []corev1.Container{{Name: "forever", Image: "host", Command: []string{"sleep", "1000"}}}
		c.createPod(t, early)
		c.createService(t, "early", corev1.ServiceSpec{Ports: webPorts, ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true})
		c.createService(t, "strict", corev1.ServiceSpec{Ports: webPorts, ClusterIP: corev1.ClusterIPNone, Selector: early.Labels})
		c.awaitEndpoints(t, "early", 1)
		p := c.awaitPod(t, "early", "has an address", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
		eventually(t, "early has a name", func(context.Context) bool {
			return slices.Equal([]string{"early.early is " + p.Status.PodIP}, lines(t, "lookup", "host", "early.early"))
		})
		require.Equal(t, []string{"strict is unknown"}, lines(t, "lookup", "host", "strict"))
	})
	t.Run("the C library finds them too", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, web.Spec.ClusterIP, strings.Fields(c.said(t, podOf("getent", "getent hosts web")))[0])
	})
	t.Run("so does nslookup", func(t *testing.T) {
		t.Parallel()
		said := c.said(t, podOf("nslookup", "nslookup web; nslookup web."+c.namespace+".svc; nslookup nowhere || true"))
		found := "Name:\tweb." + c.namespace + ".svc.cluster.local\nAddress: " + web.Spec.ClusterIP + "\n"
		require.Equal(t, 2, strings.Count(said, found), said)
		require.Contains(t, said, "server can't find nowhere: NXDOMAIN", said)
	})
	t.Run("the apiserver and the object store are Services", func(t *testing.T) {
		t.Parallel()
		out := c.said(t, podOf("api", `set -e
token=$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)
curl -sS --cacert /var/run/secrets/kubernetes.io/serviceaccount/ca.crt -H "Authorization: Bearer $token" https://kubernetes.default.svc/version
curl -sS --cacert /var/run/secrets/kubernetes.io/serviceaccount/ca.crt -H "Authorization: Bearer $token" https://10.96.0.1/version
curl -sS -o /dev/null -w 'store %{http_code}\n' http://minio-service.kubeflow:9000/`))
		require.Equal(t, 2, strings.Count(out, "gitVersion"), out)
		require.Contains(t, out, "store 403\n")
	})
}

func TestServicesFollowTheirPods(t *testing.T) {
	t.Parallel()
	c := shared(t)
	peer := c.installPeer(t)
	c.createPod(t, peerPod("web", peer, "serve", "web", "8080"))
	c.createService(t, "web", corev1.ServiceSpec{Ports: webPorts})
	c.awaitAnswer(t, peer, "web:80", "hello")
	c.createPod(t, peerPod("holder", peer, "hold", "web:80"))
	c.awaitLog(t, "holder", "still there 1")
	require.NoError(t, c.kube.CoreV1().Services(c.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}))
	again := c.createService(t, "web", corev1.ServiceSpec{Ports: webPorts})
	c.awaitAnswer(t, peer, "web:80", "web hello")
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}))
	c.awaitAnswer(t, peer, again.Spec.ClusterIP+":80", "refused")
	p := c.awaitPod(t, "holder", "ends", ended)
	require.Equal(t, corev1.PodFailed, p.Status.Phase, "its peer is gone")
}

// outside is an address of this machine other than loopback's. A machine without a network has none, and nothing that this test could reach.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but loopback's; package uplink makes one for its tests")
	return ""
}

// serveCode serves a git repository on an address of this machine and returns its URL.
func serveCode(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", outside(t)+":0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.FileServer(http.Dir(gitRepository(t)))}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return "http://" + l.Addr().String() + "/code.git"
}

// testClone is how articles bring their code into pods.
func (c *cluster) testClone(t *testing.T) {
	require.Equal(t, "print('training')\n", c.said(t, podOf("clone", "git clone -q "+serveCode(t)+" /tmp/code && cat /tmp/code/train.py")))
}

func TestUplink(t *testing.T) {
	t.Parallel()
	c := shared(t)
	peer := c.installPeer(t)
	code := serveCode(t)
	t.Run("the cluster and the machine itself are not reached that way", func(t *testing.T) {
		t.Parallel()
		api, err := url.Parse(c.config.Host)
		require.NoError(t, err)
		targets := []string{outside(t) + ":" + api.Port(), "169.254.169.254:80", "10.96.200.200:80"}
		var want []string
		for _, a := range targets {
			want = append(want, a+" says refused")
		}
		require.Equal(t, strings.Join(want, "\n")+"\n", c.said(t, peerPod("client", peer, append([]string{"ask", "tcp"}, targets...)...)))
	})
	t.Run("pods on the host's network share the sandbox's", func(t *testing.T) {
		t.Parallel()
		p := podOf("host", "git clone -q "+code+" /tmp/code && getent hosts minio-service.kubeflow && ls /tmp/code", func(s *corev1.PodSpec) {
			s.HostNetwork, s.DNSPolicy = true, corev1.DNSClusterFirstWithHostNet
		})
		require.Contains(t, c.said(t, p), "train.py\n")
		eventually(t, "an event says so", func(ctx context.Context) bool {
			events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=SharedNetwork"})
			require.NoError(t, err)
			return len(events.Items) == 1 && strings.Contains(events.Items[0].Message, "10.88.0.2")
		})
	})
}

// gitRepository makes a repository that a plain web server can serve.
func gitRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "train.py"), []byte("print('training')\n"), 0o600))
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "code"},
		{"clone", "-q", "--bare", ".", filepath.Join(dir, "code.git")},
		{"-C", filepath.Join(dir, "code.git"), "update-server-info"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", args, out)
	}
	return dir
}

// What pods have open is held by the sandbox, not by the kubelet or those that serve the API.
func TestConnectionsOutliveTheKubeletAndTheAPI(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir())
	peer := c.installPeer(t)
	c.createPod(t, peerPod("web", peer, "serve", "web", "8080"))
	c.createService(t, "web", corev1.ServiceSpec{Ports: webPorts})
	c.awaitAnswer(t, peer, "web:80", "hello")
	c.createPod(t, peerPod("holder", peer, "hold", "web:80"))
	c.awaitLog(t, "holder", "still there 1\n")

	c.testClone(t)
	c.kill(t, c.process(t, "argosy-cluster", "uplink", string(c.home)))
	c.testClone(t)

	c.kill(t, c.kubeletProcess(t))
	c.awaitAnswer(t, peer, "web:80", "hello")
	seen := strings.Count(c.logOf(t, "holder"), "\n")
	c.awaitLog(t, "holder", fmt.Sprintf("still there %d\n", seen+5))

	before := c.pids(t)["apiserver"]
	c.kill(t, before)
	eventually(t, "the apiserver is back", func(ctx context.Context) bool {
		return c.pids(t)["apiserver"] != before && c.kube.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
	})
	c.createService(t, "late", corev1.ServiceSpec{Ports: webPorts, Selector: map[string]string{"app": "web"}})
	eventually(t, "a new Service has an answer", func(ctx context.Context) bool {
		return strings.HasPrefix(c.said(t, peerPod("client", peer, "lookup", "host", "late")), "late is 10.96.")
	})
	seen = strings.Count(c.logOf(t, "holder"), "\n")
	c.awaitLog(t, "holder", fmt.Sprintf("still there %d\n", seen+5))
}

func (c *cluster) logOf(t *testing.T, pod string) string {
	t.Helper()
	b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(t.Context())
	require.NoError(t, err)
	return string(b)
}
