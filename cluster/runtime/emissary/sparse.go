package emissary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// reader reads until the context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// zeros is where holes are read from.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// fits refuses a sparse file whose size exceeds its disk: it could never be unpacked.
func fits(path string, info fs.FileInfo) error {
	var disk unix.Statfs_t
	if !info.Mode().IsRegular() || unix.Statfs(path, &disk) != nil {
		return nil
	}
	if has := int64(disk.Blocks) * disk.Bsize; info.Size() > has {
		return fmt.Errorf("%s says it has %d bytes, and its disk has %d", path, info.Size(), has)
	}
	return nil
}

// copyData copies size bytes of a file. Its holes are not read, which would fill the machine's memory with copies of nothing.
func copyData(ctx context.Context, to io.Writer, f *os.File, size int64) error {
	for at := int64(0); at < size; {
		data, end := extent(f, at, size)
		if _, err := io.CopyN(to, reader{ctx, zeros{}}, data-at); err != nil {
			return err
		}
		if _, err := io.Copy(to, reader{ctx, io.NewSectionReader(f, data, end-data)}); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// extent is where the first data at or after a place begins and ends; both are size where there are none.
func extent(f *os.File, at, size int64) (data, end int64) {
	data, err := f.Seek(at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size
	}
	if err != nil || data < at { // this file system has no holes
		return at, size
	}
	if end, err = f.Seek(data, unix.SEEK_HOLE); err != nil || end <= data {
		end = size
	}
	return min(data, size), min(end, size)
}
