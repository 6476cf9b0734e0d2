package kubelet

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

const (
	clusterDomain = "cluster.local"
	// maxHostname is the longest host name that Linux takes.
	maxHostname = 64
	// maxNameServers is how many the C library reads.
	maxNameServers = 3
)

// hostnameOf is the pod's host name: at most 63 characters, as Kubernetes has it.
func hostnameOf(o *corev1.Pod) string {
	name := cmp.Or(o.Spec.Hostname, o.Name)
	if len(name) > 63 {
		name = strings.TrimRight(name[:63], "-.")
	}
	return name
}

// kernelHostname is what `hostname` says in the pod.
func kernelHostname(o *corev1.Pod) (string, error) {
	name := hostnameOf(o)
	if !isTrue(o.Spec.SetHostnameAsFQDN) || o.Spec.Subdomain == "" {
		return name, nil
	}
	full := strings.Join([]string{name, o.Spec.Subdomain, o.Namespace, "svc", clusterDomain}, ".")
	if len(full) > maxHostname {
		return "", fmt.Errorf("setHostnameAsFQDN: %s has more than %d characters, which is all that Linux takes", full, maxHostname)
	}
	return full, nil
}

// etcLinks are what a container on the machine's files has in /etc in place of the pod's own files.
var etcLinks = []container.File{
	{Path: "/etc/hosts", Link: etcFolder + "/hosts"},
	{Path: "/etc/hostname", Link: etcFolder + "/hostname"},
	{Path: "/etc/resolv.conf", Link: etcFolder + "/resolv.conf"},
}

// writeEtc writes the pod's own files, to where the links lead.
func (p *pod) writeEtc() error {
	files, err := p.ownFiles()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(p.path(etcPart, filepath.Base(f.Path)), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles are the files of the pod in /etc of containers made of images: no links, or an artifact of /etc would be refused by Argo.
func (p *pod) ownFiles() ([]container.File, error) {
	name, err := kernelHostname(p.obj)
	if err != nil {
		return nil, err
	}
	// The machine may have none: its programs are configured otherwise.
	host, _ := os.ReadFile("/etc/resolv.conf")
	return []container.File{
		{Path: "/etc/hosts", Mode: 0o644, Data: hostsFile(p.obj, p.addr)},
		{Path: "/etc/hostname", Mode: 0o644, Data: []byte(name + "\n")},
		{Path: "/etc/resolv.conf", Mode: 0o644, Data: resolverOf(p.obj, parseResolver(host)).render()},
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

// resolverOf is how a pod finds names. Its name server is always the node's own, which knows the cluster and passes on
// what it does not know: the machine's servers are usually not reached from pods.
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

// setOption replaces what was said of the same option.
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
