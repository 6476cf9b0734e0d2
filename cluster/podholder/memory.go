package podholder

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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
		if exceeded || memoryOf(ct.child.pid, ct.cmd.Memory) <= ct.cmd.Memory {
			continue
		}
		// Its first process takes all others with it.
		exceeded = ct.child.signal(syscall.SIGKILL) == nil
	}
}

// memoryOf is what a process and its descendants use and share with no file, in bytes. Orphans of a container are adopted by its
// first process, so none is missed. What processes share since one began as a copy of the other counts once, as it does for a
// cgroup; that takes a look at all their pages, and is done only where they could be too many.
func memoryOf(pid int, limit int64) int64 {
	family := descendants(pid)
	var atMost int64
	for _, p := range family {
		atMost += privateAtMost(p)
	}
	if atMost <= limit {
		return atMost
	}
	var sum int64
	for _, p := range family {
		sum += anonymous(p)
	}
	return sum
}

func descendants(pid int) []int {
	family := []int{pid}
	threads, err := filepath.Glob(proc(pid, "task", "*", "children"))
	if err != nil { // the pattern is well formed
		return family
	}
	for _, file := range threads {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // that thread is gone
		}
		for child := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(child); err == nil {
				family = append(family, descendants(n)...)
			}
		}
	}
	return family
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
