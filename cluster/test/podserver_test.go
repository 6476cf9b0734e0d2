package test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var podserverBuilt struct {
	sync.Mutex
	done map[string]bool // by cluster
}

// podserver puts the tests' server where the cluster's pods can run it.
func (c *cluster) podserver(t *testing.T) string {
	t.Helper()
	path := filepath.Join(c.home.Shared(), "podserver")
	b := &podserverBuilt
	b.Lock()
	defer b.Unlock()
	if b.done[path] {
		return path
	}
	out, err := exec.Command("env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-o", path, "./podserver").CombinedOutput()
	require.NoError(t, err, string(out))
	if b.done == nil {
		b.done = map[string]bool{}
	}
	b.done[path] = true
	return path
}
