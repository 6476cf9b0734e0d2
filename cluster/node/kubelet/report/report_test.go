package report

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ownedPod is a pod of a workflow's template that began to run at a time.
func ownedPod(r *Reporter, uid types.UID, template string, ran time.Time) *Status {
	yes := true
	obj := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, OwnerReferences: []metav1.OwnerReference{{UID: "workflow", Controller: &yes}}}}
	obj.Status.Phase = corev1.PodPending
	s := r.For(obj, template, slog.New(slog.DiscardHandler))
	s.ran, s.status.Phase = ran, corev1.PodRunning
	return s
}

func TestWhenAStatusIsDue(t *testing.T) {
	t.Parallel()
	k := New(nil)
	now := time.Now()
	wait := func(p *Status) time.Duration { return p.due(now).Sub(now) }

	p := ownedPod(k, "1", "short", now)
	require.Zero(t, wait(p), "no pod of its owner has run")
	p.status.ContainerStatuses = []corev1.ContainerStatus{{}, {State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}
	require.Equal(t, preparing, wait(p), "the other container is about to run")
	p.stored.Status.Phase = corev1.PodRunning
	require.Equal(t, settling, wait(p))
	p.status.Phase = corev1.PodPending
	require.Equal(t, preparing, wait(p))

	ownedPod(k, "2", "short", now.Add(-200*time.Millisecond)).NoteLife(now)
	ownedPod(k, "3", "long", now.Add(-time.Minute)).NoteLife(now)
	require.Equal(t, 400*time.Millisecond, wait(ownedPod(k, "4", "short", now)), "it will be over")
	require.Zero(t, wait(ownedPod(k, "5", "long", now)), "it will not")
	ownedPod(k, "6", "short", now.Add(-10*time.Millisecond)).NoteLife(now)
	require.Equal(t, hardlyRan, wait(ownedPod(k, "7", "short", now)), "it was a lucky one")
	ownedPod(k, "6", "short", now.Add(-900*time.Millisecond)).NoteLife(now)
	require.Equal(t, soonOver, wait(ownedPod(k, "7", "short", now)))
}
