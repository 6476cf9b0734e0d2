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
	used := fs.Blocks - fs.Bfree
	return Disk{Total: (used + fs.Bavail) * size, Free: fs.Bavail * size} // without what is kept for root, as df counts
}
