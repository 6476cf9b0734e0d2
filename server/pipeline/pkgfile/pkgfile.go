// Package pkgfile reads uploaded pipeline packages: a manifest as it is, or packed as .zip or .tar.gz.
package pkgfile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Limits of a package. MaxSize is KFP's; MaxManifest bounds what a small archive may unpack to.
const (
	MaxSize     = 32 << 20
	MaxManifest = 32 << 20
	maxEntries  = 1000
)

// manifestName is the entry that the SDKs write; without it the first file is taken.
const manifestName = "pipeline.yaml"

var (
	zipMagic  = []byte("PK\x03\x04")
	gzipMagic = []byte{0x1f, 0x8b}
)

// Read gives the manifest inside a package. Errors are *apierr.Error of kind Invalid, worded for the user.
func Read(fileName string, data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, refuse(fileName, "the file is empty")
	case len(data) > MaxSize:
		return nil, refuse(fileName, "the file has %d MiB; at most %d MiB can be uploaded", len(data)>>20, MaxSize>>20)
	}
	manifest, err := unpack(fileName, data)
	if err != nil {
		return nil, err
	}
	switch {
	case len(bytes.TrimSpace(manifest)) == 0:
		return nil, refuse(fileName, "the manifest is empty")
	case !utf8.Valid(manifest) || bytes.IndexByte(manifest, 0) >= 0:
		return nil, refuse(fileName, "the manifest is not UTF-8 text")
	}
	return manifest, nil
}

func unpack(fileName string, data []byte) ([]byte, error) {
	switch strings.ToLower(path.Ext(fileName)) {
	case ".yaml", ".yml", ".json":
		return data, nil
	}
	switch {
	case bytes.HasPrefix(data, zipMagic):
		return readZip(fileName, data)
	case bytes.HasPrefix(data, gzipMagic):
		return readTarGz(fileName, data)
	}
	return nil, refuse(fileName, "the file is neither a tarball (.tar.gz) nor a .zip, and its name does not end in .yaml, .yml or .json")
}

func readZip(fileName string, data []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, refuse(fileName, "the file starts like a .zip but cannot be read as one: %v", err).Because(err)
	}
	if len(archive.File) > maxEntries {
		return nil, refuse(fileName, "the archive has more than %d entries; a package holds one manifest", maxEntries)
	}
	var chosen *zip.File
	for _, f := range archive.File {
		if !f.Mode().IsRegular() {
			continue
		}
		if path.Base(f.Name) == manifestName {
			chosen = f
			break
		}
		if chosen == nil {
			chosen = f
		}
	}
	if chosen == nil {
		return nil, refuse(fileName, "the archive holds no file; it must hold a Workflow as %s", manifestName)
	}
	if err := checkEntry(fileName, chosen.Name); err != nil {
		return nil, err
	}
	r, err := chosen.Open()
	if err != nil {
		return nil, refuse(fileName, "its entry %q cannot be read: %v", chosen.Name, err).Because(err)
	}
	defer r.Close()
	return readEntry(fileName, chosen.Name, r)
}

// readTarGz reads the archive once: the first file is kept in case that no pipeline.yaml follows.
func readTarGz(fileName string, data []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, refuse(fileName, "the file starts like a .tar.gz but cannot be unzipped: %v", err).Because(err)
	}
	budget := &io.LimitedReader{R: unzipped, N: 2 * MaxManifest} // headers and files that are passed over cost time too
	archive := tar.NewReader(budget)
	first, firstName := []byte(nil), ""
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			if firstName == "" {
				return nil, refuse(fileName, "the tarball holds no file; it must hold a Workflow as %s", manifestName)
			}
			return first, checkEntry(fileName, firstName)
		case err != nil && budget.N <= 0:
			return nil, refuse(fileName, "the tarball unpacks to more than %d MiB", 2*MaxManifest>>20)
		case err != nil && entries == 0:
			return nil, refuse(fileName, "the file is not a tarball: its gzip content is not a tar archive (%v)", err).Because(err)
		case err != nil:
			return nil, refuse(fileName, "the tarball is damaged: %v", err).Because(err)
		case entries > maxEntries:
			return nil, refuse(fileName, "the archive has more than %d entries; a package holds one manifest", maxEntries)
		case header.Typeflag != tar.TypeReg:
			continue
		}
		isManifest := path.Base(header.Name) == manifestName
		if !isManifest && firstName != "" {
			continue
		}
		content, err := readEntry(fileName, header.Name, archive)
		if err != nil {
			return nil, err
		}
		if isManifest {
			return content, checkEntry(fileName, header.Name)
		}
		first, firstName = content, header.Name
	}
}

func readEntry(fileName, entry string, r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, MaxManifest+1))
	switch {
	case err != nil:
		return nil, refuse(fileName, "its entry %q cannot be read: %v", entry, err).Because(err)
	case len(content) > MaxManifest:
		return nil, refuse(fileName, "its entry %q unpacks to more than %d MiB", entry, MaxManifest>>20)
	}
	return content, nil
}

// checkEntry refuses names other than a manifest's. Nothing is ever written by its entry name, but a name that
// climbs out of the archive is a sign of a package that should not be trusted.
func checkEntry(fileName, entry string) error {
	if path.IsAbs(entry) || strings.HasPrefix(path.Clean(entry), "..") || strings.Contains(entry, `\`) {
		return refuse(fileName, "its entry %q points outside the archive", entry)
	}
	switch strings.ToLower(path.Ext(entry)) {
	case ".yaml", ".yml":
		return nil
	}
	return refuse(fileName, "the archive holds no Workflow: there is no %s, and its first file %q does not end in .yaml or .yml", manifestName, entry)
}

func refuse(fileName, format string, args ...any) *apierr.Error {
	if fileName == "" {
		fileName = "upload"
	}
	return apierr.New(apierr.Invalid, "%s: %s", fileName, fmt.Sprintf(format, args...))
}
