package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// Judge makes a finding of each check, in the order in which they are best read.
func Judge(f Facts) []Finding {
	findings := []Finding{
		f.system(), f.namespaces(), f.userIDs(), f.dataFolder(), f.overlay(), f.limits(),
		f.memory(), f.disk(), f.openFiles(), f.inotify(), f.programs(), f.tools(), f.gpus(),
	}
	return slices.DeleteFunc(findings, func(c Finding) bool { return c.Says == "" })
}

func ok(check, format string, args ...any) Finding {
	return Finding{Check: check, Level: OK, Says: fmt.Sprintf(format, args...)}
}

func (f Facts) system() Finding {
	const oldest = "5.6" // openat2
	var major, minor int
	if n, _ := fmt.Sscanf(f.Kernel, "%d.%d", &major, &minor); n == 2 && (major < 5 || major == 5 && minor < 6) {
		return Finding{"system", Block, fmt.Sprintf("Linux %s is too old; the cluster needs %s or newer", f.Kernel, oldest), []string{"# a newer kernel, or a newer release of this system"}}
	}
	return ok("system", "Linux %s, %g CPUs", f.Kernel, float64(f.MilliCPU)/1000)
}

// sudo is a command as this user has to give it.
func (f Facts) sudo(command string) string {
	if f.Root {
		return command
	}
	return "sudo " + command
}

func (f Facts) install(packages ...string) string {
	if f.Apt {
		return f.sudo("apt-get install -y " + strings.Join(packages, " "))
	}
	return "# with your package manager; Debian's names are: " + strings.Join(packages, " ")
}

func (f Facts) namespaces() Finding {
	if f.Namespaces != "" {
		return Finding{Check: "namespaces", Level: Block, Says: f.Namespaces, Mend: f.mendNamespaces()}
	}
	if f.Root {
		return ok("namespaces", "pods get mount, network and process namespaces of their own")
	}
	return ok("namespaces", "this user may make user namespaces, and pods get theirs in them")
}

// mendNamespaces are the settings that forbid namespaces, or what else may.
func (f Facts) mendNamespaces() []string {
	if f.Root {
		return []string{
			"# inside a container, start that container with",
			"docker run --privileged ...",
			"# or with --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
		}
	}
	var mend []string
	for _, s := range []struct{ name, bad, good string }{
		{"kernel.unprivileged_userns_clone", "0", "1"},
		{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"},
		{"user.max_user_namespaces", "0", "15000"},
	} {
		if f.Sysctls[s.name] == s.bad {
			mend = append(mend, "sudo sysctl -w "+s.name+"="+s.good+"    # it is "+s.bad)
		}
	}
	if len(mend) > 0 {
		return append(mend, "# to keep a setting, write it into a file in /etc/sysctl.d; or run as root")
	}
	return []string{
		"# no kernel setting forbids it, so a seccomp profile or a security module does: inside a container, start that one with",
		"docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined ...",
		"# or run as root",
	}
}

func (f Facts) userIDs() Finding {
	if f.Root {
		return Finding{}
	}
	const lacks = "pods have one user id: the user that an image names is not obeyed, and programs that change theirs fail (sshd and mpirun work)"
	ranges := fmt.Sprintf("sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s", f.User)
	switch {
	case !f.IDHelpers && !f.IDRanges:
		return Finding{"user ids", Warn, "newuidmap is not installed and there are no ranges in /etc/subuid and /etc/subgid: " + lacks, []string{f.install("uidmap"), ranges}}
	case !f.IDHelpers:
		return Finding{"user ids", Warn, "newuidmap is not installed: " + lacks, []string{f.install("uidmap")}}
	case !f.IDRanges:
		return Finding{"user ids", Warn, fmt.Sprintf("%s has no ranges in /etc/subuid and /etc/subgid: %s", f.User, lacks), []string{ranges}}
	}
	return ok("user ids", "newuidmap and ranges in /etc/subuid and /etc/subgid: pods have users of their own")
}

func (f Facts) dataFolder() Finding {
	if f.Folder == "" {
		return Finding{}
	}
	return Finding{"data folder", Block, f.Folder, []string{"argosy up --home FOLDER"}}
}

func (f Facts) overlay() Finding {
	switch {
	case f.Namespaces != "" || f.Folder != "":
		return Finding{} // it was not tried
	case f.Overlay != "":
		return Finding{"overlay", Block, f.Overlay, []string{"argosy up --home FOLDER    # on a local disk with ext4, xfs or btrfs"}}
	}
	return ok("overlay", "pods can write over the files of this machine without changing them")
}

func (f Facts) limits() Finding {
	if f.NoCgroups == "" {
		return ok("limits", "control groups keep each container within its CPU and memory")
	}
	says := f.NoCgroups + ": CPU is limited to whole processors, and memory is added up several times a second"
	scope := "systemd-run --user --scope -p Delegate=yes argosy up"
	if f.Root {
		scope = "systemd-run --scope -p Delegate=yes argosy up"
	}
	mend := []string{scope}
	switch {
	case f.NoCgroup2:
		mend = []string{"# boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line"}
	case !f.Systemd:
		mend = []string{"# inside a container, start that container with a writable /sys/fs/cgroup:", "docker run --privileged --cgroupns=private ..."}
	case f.NoControl && !f.Root:
		mend = []string{
			"sudo mkdir -p /etc/systemd/system/user@.service.d",
			`printf '[Service]\nDelegate=cpu cpuset io memory pids\n' | sudo tee /etc/systemd/system/user@.service.d/delegate.conf`,
			"sudo systemctl daemon-reload    # then log in again",
			scope,
		}
	}
	return Finding{"limits", Warn, says, mend}
}
