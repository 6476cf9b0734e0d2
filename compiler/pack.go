package compiler

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// memberName is what Kubeflow Pipelines calls the workflow inside a package.
const memberName = "pipeline.yaml"

// Pack returns a workflow in the form that the file's name asks for: .tar.gz and .tgz, .zip, or .yaml and .yml. No
// times are written, so that the same workflow makes the same package.
func Pack(file string, workflow []byte) ([]byte, error) {
	name := strings.ToLower(filepath.Base(file))
	switch {
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return packTar(workflow)
	case strings.HasSuffix(name, ".zip"):
		return packZip(workflow)
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return workflow, nil
	}
	return nil, fmt.Errorf("cannot tell the form of %s from its name: it must end in .tar.gz, .tgz, .zip, .yaml or .yml", file)
}

func packTar(workflow []byte) ([]byte, error) {
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: memberName, Mode: 0o644, Size: int64(len(workflow)), Format: tar.FormatUSTAR}
	if err := tw.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := tw.Write(workflow); err != nil {
		return nil, err
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func packZip(workflow []byte) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	w, err := zw.CreateHeader(&zip.FileHeader{Name: memberName, Method: zip.Deflate})
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(workflow); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeFile replaces a file in one step, so that readers never see half of it.
func writeFile(file string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
