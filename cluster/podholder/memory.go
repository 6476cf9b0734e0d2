package podholder

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// memoryEvery is how often the memory of a container is added up that no cgroup limits. One that grows faster than the machine
// has memory meets the limit of each process first.
const memoryEvery = 250 * time.Millisecond

// watchMemory ends the container when its processes use more memory than they may, until stop is closed. It says whether it did.
func (ct *container) watchMemory(stop <-chan struct{}) (exceeded bool) {
	if ct.cmd.Memory == 0 || ct.cmd.Cgroup != "" {
		return false
	}
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return exceeded
		case <-tick.C:
		}
		if exceeded || !usesMore(ct.child.pid, ct.cmd.Memory) {
			continue
		}
		// Its first process takes all others with it.
		exceeded = ct.child.signal(syscall.SIGKILL) == nil
	}
}

// usesMore says whether a process and its descendants use more memory than they may, in bytes. What they share is divided
// otherwise when one of them ends while they are looked at, so that parts of it count twice: too much must be seen twice.
func usesMore(pid int, limit int64) bool {
	for range 2 {
		if memoryOf(pid, limit) <= limit {
			return false
		}
	}
	return true
}

// memoryOf is what a process and its descendants use and share with no file, in bytes. Orphans of a container are adopted by its
// first process; only where containers share their processes are they missed, as commands that join a container always are: for
// those there is the limit of each process. What processes share since one began as a copy of the other counts once, as it does for a
// cgroup; that takes a look at all their pages, and is done only where they could be too many.
func memoryOf(pid int, limit int64) int64 {
	family := append(descendants(pid), kin{pid: pid})
	var atMost int64
	for _, p := range family {
		atMost += privateAtMost(p.pid)
	}
	if atMost <= limit {
		return atMost
	}
	var sum int64
	for _, p := range family {
		if !p.borrows() {
			sum += anonymous(p.pid)
		}
	}
	return sum
}

// kin is a process and its parent.
type kin struct{ pid, parent int }

func descendants(pid int) (family []kin) {
	threads, err := filepath.Glob(proc(pid, "task", "*", "children"))
	if err != nil { // the pattern is well formed
		return nil
	}
	for _, file := range threads {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // that thread is gone
		}
		for child := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(child); err == nil {
				family = append(append(family, kin{n, pid}), descendants(n)...)
			}
		}
	}
	return family
}

// borrows says whether the process has no memory but its parent's: it was made by vfork and has not become another program yet.
func (k kin) borrows() bool {
	const kcmpVM = 1 // linux/kcmp.h
	if k.parent == 0 {
		return false
	}
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(k.pid), uintptr(k.parent), kcmpVM, 0, 0, 0)
	return errno == 0 && order == 0
}

func proc(pid int, elem ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(pid)}, elem...)...)
}

// privateAtMost is a process's memory without that of files; a process that is gone has none.
func privateAtMost(pid int) int64 {
	b, err := os.ReadFile(proc(pid, "statm"))
	f := strings.Fields(string(b))
	if err != nil || len(f) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(f[1], 10, 64)
	ofFiles, _ := strconv.ParseInt(f[2], 10, 64)
	return (resident - ofFiles) * int64(os.Getpagesize())
}

// anonymous is the process's part of such memory: a page that n processes have counts as an n-th.
func anonymous(pid int) int64 {
	b, err := os.ReadFile(proc(pid, "smaps_rollup"))
	if err != nil {
		return privateAtMost(pid)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Pss_Anon:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10
		}
	}
	return privateAtMost(pid) // a kernel before 5.9 does not tell
}
