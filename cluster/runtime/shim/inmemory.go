package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	ctr "github.com/argosy-ml/argosy/cluster/runtime/container"
)

// Pages of files in memory count for no process until one maps them. So a container's share is added up from its file systems and open
// files. System V segments that no process has attached are missed.

// inMemory is what the family's files in memory hold, in bytes: the file systems of the container's own, and files that were made without
// one (memfd_create), each once. open are the inodes of the latter.
func (u usage) inMemory(family []kin) (bytes int64, open map[uint64]bool) {
	points, err := ctr.MountPointsOf(u.pid)
	if err != nil { // it is gone
		return 0, nil
	}
	counted := map[uint64]bool{}
	for _, m := range points {
		if m.Kind != "tmpfs" || m.ReadOnly {
			continue
		}
		path := proc(u.pid, "root", m.Path)
		var st unix.Stat_t
		var fs unix.Statfs_t
		// Something else may be mounted over it, whose device is another one.
		if unix.Stat(path, &st) != nil || counted[st.Dev] || u.shared[st.Dev] || unix.Statfs(path, &fs) != nil || fs.Type != unix.TMPFS_MAGIC {
			continue
		}
		counted[st.Dev] = true
		bytes += int64(fs.Blocks-fs.Bfree) * fs.Bsize
	}
	open = map[uint64]bool{}
	for _, p := range family {
		descriptors, _ := filepath.Glob(proc(p.pid, "fd", "*")) // the pattern is well formed
		for _, d := range descriptors {
			link, err := os.Readlink(d)
			if err != nil || !strings.HasPrefix(link, "/memfd:") {
				continue
			}
			var st unix.Stat_t
			if unix.Stat(d, &st) == nil && st.Dev == nowhere() && !open[st.Ino] {
				open[st.Ino] = true
				bytes += st.Blocks * 512
			}
		}
	}
	return bytes, open
}

// devices are those of the folders' file systems.
func devices(folders []string) map[uint64]bool {
	all := map[uint64]bool{}
	for _, f := range folders {
		var st unix.Stat_t
		if unix.Stat(f, &st) == nil {
			all[st.Dev] = true
		}
	}
	return all
}

// nowhere is the device of files in memory that belong to no file system: memfds, segments of System V, and memory shared with children.
var nowhere = sync.OnceValue(func() uint64 {
	fd, err := unix.MemfdCreate("device", unix.MFD_CLOEXEC)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0
	}
	return st.Dev
})

// mapped returns how much memory of such files the process maps. Files in open are left out; they are counted as open files.
func mapped(pid int, open map[uint64]bool) (bytes int64) {
	maps, err := os.ReadFile(proc(pid, "maps"))
	device := fmt.Sprintf(" %02x:%02x ", unix.Major(nowhere()), unix.Minor(nowhere()))
	if err != nil || !strings.Contains(string(maps), device) {
		return 0 // to look at all its pages would take long
	}
	smaps, err := os.ReadFile(proc(pid, "smaps"))
	if err != nil {
		return 0
	}
	counts := false
	for line := range strings.Lines(string(smaps)) {
		// 7f0000000000-7f0000001000 rw-s 00000000 00:01 1234 /memfd:name (deleted)
		if fields := strings.Fields(line); len(fields) >= 5 && strings.Contains(fields[0], "-") {
			inode, _ := strconv.ParseUint(fields[4], 10, 64)
			counts = " "+fields[3]+" " == device && !open[inode]
		} else if rest, ok := strings.CutPrefix(line, "Pss:"); ok && counts {
			bytes += kilobytes(rest)
		}
	}
	return bytes
}
