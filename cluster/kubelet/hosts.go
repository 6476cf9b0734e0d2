package kubelet

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hostsFile is a pod's /etc/hosts: the pod itself, under its full name when it
// has a subdomain, and the rows it asks for. All other names are the name server's affair.
func hostsFile(o *corev1.Pod, addr netip.Addr) []byte {
	var b bytes.Buffer
	b.WriteString("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
	names := []string{hostnameOf(o)}
	if o.Spec.Subdomain != "" {
		full := strings.Join([]string{names[0], o.Spec.Subdomain, o.Namespace, "svc", clusterDomain}, ".")
		names = append([]string{full}, names...)
	}
	fmt.Fprintf(&b, "%s %s\n", addr, strings.Join(names, " "))
	for _, a := range o.Spec.HostAliases {
		fmt.Fprintf(&b, "%s %s\n", a.IP, strings.Join(a.Hostnames, " "))
	}
	return b.Bytes()
}
