package probes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// The startup probe of a container that is being stopped does not end it once more.
func TestStartupProbeIsGivenUpWhenThePodEnds(t *testing.T) {
	t.Parallel()
	exited := make(chan struct{})
	close(exited)
	Container{
		Spec:  &corev1.Container{Name: "c", StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}},
		Began: time.Now(), Exited: exited,
		Ending:  func() bool { return true },
		Started: func() bool { return false },
		End:     func(time.Duration) { require.Fail(t, "ended") },
		Event:   func(_, reason, _ string, _ ...any) { require.Fail(t, "event", reason) },
	}.watch(t.Context())
}
