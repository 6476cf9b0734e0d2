package kubelet

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// namespacedSysctls are patterns of the kernel's settings that each pod has for itself, and the namespace they belong to.
var namespacedSysctls = map[string]string{
	"kernel.shm*": "ipc", "kernel.msg*": "ipc", "kernel.sem": "ipc", "fs.mqueue.*": "ipc", "net.*": "net",
}

// applySysctls changes settings of the pod's own kernel namespaces.
func (p *pod) applySysctls() error {
	if p.obj.Spec.SecurityContext == nil {
		return nil
	}
	for _, s := range p.obj.Spec.SecurityContext.Sysctls {
		name := strings.ReplaceAll(s.Name, "/", ".")
		kind := sysctlNamespace(name)
		if kind == "" || kind == "net" && p.obj.Spec.HostNetwork {
			return p.fail("SysctlForbidden", fmt.Sprintf("forbidden sysctl: %q is not a setting of the pod's own", s.Name))
		}
		ns, err := p.holder.Namespace(kind)
		if err != nil {
			return err
		}
		err = inNamespace(ns, func() error { return writeSysctl(s) })
		_ = ns.Close()
		if err != nil {
			return p.fail("SysctlForbidden", fmt.Sprintf("sysctl %s=%s: %v", s.Name, s.Value, err))
		}
	}
	return nil
}

func sysctlNamespace(name string) string {
	for pattern, kind := range namespacedSysctls {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are our own
			return kind
		}
	}
	return ""
}

func writeSysctl(s corev1.Sysctl) error {
	// Interface names may hold dots: in the form with slashes they are what they are.
	file := s.Name
	if !strings.Contains(file, "/") {
		file = strings.ReplaceAll(file, ".", "/")
	}
	return os.WriteFile(filepath.Join("/proc/sys", filepath.Clean("/"+file)), []byte(s.Value), 0)
}

// inNamespace calls f in a namespace. Sockets made by f, without goroutines of its own, belong there for good.
func inNamespace(ns *os.File, f func() error) error {
	done := make(chan error, 1)
	go func() {
		// The thread is not given back: it ends with the goroutine, and nobody else finds itself in the wrong namespace.
		runtime.LockOSThread()
		if err := unix.Setns(int(ns.Fd()), 0); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}
