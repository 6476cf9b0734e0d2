package kubelet

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// namespacedSysctls are the beginnings of the files below /proc/sys that each pod has for itself, and the namespace they belong to.
var namespacedSysctls = map[string]string{
	"kernel/shm": "ipc", "kernel/msg": "ipc", "kernel/sem/": "ipc", "fs/mqueue/": "ipc", "net/": "net",
}

// applySysctls changes settings of the pod's own kernel namespaces.
func (p *pod) applySysctls() error {
	if p.obj.Spec.SecurityContext == nil {
		return nil
	}
	for _, s := range p.obj.Spec.SecurityContext.Sysctls {
		file := sysctlFile(s.Name)
		kind := sysctlNamespace(file)
		if kind == "" || kind == "net" && p.obj.Spec.HostNetwork {
			return p.fail("SysctlForbidden", fmt.Sprintf("forbidden sysctl: %q is not a setting of the pod's own", s.Name))
		}
		ns, err := p.holder.Namespace(kind)
		if err != nil {
			return err
		}
		err = inNamespace(ns, func() error { return os.WriteFile(filepath.Join("/proc/sys", file), []byte(s.Value), 0) })
		_ = ns.Close()
		if err != nil {
			return p.fail("SysctlForbidden", fmt.Sprintf("sysctl %s=%s: %v", s.Name, s.Value, err))
		}
	}
	return nil
}

// sysctlFile is the file of a setting below /proc/sys. Names of interfaces may hold dots: in the form with slashes they are what
// they are.
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
