package controlplane

import (
	"fmt"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/argosy-ml/argosy/cluster/home"
)

// startEtcd runs etcd inside this process. It listens on a unix socket that
// only the owner can reach: etcd itself asks for no password.
func startEtcd(h home.Home) (e *embed.Etcd, endpoint string, err error) {
	endpoint = "unix://" + h.Socket("etcd")
	client, err := url.Parse(endpoint)
	if err != nil {
		return nil, "", fmt.Errorf("etcd: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Name = "argosy"
	cfg.Dir = h.Etcd()
	cfg.ListenClientUrls = []url.URL{*client}
	// One member has no peers: nothing listens for any, and the addresses it advertises by default are never dialled.
	cfg.ListenPeerUrls = nil
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// A lone member elects itself after one election timeout: keep it short.
	cfg.TickMs, cfg.ElectionMs = 50, 250
	// Room for more than a busy hour; compaction keeps it from being needed. A full etcd takes no more writes at all.
	cfg.QuotaBackendBytes = 8 << 30
	logging := zap.NewProductionConfig()
	logging.Level = zap.NewAtomicLevelAt(zapcore.ErrorLevel)
	logger, err := logging.Build()
	if err != nil {
		return nil, "", fmt.Errorf("etcd: %w", err)
	}
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	if e, err = embed.StartEtcd(cfg); err != nil {
		return nil, "", fmt.Errorf("etcd in %s: %w", filepath.Clean(cfg.Dir), err)
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, endpoint, nil
	case err := <-e.Err():
		e.Close()
		return nil, "", fmt.Errorf("etcd in %s: %w", cfg.Dir, err)
	}
}
