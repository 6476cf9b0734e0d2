package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// What the cluster needs: its processes hold some 500 MiB, and the store of objects must never run out of disk.
const (
	leastMemory = 700 * mib
	goodMemory  = 2 * gib
	leastDisk   = 500 * mib
	goodDisk    = 5 * gib
	goodFiles   = 4096
)

// remote are file systems over a network, on which locks and syncs are slow or worse.
var remote = []string{"nfs", "cifs", "smb2", "9p", "ceph", "lustre", "fuse"}

func size(n uint64) string {
	if n < gib {
		return strconv.FormatUint(n/mib, 10) + " MiB"
	}
	return strconv.FormatFloat(float64(n)/gib, 'f', 1, 64) + " GiB"
}

func (f Facts) memory() Finding {
	says := fmt.Sprintf("%s of %s are free", size(f.FreeMemory), size(f.Memory))
	switch {
	case f.FreeMemory < leastMemory:
		return Finding{"memory", Block, says + "; the cluster itself needs " + size(leastMemory), []string{"ps aux --sort -rss | head    # what holds it"}}
	case f.FreeMemory < goodMemory:
		return Finding{"memory", Warn, says + "; the cluster takes " + size(leastMemory) + " of them, which leaves little for jobs", []string{"ps aux --sort -rss | head    # what holds it"}}
	}
	return ok("memory", "%s", says)
}

func (f Facts) disk() Finding {
	if f.Folder != "" {
		return Finding{} // it was not looked at
	}
	says := fmt.Sprintf("%s are free for %s (%s)", size(f.FreeDisk), f.Home, f.HomeType)
	elsewhere := []string{"argosy up --home FOLDER    # on another disk; what is big where it lies now:", "du -xh --max-depth=2 " + f.Home + " | sort -h | tail"}
	switch {
	case f.FreeDisk < leastDisk:
		return Finding{"disk", Block, says + "; the cluster needs " + size(leastDisk), elsewhere}
	case f.FreeDisk < goodDisk:
		return Finding{"disk", Warn, says + ", which is little for images and artifacts", elsewhere}
	case slices.Contains(remote, f.HomeType):
		return Finding{"disk", Warn, says + "; a file system over the network is slow at syncing, and the cluster syncs each change", []string{"argosy up --home FOLDER    # on a local disk"}}
	}
	return ok("disk", "%s", says)
}

func (f Facts) openFiles() Finding {
	if f.OpenFiles >= goodFiles {
		return ok("open files", "a process may have %d files open", f.OpenFiles)
	}
	line := "'* hard nofile 65536'"
	mend := "echo " + line + " | " + f.sudo("tee /etc/security/limits.d/argosy.conf") + "    # then log in again"
	return Finding{"open files", Warn, fmt.Sprintf("a process may have only %d files open; many pods at once need more", f.OpenFiles), []string{mend}}
}

func (f Facts) inotify() Finding {
	finding := Finding{Check: "inotify", Level: Warn}
	for _, s := range []struct {
		name        string
		least, good int
	}{
		{"fs.inotify.max_user_instances", 128, 1024},
		{"fs.inotify.max_user_watches", 8192, 524288},
	} {
		value, err := strconv.Atoi(f.Sysctls[s.name])
		if err == nil && value < s.least {
			finding.Says += fmt.Sprintf("; %s is %d", s.name, value)
			finding.Mend = append(finding.Mend, f.sudo(fmt.Sprintf("sysctl -w %s=%d", s.name, s.good)))
		}
	}
	if finding.Says == "" {
		return ok("inotify", "programs in pods can watch files")
	}
	finding.Says = "few files can be watched, which programs in pods may need" + finding.Says
	return finding
}

func (f Facts) programs() Finding {
	switch {
	case len(f.MissingPrograms) > 0:
		return Finding{"programs", Block, "there is no " + strings.Join(f.MissingPrograms, ", no "), []string{"make build"}}
	case len(f.OtherBuilds) > 0:
		return Finding{"programs", Warn, "not of the same build as argosy-cluster: " + strings.Join(f.OtherBuilds, "; "), []string{"make build"}}
	}
	return ok("programs", "argosy-cluster, argosy-controlplane, argosy-podinit and argoexec are there, of one build")
}

func (f Facts) tools() Finding {
	if len(f.MissingTools) == 0 {
		return ok("tools", "mpirun, sshd, ssh, python3 and git, for jobs on this machine's files")
	}
	var missing, packages []string
	for _, t := range f.MissingTools {
		missing = append(missing, t.Name+" ("+t.For+")")
		if !slices.Contains(packages, t.Package) {
			packages = append(packages, t.Package)
		}
	}
	return Finding{
		"tools", Warn, "jobs on this machine's files (--images host) will not find " + strings.Join(missing, ", "), []string{f.install(packages...)},
	}
}

func (f Facts) gpus() Finding {
	if f.GPUs == 0 {
		return ok("gpus", "none found; jobs that ask for GPUs wait, unless --gpus N pretends some")
	}
	return ok("gpus", "%d found", f.GPUs)
}
