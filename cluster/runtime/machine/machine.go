// Package machine tells what this machine has for pods: processors, memory,
// disk and GPUs.
package machine

import (
	"bufio"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
)

// Machine is what there is.
type Machine struct {
	MilliCPU int64 // thousandths of a processor
	Memory   int64 // bytes
	Disk     int64 // bytes of the file system that holds the cluster
	GPUs     []GPU
}

// GPU is a device that one container at a time has.
type GPU struct {
	Index   int      // on its machine, from 0
	UUID    string   // empty where the driver does not tell, and for one that is pretended
	Devices []string // its files below /dev; none where it is pretended
}

// Look finds out what the machine has. Where this process may not use all of it, because a container or a service manager
// limits it, only that part counts.
func Look(folder string) (Machine, error) {
	m := Machine{MilliCPU: int64(runtime.NumCPU()) * 1000}
	var err error
	if m.Memory, err = memory("/proc/meminfo", "MemTotal"); err != nil {
		return m, err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return m, fmt.Errorf("size of the disk below %s: %w", folder, err)
	}
	m.Disk = int64(st.Blocks) * st.Bsize
	cpu, bytes := limits(os.DirFS("/"))
	if cpu > 0 {
		m.MilliCPU = min(m.MilliCPU, cpu)
	}
	if bytes > 0 {
		m.Memory = min(m.Memory, bytes)
	}
	m.GPUs = gpus(os.DirFS("/"))
	return m, nil
}

// Pretend makes n GPUs that exist by name only.
func Pretend(n int) []GPU {
	all := make([]GPU, n)
	for i := range all {
		all[i].Index = i
	}
	return all
}

// FreeMemory is what new processes can have without the machine swapping, in bytes.
func FreeMemory() (int64, error) { return memory("/proc/meminfo", "MemAvailable") }

// FreeDisk is what can be written to the file system of a folder, in bytes.
func FreeDisk(folder string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, fmt.Errorf("free space of the disk below %s: %w", folder, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// MaxProcesses is how many processes and threads the kernel lets there be.
func MaxProcesses() (int, error) {
	most := math.MaxInt
	for _, file := range []string{"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"} {
		b, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		most = min(most, n)
	}
	return most, nil
}

// memory is a figure of /proc/meminfo, in bytes.
func memory(path, name string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if fields := strings.Fields(s.Text()); len(fields) > 1 && fields[0] == name+":" {
			kb, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %q: %w", path, s.Text(), err)
			}
			return kb << 10, nil
		}
	}
	return 0, fmt.Errorf("%s does not say %s", path, name)
}

// limits are what control groups leave of the machine to this process; 0 where they leave all.
func limits(root fs.FS) (milliCPU, memory int64) {
	own, err := cgroup.Unified(read(root, "proc/self/cgroup"))
	if err != nil { // there is none of version 2, whose files the root may have all the same
		own = "/"
	}
	for folder := own; ; folder = filepath.Dir(folder) {
		base := filepath.Join("sys/fs/cgroup", folder)
		milliCPU = least(milliCPU, quota(strings.Fields(read(root, base+"/cpu.max"))))
		memory = least(memory, number(read(root, base+"/memory.max")))
		if folder == "/" {
			break
		}
	}
	// Version 1, as a container sees its own group.
	v1 := []string{read(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us"), read(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us")}
	return least(milliCPU, quota(v1)), least(memory, number(read(root, "sys/fs/cgroup/memory/memory.limit_in_bytes")))
}

// quota is a time of each period, in thousandths of a processor.
func quota(fields []string) int64 {
	if len(fields) != 2 {
		return 0
	}
	q, period := number(fields[0]), number(fields[1])
	if q <= 0 || period <= 0 {
		return 0
	}
	return max(1, q*1000/period)
}

// least is the smaller of two limits; 0 means no limit.
func least(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// number is 0 for everything that means no limit: `max`, -1, nothing.
func number(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func read(root fs.FS, path string) string {
	b, err := fs.ReadFile(root, path)
	if err != nil { // a file that is not there is a limit that is not set
		return ""
	}
	return strings.TrimSpace(string(b))
}
