package client

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
)

// Read returns an artifact of a step as it is stored. Argo stores files and folders as .tar.gz.
func (s ArtifactsService) Read(ctx context.Context, runID, nodeID, name string) ([]byte, error) {
	var wire struct {
		Data []byte `json:"data"`
	}
	path := kfpAPI + "/runs/" + escape(runID) + "/nodes/" + escape(nodeID) + "/artifacts/" + escape(name) + ":read"
	return wire.Data, s.conn.get(ctx, path, nil, &wire)
}

// ReadFile returns the content of an artifact that is a single file, extracted from its archive.
func (s ArtifactsService) ReadFile(ctx context.Context, runID, nodeID, name string) ([]byte, error) {
	data, err := s.Read(ctx, runID, nodeID, name)
	if err != nil {
		return nil, err
	}
	content, err := onlyFile(data)
	if err != nil {
		return nil, fmt.Errorf("artifact %s: %w", name, err)
	}
	return content, nil
}

// maxFile bounds what an artifact may unpack to, in bytes.
const maxFile = 256 << 20

// onlyFile gives the one file in a .tar.gz. Anything but an archive is the file itself.
func onlyFile(data []byte) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return data, nil //nolint:nilerr // it was stored without an archive
	}
	archive := tar.NewReader(zipped)
	var content []byte
	for found := false; ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && found:
			return content, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("its archive holds no file")
		case err != nil:
			return nil, fmt.Errorf("its archive cannot be read: %w", err)
		case header.Typeflag != tar.TypeReg:
			continue
		case found:
			return nil, errors.New("it is a folder: read the archive with Artifact")
		}
		if content, err = io.ReadAll(io.LimitReader(archive, maxFile+1)); err != nil {
			return nil, fmt.Errorf("its archive cannot be read: %w", err)
		}
		if len(content) > maxFile {
			return nil, fmt.Errorf("it unpacks to more than %d MiB", maxFile>>20)
		}
		found = true
	}
}
