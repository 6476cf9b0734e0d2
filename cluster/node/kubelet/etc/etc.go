// Package etc makes the files of a pod in /etc: hosts, hostname and resolv.conf.
package etc

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// Folder is where a container finds the files that change while it runs. A link leads there. A mount of the file itself could not be
// replaced atomically, and readers could see half of a file.
const Folder = "/run/argosy"

const (
	clusterDomain = "cluster.local"
	// maxHostname is the longest host name that Linux takes.
	maxHostname = 64
	// maxNameServers is how many the C library reads.
	maxNameServers = 3
)

// Hostname returns a pod's host name, cut to 63 characters as in Kubernetes.
func Hostname(o *corev1.Pod) string {
	name := cmp.Or(o.Spec.Hostname, o.Name)
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return name
}

// KernelHostname returns what `hostname` prints in a pod.
func KernelHostname(o *corev1.Pod) (string, error) {
	name := Hostname(o)
	if !podspec.IsTrue(o.Spec.SetHostnameAsFQDN) || o.Spec.Subdomain == "" {
		return name, nil
	}
	full := strings.Join([]string{name, o.Spec.Subdomain, o.Namespace, "svc", clusterDomain}, ".")
	if len(full) > maxHostname {
		return "", fmt.Errorf("setHostnameAsFQDN: %s has more than %d characters, which is all that Linux takes", full, maxHostname)
	}
	return full, nil
}

// Links are the entries in /etc of a container that is made of the machine's files. They lead to the pod's files.
var Links = []container.File{
	{Path: "/etc/hosts", Link: Folder + "/hosts"},
	{Path: "/etc/hostname", Link: Folder + "/hostname"},
	{Path: "/etc/resolv.conf", Link: Folder + "/resolv.conf"},
}

// Write writes a pod's files to the folder to which Links point.
func Write(folder string, pod *corev1.Pod, addr netip.Addr) error {
	files, err := Files(pod, addr)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(f.Path)), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Files returns a pod's files for containers that are made of an image. They are regular files, because Argo refuses artifacts of /etc
// with links that lead out of it.
func Files(pod *corev1.Pod, addr netip.Addr) ([]container.File, error) {
	name, err := KernelHostname(pod)
	if err != nil {
		return nil, err
	}
	// A machine may have none, and find names in another way.
	host, _ := os.ReadFile("/etc/resolv.conf")
	return []container.File{
		{Path: "/etc/hosts", Mode: 0o644, Data: hostsFile(pod, addr)},
		{Path: "/etc/hostname", Mode: 0o644, Data: []byte(name + "\n")},
		{Path: "/etc/resolv.conf", Mode: 0o644, Data: resolverOf(pod, parseResolver(host)).render()},
	}, nil
}

// resolver is what a resolv.conf says.
type resolver struct{ servers, search, options []string }

func parseResolver(file []byte) (r resolver) {
	for line := range strings.Lines(string(file)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "nameserver":
			r.servers = append(r.servers, fields[1])
		case "search", "domain": // the last one counts
			r.search = slices.DeleteFunc(slices.Clone(fields[1:]), func(s string) bool { return s == "." })
		case "options":
			r.options = append(r.options, fields[1:]...)
		}
	}
	return r
}

// resolverOf returns a pod's resolv.conf. The name server is always the node's own, which forwards what it does not know: pods usually
// cannot reach the machine's servers.
func resolverOf(o *corev1.Pod, host resolver) resolver {
	r := resolver{servers: []string{podnet.Gateway.String()}, search: host.search, options: host.options}
	switch policy := o.Spec.DNSPolicy; {
	case policy == corev1.DNSNone:
		r = resolver{}
	case policy == corev1.DNSDefault, policy == corev1.DNSClusterFirst && o.Spec.HostNetwork:
	default:
		svc := "svc." + clusterDomain
		r.search = append([]string{o.Namespace + "." + svc, svc, clusterDomain}, host.search...)
		r.options = append([]string{"ndots:5"}, host.options...)
	}
	if d := o.Spec.DNSConfig; d != nil {
		r.servers = append(r.servers, d.Nameservers...)
		r.search = append(r.search, d.Searches...)
		for _, option := range d.Options {
			r.setOption(option)
		}
	}
	r.servers = slices.Compact(r.servers)
	r.servers = r.servers[:min(len(r.servers), maxNameServers)]
	return r
}

// setOption sets an option, and replaces an earlier value.
func (r *resolver) setOption(o corev1.PodDNSConfigOption) {
	r.options = slices.DeleteFunc(slices.Clone(r.options), func(s string) bool {
		name, _, _ := strings.Cut(s, ":")
		return name == o.Name
	})
	text := o.Name
	if o.Value != nil && *o.Value != "" {
		text += ":" + *o.Value
	}
	r.options = append(r.options, text)
}

func (r resolver) render() []byte {
	var b bytes.Buffer
	for _, s := range r.servers {
		fmt.Fprintf(&b, "nameserver %s\n", s)
	}
	for _, row := range []struct {
		key    string
		values []string
	}{{"search", r.search}, {"options", r.options}} {
		if len(row.values) > 0 {
			fmt.Fprintf(&b, "%s %s\n", row.key, strings.Join(row.values, " "))
		}
	}
	return b.Bytes()
}
