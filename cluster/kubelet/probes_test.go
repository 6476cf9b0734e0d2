package kubelet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
)

// A container that is being stopped is not ended once more because it had not begun to work yet.
func TestStartupProbeIsGivenUpWhenThePodEnds(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	p.ending = true
	c := &corev1.Container{Name: "c", StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}}
	p.status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c"}}
	proc := &process{name: "c", started: time.Now(), exited: make(chan struct{})}
	close(proc.exited)
	health{p, c, p.slot(mainContainer, 0), proc}.watch(t.Context())
	require.Empty(t, p.k.events["local"].(*record.FakeRecorder).Events)
}
