package job

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// bench is a launcher whose own pod and whose job's pods and events are in a fake cluster.
type bench struct {
	*waiting
	kube *fake.Clientset
	out  *strings.Builder
}

func newBench(t *testing.T, objects ...runtime.Object) *bench {
	t.Helper()
	own := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "own", Namespace: "kubeflow"}}
	kube := fake.NewClientset(append(objects, own)...)
	kube.PrependReactor("list", "events", func(a clienttesting.Action) (bool, runtime.Object, error) { // fakes know no fields
		ofGang := strings.Contains(a.(clienttesting.ListAction).GetListRestrictions().Fields.String(), "PodGroup")
		return !ofGang, &corev1.EventList{}, nil
	})
	l, _, out := newFakeLauncher(t, "me")
	l.Pods, l.Events, l.ID.Pod = kube.CoreV1().Pods("kubeflow"), kube.CoreV1().Events("kubeflow"), own
	l.Spec.Roles[0].CPU = resource.MustParse("2")
	l.notice = l.newPublisher(own)
	return &bench{&waiting{l: l, since: time.Now().Add(-time.Minute), log: map[string]time.Time{}}, kube, out}
}

// published is what the launcher's pod says.
func (b *bench) published(t *testing.T) string {
	t.Helper()
	own, err := b.l.Pods.Get(t.Context(), "own", metav1.GetOptions{})
	require.NoError(t, err)
	return own.Annotations[pending.Annotation]
}

// look is one look at the job, as if the time that sentences keep apart had passed.
func (b *bench) look(t *testing.T, s state) {
	t.Helper()
	b.said, b.asked = time.Time{}, time.Time{}
	require.Empty(t, b.report(t.Context(), s))
}

func (b *bench) patches() (n int) {
	for _, a := range b.kube.Actions() {
		if a.GetVerb() == "patch" {
			n++
		}
	}
	return n
}

func gangEvent(name, message string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kubeflow"}, Reason: "Unschedulable", Message: message,
		InvolvedObject: corev1.ObjectReference{Kind: "PodGroup"},
	}
}

func using(name, job, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kubeflow", Labels: map[string]string{"training.kubeflow.org/job-name": job}},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}}},
	}
}

// Several events of a gang say the same in other words: people get one sentence, with numbers, and who has what is missing.
func TestAGangThatWaitsIsOneSentence(t *testing.T) {
	t.Parallel()
	b := newBench(t,
		gangEvent("a", "pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable"),
		gangEvent("b", "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable"),
		gangEvent("c", "0/1 nodes are unavailable: 1 Insufficient cpu."),
		using("w-0", "other-1", "1500m"), using("w-1", "other-1", "1500m"), using("x", "another-2", "500m"))
	s := jobWith(&mpiJob, nil, "Created")
	b.look(t, s)
	const sentence = "needs 2 workers with 2 CPUs each at once; 3.5 CPUs are in use by other-1, another-2"
	require.Equal(t, sentence, b.published(t))
	require.Equal(t, "argosy: "+sentence+"\n", b.out.String())
	for range 5 {
		b.look(t, s)
	}
	require.Equal(t, "argosy: "+sentence+"\n", b.out.String(), "once")
	require.Equal(t, 1, b.patches(), "nothing new is not written")

	b.log[sentence] = time.Now().Add(-statusAgain - time.Second)
	b.look(t, s)
	require.Equal(t, 2, strings.Count(b.out.String(), sentence), "but that there is life is said again after a while")

	running := func(name string) *corev1.Pod {
		return pod(name, corev1.PodRunning, in("worker"), func(p *corev1.Pod) { p.Spec.NodeName = "n" })
	}
	b.look(t, jobWith(&mpiJob, []*corev1.Pod{running("w-0"), running("w-1")}, "Created"))
	require.Equal(t, "all workers run: waiting for the job's launcher to be created", b.published(t))
	b.look(t, jobWith(&mpiJob, []*corev1.Pod{running("w-0"), running("w-1"), pod("l", corev1.PodRunning, begun, in("launcher"))}, "Created", "Running"))
	require.Empty(t, b.published(t))
	require.Contains(t, b.out.String(), "argosy: the job runs, ")
}

// Sentences that take turns are printed once each; the pod says the newest.
func TestSentencesThatTakeTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	worker := func(name string, change ...func(*corev1.Pod)) *corev1.Pod {
		return pod(name, corev1.PodPending, append(change, in("worker"), func(p *corev1.Pod) { p.Spec.NodeName = "n" })...)
	}
	pulls := jobWith(&mpiJob, []*corev1.Pod{worker("w-0", waitingFor("ErrImagePull", "denied")), worker("w-1", waitingFor("ImagePullBackOff", "Back-off pulling image: ErrImagePull: denied"))}, "Created")
	starts := jobWith(&mpiJob, []*corev1.Pod{worker("w-0"), worker("w-1")}, "Created")
	for range 3 {
		b.look(t, pulls)
		require.Equal(t, "waiting for 2 workers: 0 running; pod w-0 and 1 more: image cannot be pulled: denied; it is tried again", b.published(t))
		b.look(t, starts)
		require.Equal(t, "waiting for 2 workers: 0 running; pod w-0 and 1 more: starting", b.published(t))
	}
	require.Equal(t, 2, strings.Count(b.out.String(), "\n"), b.out.String())
}

func TestShortages(t *testing.T) {
	t.Parallel()
	translated, err := os.ReadFile("../../frontend/src/waiting/sentences.txt")
	require.NoError(t, err)
	spec := func(roles ...Role) *Spec { return &Spec{Kind: &tfJob, Roles: roles} }
	gib := resource.MustParse("8Gi")
	cpu := resource.MustParse("1")
	workers := Role{Name: "worker", Replicas: 4, GPUs: 8, CPU: cpu, Memory: gib}
	for want, tc := range map[string]struct {
		spec *Spec
		said []string
	}{
		"needs 4 workers with 8 nvidia.com/gpu each; the cluster has too little nvidia.com/gpu free":                           {spec(workers), []string{"0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}},
		"needs 4 workers with 1 CPU and 8Gi of memory each; the cluster has too little cpu and memory free":                    {spec(workers), []string{"0/3 nodes are available: 3 Insufficient memory, 1 Insufficient cpu."}},
		"needs 4 workers with 1 CPU and 8Gi of memory and 8 nvidia.com/gpu each at once; the cluster has no room for that yet": {spec(workers), []string{"pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable"}},
		"needs 4 workers with 1 CPU and 8Gi of memory and 8 nvidia.com/gpu each; the cluster has no room for that yet":         {spec(workers), []string{"pod group is not ready, 1 minAvailable, 2 Pending; Pending: 2 Unschedulable"}},
		"needs 1 ps with 1 CPU and 2 workers with 1 CPU each at once; the cluster has too little cpu free":                     {spec(Role{Name: "ps", Replicas: 1, CPU: cpu}, Role{Name: "worker", Replicas: 2, CPU: cpu}), []string{"resource in cluster is overused: overused cpu", "pod group is not ready, 3 Pending, 3 minAvailable"}},
		"needs room for 2 pods at once; no node takes one (3 nodes: does not match the step's node selector)":                  {spec(Role{Name: "worker", Replicas: 2}), []string{"pod group is not ready, 2 Pending, 2 minAvailable", "0/3 nodes are unavailable: 3 node(s) didn't match Pod's node affinity/selector."}},
		"needs room for 2 pods; the cluster has too little ephemeral-storage free":                                             {spec(Role{Name: "worker", Replicas: 2}), []string{"0/1 nodes are available: 1 Insufficient ephemeral-storage."}},
	} {
		room := shortageOf(tc.said)
		require.NotNil(t, room, want)
		require.Equal(t, want, room.text(tc.spec))
		require.Contains(t, string(translated), want+"\n", "the UI has each sentence in Chinese: add it to the file, and its phrases to chinese.ts beside it")
	}
	require.Nil(t, shortageOf([]string{"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."}))
}

// The launcher reports a missing right to write on its pod once, and retries failures that may pass.
func TestPublishing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	answers := []error{errors.New("connection refused"), nil}
	b.kube.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		err := answers[0]
		answers = answers[1:]
		return err != nil, nil, err
	})
	b.l.notice.say(t.Context(), "one")
	require.Empty(t, b.published(t))
	b.l.notice.say(t.Context(), "one")
	require.Equal(t, "one", b.published(t))

	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "own", errors.New("no"))
	answers = []error{forbidden}
	b.l.notice.say(t.Context(), "two")
	b.l.notice.say(t.Context(), "three")
	require.Equal(t, 1, strings.Count(b.out.String(), "needs patch of pods"))

	own, err := b.l.Pods.Get(t.Context(), "own", metav1.GetOptions{})
	require.NoError(t, err)
	again := b.l.newPublisher(own)
	b.kube.ClearActions()
	again.say(t.Context(), "one")
	require.Zero(t, b.patches(), "a launcher that starts again knows what its pod says")
	b.l.newPublisher(nil).say(context.Background(), "outside of a cluster")
	require.Zero(t, b.patches())
}
