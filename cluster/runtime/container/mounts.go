package container

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// MountPoint is a place where a file system is mounted.
type MountPoint struct {
	Path, Kind string
	ReadOnly   bool
}

// MountPoints are those that this process sees, in the order in which they were mounted.
func MountPoints() ([]MountPoint, error) { return mountPoints("self") }

// MountPointsOf are those that another process sees.
func MountPointsOf(pid int) ([]MountPoint, error) { return mountPoints(strconv.Itoa(pid)) }

func mountPoints(process string) ([]MountPoint, error) {
	f, err := os.Open("/proc/" + process + "/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMounts(f)
}

// readMounts reads a table in the form of mountinfo, see proc_pid_mountinfo(5).
func readMounts(table io.Reader) ([]MountPoint, error) {
	var points []MountPoint
	s := bufio.NewScanner(table)
	for s.Scan() {
		// 36 35 98:0 /root /mount/point options optional... - type source superoptions
		before, after, ok := strings.Cut(s.Text(), " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 6 || after == "" {
			return nil, fmt.Errorf("mountinfo: cannot read line %q", s.Text())
		}
		kind, _, _ := strings.Cut(after, " ")
		readOnly := slices.Contains(strings.Split(fields[5], ","), "ro")
		points = append(points, MountPoint{unescapeMount(fields[4]), kind, readOnly})
	}
	return points, s.Err()
}

// unescapeMount undoes the kernel's octal escapes of blanks and backslashes.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
