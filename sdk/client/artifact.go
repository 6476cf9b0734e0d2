package client

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Open returns an artifact of a step as it is stored, whatever its size. Argo stores files and folders as .tar.gz. The caller must close
// it.
func (s ArtifactsService) Open(ctx context.Context, runID, nodeID, name string) (io.ReadCloser, error) {
	path := nodePath(runID, nodeID) + "/artifacts/" + escape(name) + ":download"
	resp, err := s.conn.do(ctx, request{method: http.MethodGet, path: path, accept: "application/octet-stream"})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Read returns an artifact of a step as it is stored. It holds the artifact in memory; Open does not.
func (s ArtifactsService) Read(ctx context.Context, runID, nodeID, name string) ([]byte, error) {
	stored, err := s.Open(ctx, runID, nodeID, name)
	if err != nil {
		return nil, err
	}
	defer stored.Close()
	data, err := io.ReadAll(stored)
	if err != nil {
		return nil, fmt.Errorf("artifact %s: %w", name, err)
	}
	return data, nil
}

// ReadFile returns the content of an artifact that is a single file, extracted from its archive: at most 256 MiB. CopyFile has no limit.
func (s ArtifactsService) ReadFile(ctx context.Context, runID, nodeID, name string) ([]byte, error) {
	content := bounded{most: maxFile}
	if err := s.CopyFile(ctx, &content, runID, nodeID, name); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// ErrFolder is why CopyFile and ReadFile refuse an artifact.
var ErrFolder = errors.New("it is a folder: read the archive with Open")

// CopyFile writes the content of an artifact that is a single file, extracted from its archive, to w. A folder, as Argo stores it or as
// an archive of several files, is an error before anything is written. To find that out, CopyFile reads a large archive twice.
func (s ArtifactsService) CopyFile(ctx context.Context, w io.Writer, runID, nodeID, name string) error {
	open := func() (io.ReadCloser, error) { return s.Open(ctx, runID, nodeID, name) }
	stored, err := open()
	if err != nil {
		return err
	}
	defer stored.Close()
	if err := onlyFile(w, stored, open); err != nil {
		return fmt.Errorf("artifact %s: %w", name, err)
	}
	return nil
}

// maxFile bounds what ReadFile holds in memory, in bytes.
const maxFile = 256 << 20

// bounded is a buffer that refuses to grow beyond most bytes.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, fmt.Errorf("it is larger than %d MiB: read it with CopyFile", b.most>>20)
	}
	return b.Buffer.Write(p)
}

// onlyFile copies the one file in a .tar.gz. Anything but an archive is the file itself. The archive is read to its end before anything
// is written; open gives a file again that is too large to be held until then.
func onlyFile(w io.Writer, stored io.Reader, open func() (io.ReadCloser, error)) error {
	start := bufio.NewReader(stored)
	if magic, _ := start.Peek(2); string(magic) != "\x1f\x8b" { // it was stored without an archive
		_, err := io.Copy(w, start)
		return err
	}
	archive, err := firstFile(start)
	if err != nil {
		return err
	}
	var held bytes.Buffer
	_, err = io.CopyN(&held, archive, mostHeld)
	fits := errors.Is(err, io.EOF)
	if err != nil && !fits {
		return fmt.Errorf("its archive cannot be read: %w", err)
	}
	if err := atEnd(archive); err != nil {
		return err
	}
	if fits {
		_, err := held.WriteTo(w)
		return err
	}
	again, err := open()
	if err != nil {
		return err
	}
	defer again.Close()
	if archive, err = firstFile(again); err != nil {
		return err
	}
	if _, err := io.Copy(w, archive); err != nil { //nolint:gosec // CopyFile has no limit on purpose, and ReadFile's buffer has one
		return fmt.Errorf("its file cannot be copied: %w", err)
	}
	return nil
}

// mostHeld is how much of a file is held, in bytes, until its archive is known to have no other.
const mostHeld = 1 << 20

// firstFile reads a .tar.gz to its first file.
func firstFile(stored io.Reader) (*tar.Reader, error) {
	zipped, err := gzip.NewReader(stored)
	if err != nil {
		return nil, fmt.Errorf("its archive cannot be read: %w", err)
	}
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("its archive holds no file")
		case err != nil:
			return nil, fmt.Errorf("its archive cannot be read: %w", err)
		case header.Typeflag == tar.TypeDir:
			return nil, ErrFolder
		case header.Typeflag == tar.TypeReg:
			return archive, nil
		}
	}
}

// atEnd reads the rest of an archive, in which there must be no other file.
func atEnd(archive *tar.Reader) error {
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("its archive cannot be read: %w", err)
		case header.Typeflag == tar.TypeDir, header.Typeflag == tar.TypeReg:
			return ErrFolder
		}
	}
}
