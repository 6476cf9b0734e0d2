package shim

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

// watch ends the container when its processes use more memory than they may, or are too many, until stop is closed. It says for which of
// these it did.
func (ct *container) watch(stop <-chan struct{}) (why excess) {
	memory := ct.cmd.Memory
	if ct.cmd.Cgroup != "" {
		memory = 0
	}
	if memory == 0 && ct.cmd.Processes == 0 {
		return why
	}
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	u := usage{pid: ct.child.pid, shared: devices(ct.cmd.Common)}
	for {
		select {
		case <-stop:
			return why
		case <-tick.C:
		}
		if why != (excess{}) {
			continue
		}
		now := excess{
			memory:    memory > 0 && u.exceeds(memory),
			processes: ct.cmd.Processes > 0 && u.processes(ct.cmd.Processes) > ct.cmd.Processes,
		}
		// Its first process takes all others with it.
		if now != (excess{}) && ct.child.signal(syscall.SIGKILL) == nil {
			why = now
		}
	}
}

// excess is what a container had too much of.
type excess struct{ memory, processes bool }

// usage adds up what a process and its descendants use.
type usage struct {
	pid    int
	shared map[uint64]bool // devices of file systems in memory that do not count
}

// exceeds says whether they use more memory than they may, in bytes.
func (u usage) exceeds(limit int64) bool { return u.memory(u.family(), limit) > limit }

// family is the process and its descendants.
func (u usage) family() []kin {
	return append(descendants(u.pid), kin{pid: u.pid})
}

// memory is what a family uses and shares with no file of a disk, in bytes. Orphans of a container are adopted by its
// first process; only where containers share their processes are they missed, as commands that join a container always are: for
// those there is the limit of each process. What processes share since one began as a copy of the other counts once, as it does for a
// cgroup; that takes a look at all their pages, and is done only where they could be too many.
//
// Processes come and go during the reading. One that is read and then ends, or becomes another program, leaves its part of shared pages
// to the others, which are read later. So of each process memory counts no more than it still has when all have been read.
func (u usage) memory(family []kin, limit int64) int64 {
	files, open := u.inMemory(family)
	atMost := files
	for _, p := range family {
		atMost += privateAtMost(p.pid)
	}
	if atMost <= limit {
		return atMost
	}
	parts := make([]int64, len(family))
	for i, p := range family {
		if !p.borrows() {
			parts[i] = anonymous(p.pid) + mapped(p.pid, open)
		}
	}
	sum := files
	for i, p := range family {
		sum += min(parts[i], privateAtMost(p.pid))
	}
	return sum
}

// processes are how many there are, threads included; no more are counted than it takes to exceed the limit.
func (u usage) processes(limit int) (n int) {
	for _, p := range u.family() {
		tasks, err := os.ReadDir(proc(p.pid, "task"))
		if err != nil {
			continue // it is gone
		}
		if n += len(tasks); n > limit {
			break
		}
	}
	return n
}

// A process and its parent.
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

// privateAtMost is a process's memory without that of files on a disk; a process that is gone has none.
func privateAtMost(pid int) (bytes int64) {
	b, err := os.ReadFile(proc(pid, "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		if name == "RssAnon" || name == "RssShmem" {
			bytes += kilobytes(rest)
		}
	}
	return bytes
}

// kilobytes reads a number as /proc has them, such as "  12 kB".
func kilobytes(text string) int64 {
	kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
	return kb << 10
}

// anonymous is the process's part of such memory: a page that n processes have counts as an n-th.
func anonymous(pid int) int64 {
	b, err := os.ReadFile(proc(pid, "smaps_rollup"))
	if err != nil {
		return privateAtMost(pid)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Pss_Anon:"); ok {
			return kilobytes(rest)
		}
	}
	return privateAtMost(pid) // a kernel before 5.9 does not tell
}
