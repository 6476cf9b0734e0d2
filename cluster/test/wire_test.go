package test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestPodsAreApartOnTheNetwork has pods answer for others' addresses, send under them and listen to what they say, as root of the machine
// and as ordinary users.
func TestPodsAreApartOnTheNetwork(t *testing.T) {
	t.Parallel()
	t.Run("shared cluster", func(t *testing.T) { networkApartTests(t, shared(t)) })
	asOrdinaryUsers(t, networkApartTests)
}

func networkApartTests(t *testing.T, c *cluster) {
	peer := c.installPeer(t)
	for name, test := range map[string]func(*testing.T, string){
		"claimed addresses":              c.testClaimedAddresses,
		"forged senders":                 c.testForgedSenders,
		"keys on the way to S3":          c.testSniffedKeys,
		"addresses of others' Services":  c.testSquattedServices,
		"rights over the node's network": c.testNetworkRights,
		"namespaces of others":           c.testOthersNamespaces,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, peer)
		})
	}
}

// startPeer runs the program in a pod until it says that it is ready, and returns the pod's address.
func (c *cluster) startPeer(t *testing.T, ready string, p *corev1.Pod) string {
	t.Helper()
	c.createPod(t, p)
	c.awaitLog(t, p.Name, ready)
	return c.awaitPod(t, p.Name, "has an address", func(p *corev1.Pod) bool { return p.Status.PodIP != "" }).Status.PodIP
}

// A pod that says that the gateway's and a server's addresses are its own gets nothing that is meant for them.
func (c *cluster) testClaimedAddresses(t *testing.T, peer string) {
	server := c.startPeer(t, "serving", peerPod("claimed", peer, "serve", "server", "8080"))
	ear := peerPod("claimer", peer, "sniff", "secret-of-claims", "end-of-claims")
	ear.Spec.Containers = append(ear.Spec.Containers, corev1.Container{Name: "mouth", Image: "host", Command: []string{peer, "claim", server, "10.88.0.1"}})
	c.startPeer(t, "sniffing", ear)
	eventually(t, "the addresses are claimed", func(ctx context.Context) bool {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("claimer", &corev1.PodLogOptions{Container: "mouth"}).DoRaw(ctx)
		return err == nil && string(b) == "claiming\n"
	})
	require.Equal(t, "answered each time\n", c.said(t, peerPod("claim-client", peer, "repeat", server+":8080", "100", "secret-of-claims")))
	require.Contains(t, c.said(t, podOf("claim-names", peer+" lookup host secret-of-claims.default; "+peer+" lookup host kubernetes.default")), "kubernetes.default is 10.96.0.1")
	eventually(t, "the claimer hears its own request, of which the kernel may drop a frame", func(context.Context) bool {
		code, out, said := c.exec(t, "claimer", nil, peer, "repeat", server+":8080", "1", "end-of-claims")
		require.Zero(t, code, out+said)
		return strings.Contains(c.log(t, "claimer", "main"), "saw end-of-claims on eth0")
	})
	require.NotContains(t, c.log(t, "claimer", "main"), "secret-of-claims")
}

// What a pod sends under an address that is not its own arrives nowhere.
func (c *cluster) testForgedSenders(t *testing.T, peer string) {
	other := c.startPeer(t, "up", podOf("forged", "echo up; sleep 1000"))
	victim := c.startPeer(t, "listening", peerPod("forge-victim", peer, "listen", ":9999")) + ":9999"
	forger := c.startPeer(t, "up", podOf("forger", "echo up; sleep 1000"))
	for _, from := range []string{"10.88.0.1:53", "10.96.0.1:443", other + ":8080", "10.88.77.77:8080", "192.0.2.7:53", "127.0.0.1:53"} {
		code, out, said := c.exec(t, "forger", nil, peer, "spoof", from, victim, "forged")
		require.Zero(t, code, out+said)
	}
	code, out, said := c.exec(t, "forger", nil, peer, "spoof", forger+":7", victim, "honest")
	require.Zero(t, code, out+said)
	c.awaitLog(t, "forge-victim", forger+":7 says honest\n")
	require.Equal(t, "listening\n"+forger+":7 says honest\n", c.log(t, "forge-victim", "main"))
}

// What one pod says to the object store is seen by no other, on whichever network that is.
func (c *cluster) testSniffedKeys(t *testing.T, peer string) {
	put := func(word string) string {
		return "curl -s -o /dev/null -w '%{http_code}\\n' -H 'Authorization: " + word + "' http://minio-service.kubeflow:9000/mlpipeline/" + word
	}
	onNode := func(s *corev1.PodSpec) { s.HostNetwork, s.DNSPolicy = true, corev1.DNSClusterFirstWithHostNet }
	privileged := func(s *corev1.PodSpec) {
		s.HostNetwork = true
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr(true)}
	}
	c.startPeer(t, "sniffing", peerPod("ear", peer, "sniff", "secret-of-s3", "end-of-s3"))
	for name, change := range map[string]func(*corev1.PodSpec){"ear-on-node": onNode, "ear-privileged": privileged} {
		c.createPod(t, podOf(name, peer+" sniff secret-of-s3 || sleep 1000", change))
		eventually(t, name+" sniffs or may not", func(context.Context) bool {
			said, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(name, &corev1.PodLogOptions{}).DoRaw(t.Context())
			return err == nil && len(said) > 0
		})
	}
	require.Equal(t, "403\n", c.said(t, podOf("s3-client", put("secret-of-s3"))))
	require.Equal(t, "403\n", c.said(t, podOf("s3-client-on-node", put("secret-of-s3"), onNode)))
	eventually(t, "the ear hears its own request, of which the kernel may drop a frame", func(context.Context) bool {
		code, out, said := c.exec(t, "ear", nil, "sh", "-c", put("end-of-s3"))
		require.Zero(t, code, out+said)
		return strings.Contains(c.log(t, "ear", "main"), "saw end-of-s3 on eth0")
	})
	require.NotContains(t, c.log(t, "ear", "main"), "secret-of-s3")
	for _, name := range []string{"ear-on-node", "ear-privileged"} {
		require.Equal(t, "error: no packet socket: operation not permitted\n", c.log(t, name, "main"), name)
	}
}

// A pod on the node's network has an address there, and none of those of Services: it cannot answer in their place.
func (c *cluster) testSquattedServices(t *testing.T, peer string) {
	empty := c.createService(t, "squatted", corev1.ServiceSpec{Ports: webPorts})
	onNode := func(s *corev1.PodSpec) { s.HostNetwork = true }
	for _, addr := range []string{empty.Spec.ClusterIP + ":80", "10.88.0.1:8888"} {
		p := c.runPod(t, podOf("squatter-"+strings.NewReplacer(".", "-", ":", "-").Replace(addr), peer+" listen "+addr, onNode))
		require.Equal(t, "error: listen udp4 "+addr+": bind: cannot assign requested address\n", c.log(t, p.Name, "main"))
	}
	require.Equal(t, "eth0 lo \n", c.said(t, podOf("links", "ls /sys/class/net | tr '\\n' ' '; echo", onNode)))
	address := c.startPeer(t, "serving", peerPod("on-node", peer, "serve", "on-node", "8081"))
	require.Contains(t, c.said(t, peerPod("asks-node", peer, "ask", "tcp", address+":8081")), "says on-node hello")
}

// No pod has rights over the network at the other end of its link, whatever it asks for.
func (c *cluster) testNetworkRights(t *testing.T, peer string) {
	for name, own := range map[string]*corev1.SecurityContext{
		"network-usual":      nil,
		"network-admin":      {Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}},
		"network-privileged": {Privileged: ptr(true)},
	} {
		p := peerPod(name, peer, "reach")
		p.Spec.Containers[0].SecurityContext = own
		c.runPod(t, p)
		require.Equal(t, "interfaces made: 0\nerror: operation not permitted\n", c.log(t, name, "main"))
		if own != nil {
			c.awaitEvent(t, name, "NetAdminRefused", "does not get CAP_NET_ADMIN")
		}
	}
}

// A privileged pod opens no namespace but those that files of its own lead to: neither the sandbox's network nor the kubelet's mounts.
func (c *cluster) testOthersNamespaces(t *testing.T, peer string) {
	p := peerPod("namespaces", peer, "others")
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr(true)}
	c.runPod(t, p)
	require.Equal(t, "next mount namespace: operation not permitted\nnetwork by handle: operation not permitted\n", c.log(t, "namespaces", "main"))
}
