package shim

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Nameless is a file that was removed while a process of the pod has it open: it takes up its room until that ends.
type Nameless struct {
	Path  string // where it was, as its container saw it
	Bytes int64
}

// Nameless are such files, each once. Those that are only mapped are not found.
func (h *Holder) Nameless() []Nameless { return nameless(h.process.pid) }

func nameless(pid int) (all []Nameless) {
	type file struct{ device, inode uint64 }
	seen := map[file]bool{}
	for _, p := range descendants(pid) {
		descriptors, _ := filepath.Glob(proc(p.pid, "fd", "*")) // the pattern is well formed
		for _, d := range descriptors {
			link, err := os.Readlink(d)
			path, removed := strings.CutSuffix(link, " (deleted)")
			if err != nil || !removed || strings.HasPrefix(link, "/memfd:") {
				continue
			}
			var st unix.Stat_t
			if unix.Stat(d, &st) != nil || st.Nlink != 0 || st.Mode&unix.S_IFMT != unix.S_IFREG || seen[file{st.Dev, st.Ino}] {
				continue
			}
			seen[file{st.Dev, st.Ino}] = true
			all = append(all, Nameless{path, st.Blocks * 512})
		}
	}
	return all
}
