package spec

import (
	"log/slog"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/logs"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// Limits of a termination message. A longer one keeps its end.
const (
	maxMessage       = 4096
	maxFallback      = 2048
	maxFallbackLines = 80
)

// TerminationMessage is what a container of the pod in a folder left to say.
func TerminationMessage(dir string, c *corev1.Container, life podlog.Life, code int, log *slog.Logger) string {
	if c.TerminationMessagePath != "" {
		b, err := beneath.ReadEnd(filepath.Join(dir, sandbox.Messages), c.Name, maxMessage)
		if err != nil {
			log.Warn("termination message not read", "container", c.Name, "err", err)
		}
		if len(b) > 0 {
			return string(b)
		}
	}
	if code == 0 || c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		return ""
	}
	tail, err := logs.Tail(life, maxFallbackLines, maxFallback)
	if err != nil {
		log.Warn("log not read", "container", c.Name, "err", err)
	}
	return tail
}
