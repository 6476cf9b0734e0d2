package heap

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetProgram lets go of the program's pages that this process holds: code, constants and tables. The start has been through
// most of a large program, and an idle process needs a tenth of it; what it does need comes back from the page
// cache as it is touched. The kernel would take them when memory gets short, but not before.
func forgetProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, m := range mappings(smaps) {
		// A page that differs from the file, such as one that the loader has put addresses into, would be lost.
		if m.path != program || strings.Contains(m.rights, "w") || m.changed {
			continue
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("madvise %x-%x of %s: %w", m.start, m.end, program, errno)
		}
	}
	return nil
}

// mapping is a part of a process's memory.
type mapping struct {
	start, end uintptr
	rights     string // "r-xp"
	path       string // of the file; empty for others
	changed    bool   // holds pages that are not the file's; true where the kernel does not say
	resident   int    // kB
}

// mappings reads /proc/PID/smaps (see proc_pid_smaps(5)): a line of /proc/PID/maps for each, and lines of amounts below.
func mappings(smaps []byte) (all []mapping) {
	lines := bufio.NewScanner(bytes.NewReader(smaps))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 5 && !strings.HasSuffix(fields[0], ":") {
			m := mapping{rights: fields[1], changed: true}
			from, to, _ := strings.Cut(fields[0], "-")
			start, err1 := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			if err1 != nil || err2 != nil {
				continue
			}
			m.start, m.end = uintptr(start), uintptr(end)
			if len(fields) > 5 {
				m.path = strings.Join(fields[5:], " ")
			}
			all = append(all, m)
			continue
		}
		if len(all) == 0 || len(fields) < 2 {
			continue
		}
		switch m := &all[len(all)-1]; fields[0] {
		case "Rss:":
			m.resident, _ = strconv.Atoi(fields[1])
		case "Anonymous:":
			m.changed = fields[1] != "0"
		}
	}
	return all
}
