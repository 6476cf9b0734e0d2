package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// archive holds the files of an exported image: a folder, or a tar file.
type archive interface {
	open(name string) (io.ReadCloser, error)
	close() error
}

// folderArchive is an OCI layout as it lies on a disk. Links in it that lead out of it are not followed.
type folderArchive struct{ root *os.Root }

func (a folderArchive) open(name string) (io.ReadCloser, error) { return a.root.Open(name) }

func (a folderArchive) close() error { return a.root.Close() }

// tarArchive knows where in the file each entry lies.
type tarArchive struct {
	file    *os.File
	entries map[string]tarEntry
}

type tarEntry struct {
	offset, size int64
	link         string
}

// maxFiles bounds the entries of an exported image, which has a few for each layer.
const maxFiles = 100_000

func newTarArchive(f *os.File) (*tarArchive, error) {
	a := &tarArchive{file: f, entries: map[string]tarEntry{}}
	t := tar.NewReader(f)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a tar archive: %w", err)
		}
		if len(a.entries) >= maxFiles {
			return nil, fmt.Errorf("it has more than %d entries", maxFiles)
		}
		name := path.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			// The reader stands at the entry's first byte, since it reads the file without a buffer.
			at, err := f.Seek(0, io.SeekCurrent)
			if err != nil {
				return nil, err
			}
			a.entries[name] = tarEntry{offset: at, size: h.Size}
		case tar.TypeSymlink: // older versions of docker save a layer of several images once
			a.entries[name] = tarEntry{link: path.Join(path.Dir(name), h.Linkname)}
		case tar.TypeLink:
			a.entries[name] = tarEntry{link: path.Clean(h.Linkname)}
		}
	}
}

func (a *tarArchive) open(name string) (io.ReadCloser, error) {
	e, ok := a.entries[path.Clean(name)]
	if ok && e.link != "" {
		e, ok = a.entries[e.link]
	}
	if !ok || e.link != "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(io.NewSectionReader(a.file, e.offset, e.size)), nil
}

func (a *tarArchive) close() error { return a.file.Close() }

// openArchive opens a folder or a tar file, which may be packed with gzip or zstd. What it unpacks lies in the store
// until it is closed.
func (s *Store) openArchive(ctx context.Context, file string) (archive, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		root, err := os.OpenRoot(file)
		return folderArchive{root}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	var start [4]byte
	if _, err := f.ReadAt(start[:], 0); err != nil || compressed(start[:]) || !fi.Mode().IsRegular() {
		defer f.Close()
		return s.spoolArchive(ctx, f)
	}
	a, err := newTarArchive(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

// spoolArchive makes of a stream a file that can be read in any order. It has no name any more when this returns.
func (s *Store) spoolArchive(ctx context.Context, r io.Reader) (archive, error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	tmp, _, err := s.spool(ctx, plain, maxLayer)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(tmp)
	if err = errors.Join(err, os.Remove(tmp)); err != nil {
		return nil, err
	}
	a, err := newTarArchive(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

// document reads a small file of an archive.
func document(a archive, name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, maxDocument+1))
	if err == nil && n > maxDocument {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxDocument)
	}
	return b.Bytes(), err
}

// blobPath is where an OCI layout has what a digest names.
func blobPath(digest string) string { return "blobs/" + strings.ReplaceAll(digest, ":", "/") }
