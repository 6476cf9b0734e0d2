package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Shift gives layers that were unpacked with all of the machine's user ids to a user namespace that has count ids from first on. Through an
// idmapped mount these become the owners of the files. A folder that was already unpacked for the namespace stays.
func (s *Store) Shift(first uint32, count int) error {
	from, to := s.path("layers", rootKey), s.path("layers", tableKey(fmt.Sprintf("0 %d %d", first, count)))
	if !isFolder(from) || isFolder(to) {
		return nil
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		if int(st.Uid) >= count || int(st.Gid) >= count {
			if err := os.Lchown(path, knownTo(int(st.Uid), count), knownTo(int(st.Gid), count)); err != nil {
				return err
			}
		}
		if !d.IsDir() {
			return nil
		}
		value := make([]byte, 1)
		if n, err := unix.Lgetxattr(path, opaqueOfRoot, value); err != nil || n != 1 || value[0] != 'y' {
			return nil //nolint:nilerr // most folders have no such mark
		}
		return unix.Lsetxattr(path, opaqueOfUser, value, 0)
	})
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("layers unpacked by an earlier version: %w; remove %s to have images pulled again", err, from)
	}
	return nil
}

// knownTo maps id into a namespace of count ids: ids from count on become the overflow id.
func knownTo(id, count int) int {
	if id < count {
		return id
	}
	return overflowID
}
