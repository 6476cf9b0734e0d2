package compiler_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

func TestPack(t *testing.T) {
	t.Parallel()
	workflow := []byte("kind: Workflow\n")
	for _, file := range []string{"p.tar.gz", "P.TGZ", "a.b/p.zip", "p.yaml", "p.yml"} {
		packed, err := compiler.Pack(file, workflow)
		require.NoError(t, err)
		require.Equal(t, string(workflow), string(unpack(t, file, packed)), file)
		again, err := compiler.Pack(file, workflow)
		require.NoError(t, err)
		require.Equal(t, packed, again, file)
	}
	_, err := compiler.Pack("p.tar", workflow)
	require.EqualError(t, err, "cannot tell the form of p.tar from its name: it must end in .tar.gz, .tgz, .zip, .yaml or .yml")
}

// unpack returns the only member of a package, which must be pipeline.yaml and bear no time.
func unpack(t *testing.T, file string, packed []byte) []byte {
	t.Helper()
	switch {
	case bytes.HasPrefix(packed, []byte("\x1f\x8b")):
		zr, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		require.True(t, zr.ModTime.IsZero())
		tr := tar.NewReader(zr)
		header, err := tr.Next()
		require.NoError(t, err)
		require.Equal(t, "pipeline.yaml", header.Name)
		require.Zero(t, header.ModTime.Unix())
		data, err := io.ReadAll(tr)
		require.NoError(t, err)
		_, err = tr.Next()
		require.ErrorIs(t, err, io.EOF)
		return data
	case bytes.HasPrefix(packed, []byte("PK")):
		zr, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		require.NoError(t, err)
		require.Len(t, zr.File, 1)
		require.Equal(t, "pipeline.yaml", zr.File[0].Name)
		r, err := zr.File[0].Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		return data
	}
	return packed
}
