package doctor

import "fmt"

// What stands between pods and this machine depends on the user and the kernel; docs/threat-model.md has the whole list.

func (f Facts) userIDs() Finding {
	if f.Root {
		return ok("user ids", "root in a pod is a user id that no account of this machine has")
	}
	const lacks = "pods have one user id, yours outside of them: the user that an image names is not obeyed, and programs that change theirs fail " +
		"(sshd and mpirun work)"
	ranges := fmt.Sprintf("sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s", f.User)
	switch {
	case !f.IDHelpers && !f.IDRanges:
		return Finding{"user ids", Warn, "newuidmap is not installed and there are no ranges in /etc/subuid and /etc/subgid: " + lacks, []string{f.install("uidmap"), ranges}}
	case !f.IDHelpers:
		return Finding{"user ids", Warn, "newuidmap is not installed: " + lacks, []string{f.install("uidmap")}}
	case !f.IDRanges:
		return Finding{"user ids", Warn, fmt.Sprintf("%s has no ranges in /etc/subuid and /etc/subgid: %s", f.User, lacks), []string{ranges}}
	}
	return ok("user ids", "newuidmap and ranges in /etc/subuid and /etc/subgid: pods have users of their own; root in a pod is %s outside of it", f.User)
}

func (f Facts) limits() Finding {
	if f.NoCgroups == "" {
		return ok("limits", "the kernel keeps each container within its CPU, memory and number of processes")
	}
	says := f.NoCgroups + ": CPU is limited to whole processors; memory and processes are counted four times a second, " +
		"so a container can exceed its limits until the next count"
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
