package image

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	// diskReserve stays free on the disk whatever an image holds.
	diskReserve = 256 << 20
	diskEvery   = 16 << 20 // bytes written between two looks at the disk
)

// diskGuard is a writer that stores nothing and fails when what goes through it would fill the disk of a folder.
type diskGuard struct {
	dir  string
	left int64 // bytes until the next look
}

func (g *diskGuard) Write(b []byte) (int, error) {
	if g.left -= int64(len(b)); g.left > 0 {
		return len(b), nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs(g.dir, &st); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", g.dir, err)
	}
	if free := int64(st.Bavail) * st.Bsize; free < diskReserve {
		return 0, fmt.Errorf("the disk of %s is full: %d MiB are left; remove images with `argosy cluster image remove`, or choose another disk with --home", g.dir, free>>20)
	}
	g.left = diskEvery
	return len(b), nil
}
