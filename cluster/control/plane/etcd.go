package plane

import (
	"context"
	"expvar"
	"fmt"
	"net"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

// readBuffer is what a connection of etcd's may have read ahead, in bytes.
const readBuffer = 4 << 10

// runEtcd runs etcd inside this process until the context ends. It listens on a unix socket that only the owner can
// reach: etcd itself asks for no password.
func runEtcd(ctx context.Context, h home.Home) error {
	cfg, err := etcdConfig(h)
	if err != nil {
		return err
	}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("etcd in %s: %w", h.Etcd(), err)
	}
	defer e.Close()
	lead(ctx, e.Server)
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.Err():
		return fmt.Errorf("etcd in %s: %w", h.Etcd(), err)
	}
}

func etcdEndpoint(h home.Home) string { return "unix://" + h.Socket("etcd") }

// awaitEtcd returns when etcd listens, which is long before it answers: connections from then on wait, and earlier ones are refused
// and makes a pause of a second.
func awaitEtcd(ctx context.Context, h home.Home) error {
	var d net.Dialer
	for {
		if conn, err := d.DialContext(ctx, "unix", h.Socket("etcd")); err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func etcdConfig(h home.Home) (*embed.Config, error) {
	client, err := url.Parse(etcdEndpoint(h))
	if err != nil {
		return nil, err
	}
	cfg := embed.NewConfig()
	cfg.Name = "argosy"
	cfg.Dir = h.Etcd()
	cfg.ListenClientUrls = []url.URL{*client}
	// One member has no peers: nothing listens for any, and the addresses it advertises by default are never dialled.
	cfg.ListenPeerUrls = nil
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// The only member is elected by lead. An election timeout that ended while the log is still being applied could make raft panic (see there).
	cfg.TickMs, cfg.ElectionMs = 100, 5000
	cfg.InitialElectionTickAdvance = false
	cfg.BackendBatchInterval = 500 * time.Millisecond // the log is synced with every write; this is when the file of all objects follows
	// The apiserver opens a connection for each kind of object, and most of them say little.
	cfg.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.ReadBufferSize(readBuffer)}
	// Room for more than a busy hour; compaction keeps it from being needed. A full etcd takes no more writes at all.
	cfg.QuotaBackendBytes = 8 << 30
	logging := zap.NewProductionConfig()
	logging.Level = zap.NewAtomicLevelAt(zapcore.ErrorLevel)
	logger, err := logging.Build()
	if err != nil {
		return nil, err
	}
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	return cfg, nil
}

// lead makes the only member stand for election as soon as it may: by itself it would first wait an election timeout for another leader. lead sends
// it the message with which a leader hands over. The message must wait until raft has applied what it had committed before the start: until then
// raft looks there for changes of membership, and panics when etcd has already compacted these entries.
func lead(ctx context.Context, member *etcdserver.EtcdServer) {
	self := uint64(member.MemberID())
	for member.Leader() == 0 {
		if s, ok := raftStatus(); ok && s.Commit > 0 && s.Applied >= s.Commit {
			if member.Process(ctx, raftpb.Message{Type: raftpb.MsgTimeoutNow, From: self, To: self}) != nil {
				return // it ends
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// raftStatus is raft's own view of this process's member, which etcd publishes among its variables.
func raftStatus() (raft.Status, bool) {
	f, ok := expvar.Get("raft.status").(expvar.Func)
	if !ok {
		return raft.Status{}, false
	}
	s, ok := f.Value().(raft.Status)
	return s, ok
}
