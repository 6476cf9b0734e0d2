package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// sandboxError says that the kernel refuses the namespaces that pods need.
type sandboxError struct{ reason string }

func (e *sandboxError) Error() string { return e.reason }

// checkSandbox makes the namespaces that the node will make, and changes a
// mount in them: some systems allow the first and refuse the second.
func checkSandbox() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "version")
	if t, err := exec.LookPath("true"); err == nil {
		cmd = exec.Command(t)
	}
	// Go makes all mounts private after this unshare, which takes the rights that pods' mounts take.
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	if err := cmd.Run(); err != nil {
		return &sandboxError{refusal(err)}
	}
	return nil
}

func refusal(cause error) string {
	if os.Geteuid() == 0 {
		return fmt.Sprintf("the kernel refuses new mount and network namespaces (%v). Pods run in namespaces of their own, "+
			"which takes CAP_SYS_ADMIN: inside a container, start that container with --privileged, "+
			"or with --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined", cause)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the kernel refuses user namespaces to ordinary users (%v). Pods run in namespaces of their own; "+
		"allow them, or run as root:", cause)
	found := false
	for _, s := range []struct{ name, bad, good string }{
		{"kernel.unprivileged_userns_clone", "0", "1"},
		{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"},
		{"user.max_user_namespaces", "0", "15000"},
	} {
		if v := sysctl(s.name); v == s.bad {
			found = true
			fmt.Fprintf(&b, "\n  sudo sysctl -w %s=%s    # it is %s", s.name, s.good, v)
		}
	}
	if found {
		b.WriteString("\nTo keep a setting, write it into a file in /etc/sysctl.d")
		return b.String()
	}
	b.WriteString("\n  none of kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns and user.max_user_namespaces " +
		"forbids it, so a seccomp profile or a security module does; inside a container, start it with --security-opt seccomp=unconfined")
	return b.String()
}

// sysctl is the value of a kernel setting, empty where the kernel does not have it.
func sysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
