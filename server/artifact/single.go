package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

var gzipMagic = []byte{0x1f, 0x8b}

// Single reads an artifact that is one small file, in one of Argo's forms: a .tgz with one file, a .gz, or the file itself. It refuses more
// than limit bytes, packed or unpacked.
func Single(r io.Reader, limit int64) ([]byte, error) {
	packed, err := atMost(r, limit)
	if err != nil || !bytes.HasPrefix(packed, gzipMagic) {
		return packed, err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	content, err := atMost(unzipped, limit)
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(bytes.NewReader(content))
	var found []byte
	files := 0
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && files == 1:
			return found, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("its archive holds %d files; it must hold one", files)
		case err != nil && files == 0:
			return content, nil // not an archive but one zipped file
		case err != nil:
			return nil, err
		case header.Typeflag != tar.TypeReg:
			continue
		}
		if files++; files == 1 {
			if found, err = atMost(archive, limit); err != nil {
				return nil, err
			}
		}
	}
}

func atMost(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return content, err
}
