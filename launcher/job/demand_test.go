package job

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	corefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/launcher/capacity/survey"
)

// onNodes gives a launcher the nodes of a cluster to look at.
func onNodes(l *Launcher, cpus ...string) *corefake.Clientset {
	client := corefake.NewClientset()
	for i, cpu := range cpus {
		_ = client.Tracker().Add(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node-" + string(rune('a'+i))},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("24Gi")}},
		})
	}
	if l.ID.Pod != nil {
		_ = client.Tracker().Add(l.ID.Pod)
	}
	l.Survey = &survey.Survey{Core: client.CoreV1(), Storage: client.StorageV1()}
	l.Pods = client.CoreV1().Pods(l.ID.Namespace)
	return client
}

// limited makes the launcher's job one of two workers with two CPUs each.
func limited(t *testing.T, l *Launcher, gang string) {
	t.Helper()
	o := Options{"name": {"train"}, "image": {"i"}, "workers": {"2"}, "cpu": {"2"}, "gang": {gang}}
	spec, err := o.Spec(&mpiJob, "mpirun x")
	require.NoError(t, err)
	l.Spec = spec
}

func TestNeverFits(t *testing.T) {
	t.Parallel()
	l, client, _ := newFakeLauncher(t, "me")
	limited(t, l, "")
	l.ID.Pod.Annotations = map[string]string{AnnotationParameters: `{"cpu":"cpu_limit"}`}
	onNodes(l, "2")
	l.Paths.Termination = filepath.Join(t.TempDir(), "termination")
	require.NoError(t, os.WriteFile(l.Paths.Termination, nil, 0o600))
	var failed *FailedError
	require.ErrorAs(t, l.Run(t.Context(), ""), &failed)
	const says = "asks 2 workers x 2 CPUs = 4; this cluster has 2: lower cpu_limit, or add nodes"
	require.Equal(t, says, failed.Cause)
	require.False(t, asked(client, "create"), "nothing is created")
	message, err := os.ReadFile(l.Paths.Termination)
	require.NoError(t, err)
	require.Equal(t, says, string(message))
}

// What may fit, may come, or is there already, is not refused.
func TestMayFit(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*Launcher){
		"two nodes":           func(l *Launcher) { onNodes(l, "2", "2") },
		"one after the other": func(l *Launcher) { limited(t, l, "false"); onNodes(l, "2") },
		"a cluster that grows": func(l *Launcher) {
			onNodes(l, "2")
			l.ID.Pod.Annotations = map[string]string{AnnotationScalesUp: "true"}
		},
		"nodes that are hidden": func(l *Launcher) { hideNodes(onNodes(l, "2")) },
	} {
		l, client, out := newFakeLauncher(t, "me")
		limited(t, l, "")
		prepare(l)
		_, err := l.ensure(t.Context())
		require.NoError(t, err, name)
		require.True(t, asked(client, "create"), name)
		if name == "nodes that are hidden" {
			require.Contains(t, out.String(), "the launcher's service account needs list of nodes")
		}
	}
	there := existing(t, "me", func(*unstructured.Unstructured) {})
	l, _, out := newFakeLauncher(t, "me", there)
	limited(t, l, "")
	onNodes(l, "2")
	_, err := l.ensure(t.Context())
	require.NoError(t, err)
	require.Contains(t, out.String(), "going on with MPIJob")
}

func hideNodes(client *corefake.Clientset) {
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil)
	})
}

// A gang that its queue can never hold is refused, whatever nodes there are. A queue that takes no gangs may take some later.
func TestQueueLimit(t *testing.T) {
	t.Parallel()
	gvr := schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}
	queue := func(name, cpu, state string) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"capability": map[string]any{"cpu": cpu}}, "status": map[string]any{"state": state},
		}}
	}
	for name, c := range map[string]struct {
		queue, gang, scheduler string
		hide                   error
		fails, says            string
	}{
		"a gang": {
			queue: "small", fails: "asks 2 workers x 2 CPUs = 4; queue small may have 3: lower cpu_limit, choose another queue, or raise its limit with argosy queue set small --capability cpu=4",
		},
		"pods one by one":   {queue: "small", gang: "false"},
		"another scheduler": {queue: "small", scheduler: "other"},
		"a larger queue":    {queue: "large"},
		"no queue":          {},
		"a closed queue":    {queue: "shut", says: "the job will wait: queue shut is closed and takes no gangs: open it, or choose another queue"},
		"a missing queue":   {queue: "gone", says: "the job will wait: there is no queue gone: create it, or choose another"},
		"hidden queues": {
			queue: "small", hide: apierrors.NewForbidden(gvr.GroupResource(), "", nil),
			says: "whether the job fits into queue small is not checked: the launcher's service account needs list of queues.scheduling.volcano.sh",
		},
		"no Volcano": {queue: "small", hide: apierrors.NewNotFound(gvr.GroupResource(), "")},
	} {
		l, client, out := newFakeLauncher(t, "me")
		o := Options{"name": {"train"}, "image": {"i"}, "workers": {"2"}, "cpu": {"2"}, "gang": {c.gang}, "queue": {c.queue}, "scheduler": {c.scheduler}}
		spec, err := o.Spec(&mpiJob, "mpirun x")
		require.NoError(t, err)
		l.Spec = spec
		l.ID.Pod.Annotations = map[string]string{AnnotationParameters: `{"cpu":"cpu_limit"}`, AnnotationScalesUp: "true"}
		onNodes(l, "2")
		volcano := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{gvr: "QueueList"},
			queue("small", "3", "Open"), queue("large", "4", "Open"), queue("shut", "4", "Closed"))
		if c.hide != nil {
			volcano.PrependReactor("list", "queues", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, c.hide })
		}
		l.Survey.Queues = volcano.Resource(gvr)
		_, err = l.ensure(t.Context())
		require.Equal(t, c.fails == "", asked(client, "create"), name)
		if c.fails != "" {
			require.EqualError(t, err, c.fails, name)
			continue
		}
		require.NoError(t, err, name)
		require.Contains(t, out.String(), c.says, name)
	}
}

// Of the jobs that name a queue, it holds for those whose pods Volcano places.
func TestVolcanoQueue(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		for scheduler, want := range map[string]bool{"": kind != &singleJob, "volcano": true, "default-scheduler": false} {
			if kind == &trainJob && scheduler != "" { // its runtime chooses
				continue
			}
			o := Options{"name": {"train"}, "image": {"i"}, "queue": {"small"}, "scheduler": {scheduler}}
			spec, err := o.Spec(kind, "c")
			require.NoError(t, err, kind.Command)
			made, err := Build(spec, Identity{Namespace: "n", Workflow: "w", Node: "w-1"})
			require.NoError(t, err)
			require.Equal(t, want, spec.Demand(made).Queue == "small", "%s of scheduler %q", kind.Command, scheduler)
		}
	}
}

// Every kind of job is asked for the pods that its operator will make.
func TestDemand(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]int{
		"mpijob":     {"launcher": 1, "worker": 3},
		"pytorchjob": {"master": 1, "worker": 2},
		"xgboostjob": {"master": 1, "worker": 2},
		"paddlejob":  {"worker": 3},
		"jaxjob":     {"worker": 3},
		"tfjob":      {"worker": 3, "ps": 2},
		"mxjob":      {"worker": 3, "server": 1, "scheduler": 1},
		"trainjob":   {"node": 3},
		"volcanojob": {"worker": 3},
		"job":        {"": 1},
	}
	for _, kind := range Kinds() {
		o := Options{"name": {"train"}, "image": {"i"}, "workers": {"3"}, "cpu": {"2"}, "gpus": {"1"}}
		switch kind.Command {
		case "tfjob":
			o["role-replicas"] = []string{"ps=2"}
		case "job":
			delete(o, "workers")
		}
		spec, err := o.Spec(kind, "c")
		require.NoError(t, err, kind.Command)
		made, err := Build(spec, Identity{Namespace: "n", Workflow: "w", Node: "w-1"})
		require.NoError(t, err)
		d := spec.Demand(made)
		require.True(t, d.Together, kind.Command)
		got := map[string]int{}
		for _, g := range d.Groups {
			got[g.Name] = g.Replicas
			cpu := g.Pod.Containers[0].Resources.Limits[corev1.ResourceCPU]
			require.Equal(t, g.Name != roleLauncher, cpu.String() == "2", "%s of %s", g.Name, kind.Command)
		}
		require.Equal(t, want[kind.Command], got, kind.Command)
	}
}

// What the server reads of a step is what its launcher reads.
func TestParse(t *testing.T) {
	t.Parallel()
	spec, err := Parse([]string{"mpijob", "--name=train", "--image", "i", "--workers=2", "--cpu=500m", "--metrics-file=/m", "--", "mpirun x"})
	require.NoError(t, err)
	require.Equal(t, 2, spec.Roles[0].Replicas)
	require.Equal(t, "500m", spec.Roles[0].CPU.String())
	for want, args := range map[string][]string{
		"names no kind":    {"git-sync"},
		"one argument":     {"mpijob", "--name=x", "--image=i"},
		"--workers: \"x\"": {"mpijob", "--name=x", "--image=i", "--workers=x", "--", "c"},
	} {
		_, err := Parse(args)
		require.ErrorContains(t, err, want)
	}
	_, err = Parse(nil)
	require.Error(t, err)
}
