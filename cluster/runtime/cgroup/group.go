package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of a container. 0 means unlimited.
type Limits struct {
	MilliCPU int64 // thousandths of a processor that it may use
	Request  int64 // thousandths of a processor that it gets when there is not enough for all
	Memory   int64 // bytes

	Processes int // threads included; kept where Tree.Counts
}

const (
	period   = 100_000 // microseconds, over which the use of processors is counted
	minQuota = 1000    // of a period; the kernel accepts no less
)

// Make makes a container's group and returns its folder.
func (t *Tree) Make(name string, l Limits) (string, error) {
	if name != filepath.Base(name) {
		return "", fmt.Errorf("control group %q: not a name", name)
	}
	dir := filepath.Join(t.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	settings := map[string]string{}
	if l.MilliCPU > 0 {
		settings["cpu.max"] = fmt.Sprintf("%d %d", max(l.MilliCPU*period/1000, minQuota), period)
	}
	if l.Request > 0 {
		settings["cpu.weight"] = strconv.FormatInt(weight(l.Request), 10)
	}
	if l.Memory > 0 {
		settings["memory.max"] = strconv.FormatInt(l.Memory, 10)
		// All of a container ends together: half of a job is worse than none.
		settings["memory.oom.group"] = "1"
	}
	if l.Processes > 0 && t.Counts() {
		settings["pids.max"] = strconv.Itoa(l.Processes)
	}
	for file, value := range settings {
		if err := write(dir, file, value); err != nil {
			t.Remove(name)
			return "", fmt.Errorf("limit a container: %w", err)
		}
	}
	if l.Memory == 0 {
		return dir, nil
	}
	// Swap would defeat the memory limit. Kernels without swap lack the file.
	if err := write(dir, "memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EACCES) {
		t.Remove(name)
		return "", fmt.Errorf("limit a container: %w", err)
	}
	return dir, nil
}

// weight is a request as Kubernetes writes it into cpu.weight: shares of 1024 per processor, from 2 to 262144, brought to 1 to
// 10000 (kubernetes/enhancements, KEP-2254).
func weight(milliCPU int64) int64 {
	shares := min(max(milliCPU*1024/1000, 2), 262144)
	return 1 + (shares-2)*9999/262142
}

// RemoveAll removes the groups whose names begin so, but for those in which something runs.
func (t *Tree) RemoveAll(prefix string) {
	groups, err := os.ReadDir(t.dir)
	if err != nil {
		return // the tree is gone
	}
	for _, g := range groups {
		if g.IsDir() && strings.HasPrefix(g.Name(), prefix) {
			t.Remove(g.Name())
		}
	}
}

// Remove removes a container's group, unless something runs in it.
func (t *Tree) Remove(name string) {
	_ = unix.Rmdir(filepath.Join(t.dir, name)) // what is left goes with the tree
}
