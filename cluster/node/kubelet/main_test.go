package kubelet

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The fake clientset's tracker and klog keep one goroutine each for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
