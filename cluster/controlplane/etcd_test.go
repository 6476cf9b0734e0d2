package controlplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/argosy-ml/argosy/cluster/home"
)

// A clock that ticks every ten seconds would elect the only member when it has ticked, and no sooner.
func TestLead(t *testing.T) {
	t.Parallel()
	h, err := home.Open(t.TempDir())
	require.NoError(t, err)
	for _, start := range []string{"first", "second"} {
		cfg, err := etcdConfig(h)
		require.NoError(t, err)
		cfg.TickMs, cfg.ElectionMs = 10_000, 50_000
		began := time.Now()
		e, err := embed.StartEtcd(cfg)
		require.NoError(t, err, start)
		lead(t.Context(), e.Server)
		<-e.Server.ReadyNotify()
		require.Less(t, time.Since(began), 10*time.Second, start)
		e.Close()
	}
}
