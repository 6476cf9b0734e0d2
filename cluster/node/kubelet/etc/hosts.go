package etc

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hostsFile is a pod's /etc/hosts: the pod itself, under its full name when it has a subdomain, and the rows it asks for. The name
// server answers for all other names. The form is that of Kubernetes' own kubelet, which scripts look for.
func hostsFile(o *corev1.Pod, addr netip.Addr) []byte {
	var b bytes.Buffer
	row := func(ip string, names ...string) { fmt.Fprintf(&b, "%s\t%s\n", ip, strings.Join(names, "\t")) }
	b.WriteString("# Kubernetes-managed hosts file.\n")
	row("127.0.0.1", "localhost")
	row("::1", "localhost ip6-localhost ip6-loopback")
	row("fe00::0", "ip6-localnet")
	row("fe00::0", "ip6-mcastprefix")
	row("fe00::1", "ip6-allnodes")
	row("fe00::2", "ip6-allrouters")
	names := []string{Hostname(o)}
	if o.Spec.Subdomain != "" {
		full := strings.Join([]string{names[0], o.Spec.Subdomain, o.Namespace, "svc", clusterDomain}, ".")
		names = append([]string{full}, names...)
	}
	row(addr.String(), names...)
	if len(o.Spec.HostAliases) > 0 {
		b.WriteString("\n# Entries added by HostAliases.\n")
	}
	for _, a := range o.Spec.HostAliases {
		row(a.IP, a.Hostnames...)
	}
	return b.Bytes()
}
