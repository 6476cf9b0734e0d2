//go:build linux || darwin

package cluster

import "golang.org/x/sys/unix"

// diskOf gives the room where a folder lies; none where the system does not tell.
func diskOf(folder string) Disk {
	var fs unix.Statfs_t
	if unix.Statfs(folder, &fs) != nil {
		return Disk{}
	}
	size := uint64(fs.Bsize)
	return Disk{Total: fs.Blocks * size, Free: fs.Bavail * size}
}
