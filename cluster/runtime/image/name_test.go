package image

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"python": "docker.io/library/python:latest", "x": "docker.io/library/x:latest", "x:1": "docker.io/library/x:1", "a/b:1": "docker.io/a/b:1", "127.0.0.1:5000/app": "127.0.0.1:5000/app:latest",
		"ghcr.io/a/b@sha256:" + strings.Repeat("0", 64): "ghcr.io/a/b@sha256:" + strings.Repeat("0", 64),
	} {
		require.Equal(t, want, parse(t, in).String())
	}
	_, err := ParseName("Not A Name")
	require.ErrorContains(t, err, "Not A Name")
	for in, want := range map[string]bool{"host": true, "host:v1": true, "argosy/host": true, "argosy/host:2": true, "hostess": false, "docker.io/host": false, "host/x": false} {
		require.Equal(t, want, IsHost(in), in)
	}
}
