package beneath

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// readInside reads a file of a folder that pods write to, as openInside opens it. One that is larger than limit is refused.
func ReadFile(folder, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return ReadIn(root, name, limit)
}

func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, _, err := openIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return b, err
}

// endInside is readInside for the last bytes of a file of any size, at most limit.
func ReadEnd(folder, name string, limit int64) ([]byte, error) {
	f, size, err := OpenFile(folder, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, min(size, limit))
	n, err := f.ReadAt(b, size-int64(len(b)))
	if errors.Is(err, io.EOF) { // it was made shorter meanwhile
		err = nil
	}
	return b[:n], err
}

// openInside opens a file of a folder that pods write to. They may have put anything there: links do not lead out of the
// folder, and pipes are not waited for.
func OpenFile(folder, name string) (f *os.File, size int64, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	return openIn(root, name)
}

func openIn(root *os.Root, name string) (f *os.File, size int64, err error) {
	if f, err = root.OpenFile(filepath.Clean("./"+name), os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, fi.Size(), nil
}

// replaceFile replaces a file atomically. In a folder that a pod writes to it replaces a link and never follows it.
func Replace(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Within says whether a path is a folder or lies in it. It looks at names only.
func Within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
