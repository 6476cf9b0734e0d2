package plane

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

// Between its disk snapshots etcd applies its whole log at each start, and compacts what it keeps of it in memory meanwhile. An election in that moment
// makes raft panic, which ends the process.
func TestLeadWhileTheLogIsApplied(t *testing.T) {
	h, err := home.Open(t.TempDir())
	require.NoError(t, err)
	for start := range 30 {
		cfg, err := etcdConfig(h)
		require.NoError(t, err)
		cfg.UnsafeNoFsync = true // a busy disk takes longer to sync than etcd lets a request wait
		e, err := embed.StartEtcd(cfg)
		require.NoError(t, err, start)
		lead(t.Context(), e.Server)
		<-e.Server.ReadyNotify()
		for i := range 50 {
			_, err := e.Server.Put(t.Context(), &etcdserverpb.PutRequest{Key: fmt.Append(nil, "key-", start, "-", i), Value: []byte("value")})
			require.NoError(t, err)
		}
		e.Close()
	}
}

// A clock that ticks every ten seconds would elect the only member when it has ticked five times, and no sooner.
func TestLead(t *testing.T) {
	h, err := home.Open(t.TempDir())
	require.NoError(t, err)
	for _, start := range []string{"first", "second"} {
		cfg, err := etcdConfig(h)
		require.NoError(t, err)
		cfg.TickMs, cfg.ElectionMs = 10_000, 50_000
		cfg.UnsafeNoFsync = true
		began := time.Now()
		e, err := embed.StartEtcd(cfg)
		require.NoError(t, err, start)
		lead(t.Context(), e.Server)
		<-e.Server.ReadyNotify()
		require.Less(t, time.Since(began), 45*time.Second, start)
		e.Close()
	}
}
