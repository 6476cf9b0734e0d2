package etc

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestResolvers(t *testing.T) {
	t.Parallel()
	host := parseResolver([]byte("# of the machine\nnameserver 192.0.2.1\ndomain old\nsearch corp.example lab.example .\noptions timeout:1 rotate\nnonsense\n"))
	require.Equal(t, resolver{[]string{"192.0.2.1"}, []string{"corp.example", "lab.example"}, []string{"timeout:1", "rotate"}}, host)
	for name, c := range map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"nothing said": {corev1.PodSpec{}, "nameserver 10.88.0.1\nsearch ns.svc.cluster.local svc.cluster.local cluster.local corp.example lab.example\noptions ndots:5 timeout:1 rotate\n"},
		"Default":      {corev1.PodSpec{DNSPolicy: corev1.DNSDefault}, "nameserver 10.88.0.1\nsearch corp.example lab.example\noptions timeout:1 rotate\n"},
		"ClusterFirst on the host's network": {
			corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst, HostNetwork: true},
			"nameserver 10.88.0.1\nsearch corp.example lab.example\noptions timeout:1 rotate\n",
		},
		"None": {
			corev1.PodSpec{DNSPolicy: corev1.DNSNone, DNSConfig: &corev1.PodDNSConfig{
				Nameservers: []string{"1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"}, Searches: []string{"a.b"},
				Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr("2")}, {Name: "edns0"}},
			}},
			"nameserver 1.1.1.1\nnameserver 2.2.2.2\nnameserver 3.3.3.3\nsearch a.b\noptions ndots:2 edns0\n",
		},
		"more said": {
			corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst, DNSConfig: &corev1.PodDNSConfig{
				Nameservers: []string{"10.88.0.1", "1.1.1.1"}, Searches: []string{"a.b"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr("1")}},
			}},
			"nameserver 10.88.0.1\nnameserver 1.1.1.1\nsearch ns.svc.cluster.local svc.cluster.local cluster.local corp.example lab.example a.b\noptions timeout:1 rotate ndots:1\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns"}}
			o.Spec = c.spec
			require.Equal(t, c.want, string(resolverOf(o, host).render()))
		})
	}
}

func TestHostnames(t *testing.T) {
	t.Parallel()
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns"}}
	name, err := KernelHostname(o)
	require.NoError(t, err)
	require.Equal(t, "p", name)
	o.Spec.Hostname, o.Spec.Subdomain, o.Spec.SetHostnameAsFQDN = "h", "sub", ptr(true)
	name, err = KernelHostname(o)
	require.NoError(t, err)
	require.Equal(t, "h.sub.ns.svc.cluster.local", name)
	o.Spec.Subdomain = strings.Repeat("s", 50)
	_, err = KernelHostname(o)
	require.ErrorContains(t, err, "more than 64 characters")
	o.Spec.HostAliases = []corev1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"a", "b.example"}}, {IP: "192.0.2.8", Hostnames: []string{"c"}}}
	o.Spec.Subdomain = "sub"
	require.Equal(t, strings.ReplaceAll(`# Kubernetes-managed hosts file.
127.0.0.1 > localhost
::1 > localhost ip6-localhost ip6-loopback
fe00::0 > ip6-localnet
fe00::0 > ip6-mcastprefix
fe00::1 > ip6-allnodes
fe00::2 > ip6-allrouters
10.88.0.7 > h.sub.ns.svc.cluster.local > h

# Entries added by HostAliases.
192.0.2.7 > a > b.example
192.0.2.8 > c
`, " > ", "\t"), string(hostsFile(o, netip.MustParseAddr("10.88.0.7"))))
}

func ptr[T any](v T) *T { return &v }
