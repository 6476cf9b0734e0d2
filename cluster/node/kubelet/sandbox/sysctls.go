package sandbox

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// namespacedSysctls maps the beginnings of files below /proc/sys that belong to a namespace to its kind.
var namespacedSysctls = map[string]string{
	"kernel/shm": "ipc", "kernel/msg": "ipc", "kernel/sem/": "ipc", "fs/mqueue/": "ipc", "net/": "net",
}

// safeSysctls are the settings below /proc/sys that pods may change on any cluster. A stock kubelet refuses all others unless its owner
// allows them, because they can use up the node's memory or disturb its other pods
// (https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/#safe-and-unsafe-sysctls).
var safeSysctls = []string{
	"kernel/shm_rmid_forced", "net/ipv4/ip_local_port_range", "net/ipv4/tcp_syncookies", "net/ipv4/ping_group_range",
	"net/ipv4/ip_unprivileged_port_start", "net/ipv4/ip_local_reserved_ports", "net/ipv4/tcp_keepalive_time", "net/ipv4/tcp_fin_timeout",
	"net/ipv4/tcp_keepalive_intvl", "net/ipv4/tcp_keepalive_probes", "net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem",
}

// ApplySysctls sets a pod's sysctls in its own namespaces. It returns an error for a setting that is not the pod's own, or not safe.
func ApplySysctls(pod *corev1.Pod, holder *shim.Holder) error {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	for _, s := range pod.Spec.SecurityContext.Sysctls {
		file := sysctlFile(s.Name)
		kind := sysctlNamespace(file)
		if kind == "" || kind == "net" && pod.Spec.HostNetwork {
			return forbidden("forbidden sysctl: %q is not a setting of the pod's own", s.Name)
		}
		if !slices.Contains(safeSysctls, file) {
			return forbidden("forbidden sysctl: %q not allowlisted", s.Name)
		}
		ns, err := holder.Namespace(kind)
		if err != nil {
			return err
		}
		err = podnet.In(ns, func() error { return os.WriteFile(filepath.Join("/proc/sys", file), []byte(s.Value), 0) })
		_ = ns.Close()
		if err != nil {
			return forbidden("sysctl %s=%s: %v", s.Name, s.Value, err)
		}
	}
	return nil
}

// forbidden fails a pod as Kubernetes does.
func forbidden(format string, args ...any) error {
	return &podspec.RefusedError{Reason: "SysctlForbidden", Message: fmt.Sprintf(format, args...)}
}

// sysctlFile returns the file of a setting below /proc/sys. In the form with slashes, dots are part of a name, such as that of an interface.
func sysctlFile(name string) string {
	if !strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, ".", "/")
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

func sysctlNamespace(file string) string {
	for beginning, kind := range namespacedSysctls {
		if strings.HasPrefix(file+"/", beginning) {
			return kind
		}
	}
	return ""
}
