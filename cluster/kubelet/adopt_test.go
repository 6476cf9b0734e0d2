package kubelet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/podlog"
)

// What a kubelet began, the next one must not begin once more, whatever the data folder is called.
func TestUnbegun(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	require.False(t, p.k.unbegun(p.obj.UID), "nothing is known of it")
	require.NoError(t, makeFolder(p.path("logs"), 0o755))
	require.True(t, p.k.unbegun(p.obj.UID))
	log, err := podlog.Create(p.life("c", 0))
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.False(t, p.k.unbegun(p.obj.UID))
}
