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
		f.memory(), f.disk(), f.openFiles(), f.inotify(), f.programs(), f.tools(), f.python(), f.gpus(),
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
		return ok("namespaces", "pods get user, mount, network and process namespaces of their own")
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
