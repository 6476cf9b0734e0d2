// Package enginetest puts the real parts of the server together for tests: the store (see storetest) and the
// engine on Argo's and Kubernetes' fake clientsets. Only the object store is a stand-in, in memory.
package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argofake "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/server/store/storetest"
)

// Namespace is where the workflows of tests live.
const Namespace = "kubeflow"

// patience is how long a test waits for what comes at once unless the machine is very busy.
const patience = 5 * time.Minute

// Manifest is a small valid pipeline with one parameter, greeting.
const Manifest = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: greeting, value: hello}]}
  templates:
    - name: main
      container: {image: alpine, command: [echo, "{{workflow.parameters.greeting}}"]}
`

// Bundle is a server without its network side.
type Bundle struct {
	Store       *sqlstore.Store
	Argo        *argofake.Clientset
	Kube        *fake.Clientset
	Dynamic     *dynamicfake.FakeDynamicClient // with the kinds of distributed jobs and Volcano's
	Engine      *engine.Engine
	Artifacts   *Objects
	Logs        *logs.Archive // which records nothing unless a test runs it
	Feed        *run.Feed
	Pipelines   *pipeline.Service
	Experiments *experiment.Service
	Runs        *run.Service
	Schedules   *schedule.Service
	Log         *slog.Logger
}

// New makes a bundle that lives as long as the test. Its cluster has a run when the run's creation returns, however slow the machine is;
// a test whose cluster takes its time changes PromptWait.
func New(t *testing.T, with ...func(*run.Config)) *Bundle {
	t.Helper()
	store := storetest.Open(t)
	b := &Bundle{
		Store: store, Argo: argofake.NewSimpleClientset(), Kube: fake.NewClientset(), Dynamic: NewDynamic(),
		Artifacts: &Objects{}, Feed: &run.Feed{},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	b.Engine = engine.New(b.Argo, b.Kube, b.Dynamic, Namespace, b.Log)
	b.Pipelines = pipeline.NewService(store, b.Engine, nil, time.Now)
	b.Experiments = experiment.NewService(store, time.Now)
	b.Logs = b.Archive()
	runs := run.Config{
		Store: store, Engine: b.Engine, Pipelines: b.Pipelines, Experiments: b.Experiments, Artifacts: b.Artifacts, Logs: b.Logs,
		Feed: b.Feed, Namespace: Namespace, PromptWait: patience, PromptTime: patience, Now: time.Now, Log: b.Log,
	}
	for _, change := range with {
		change(&runs)
	}
	b.Runs = run.NewService(runs)
	b.Schedules = schedule.NewService(schedule.Config{Store: store, Runs: b.Runs, Now: time.Now, Log: b.Log})
	return b
}

// NewDynamic makes a client of the kinds of distributed jobs and of what Volcano's scheduler works with.
func NewDynamic(objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	lists := map[schema.GroupVersionResource]string{
		{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}:    "QueueList",
		{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}: "PodGroupList",
		{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}:             "PodMetricsList",
		{Group: "bus.volcano.sh", Version: "v1alpha1", Resource: "commands"}:        "CommandList",
	}
	for _, kind := range job.Kinds() {
		lists[kind.GVR()] = kind.Name + "List"
	}
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)
}

// WithoutVolcano has a client answer as a cluster does that does not know Volcano's queues.
func WithoutVolcano(c *dynamicfake.FakeDynamicClient) *dynamicfake.FakeDynamicClient {
	c.PrependReactor("*", "queues", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}}
	})
	return c
}

// Archive makes another archive of the same logs, as after a restart of the server.
func (b *Bundle) Archive() *logs.Archive {
	return logs.New(logs.Config{Store: b.Store, Cluster: b.Engine, Artifacts: b.Artifacts, Log: b.Log})
}

// Start creates a run of Manifest.
func (b *Bundle) Start(t *testing.T) run.Run {
	t.Helper()
	r, err := b.Runs.Creator.Create(t.Context(), run.Request{Name: "a run", Manifest: []byte(Manifest)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Workflow reads the Workflow of a run from the cluster; nil when it is not there.
func (b *Bundle) Workflow(t *testing.T, r run.Run) *wfv1.Workflow {
	t.Helper()
	list, err := b.Argo.ArgoprojV1alpha1().Workflows(Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Labels["pipeline/runid"] == r.ID {
			return &list.Items[i]
		}
	}
	return nil
}

// Update changes the Workflow of a run as the controller would.
func (b *Bundle) Update(t *testing.T, r run.Run, change func(*wfv1.Workflow)) {
	t.Helper()
	wf := b.Workflow(t, r)
	change(wf)
	if _, err := b.Argo.ArgoprojV1alpha1().Workflows(Namespace).Update(t.Context(), wf, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Until waits for a run to become what is asked for, woken by the feed.
func (b *Bundle) Until(t *testing.T, id string, is func(run.Run) bool) run.Run {
	t.Helper()
	changes := b.Feed.Subscribe(id)
	defer changes.Close()
	deadline := time.After(patience)
	for {
		r, err := b.Store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if is(r) {
			return r
		}
		select {
		case <-changes.C():
			changes.Changed()
		case <-deadline:
			text, _ := json.MarshalIndent(r, "", " ") // only for the message
			t.Fatalf("the run did not become so in time: %s", text)
		}
	}
}

// Objects is an artifact store in memory, which can be made to fail.
type Objects struct {
	mu      sync.Mutex
	objects map[string][]byte
	reads   int
	err     error
}

// Break makes every call fail with err until it is mended with nil.
func (o *Objects) Break(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

// Keys counts the objects.
func (o *Objects) Keys() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.objects)
}

// Reads counts how often an object was read.
func (o *Objects) Reads() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reads
}

// Put implements artifact.Store.
func (o *Objects) Put(_ context.Context, key string, r io.Reader, size int64) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if size >= 0 && size != int64(len(data)) {
		return apierr.New(apierr.Internal, "%s: %d bytes were announced and %d came", key, size, len(data))
	}
	if o.objects == nil {
		o.objects = map[string][]byte{}
	}
	o.objects[key] = data
	return nil
}

// Get implements artifact.Store.
func (o *Objects) Get(_ context.Context, key string) (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	o.reads++
	data, ok := o.objects[key]
	if !ok {
		return nil, apierr.New(apierr.NotFound, "the artifact store has no %s", key)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Delete implements artifact.Store.
func (o *Objects) Delete(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	delete(o.objects, key)
	return nil
}

// Size implements artifact.Store.
func (o *Objects) Size(_ context.Context, key string) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	size, found := int64(0), false
	for k, data := range o.objects {
		if k == key || strings.HasPrefix(k, key+"/") {
			size, found = size+int64(len(data)), true
		}
	}
	if !found {
		return 0, apierr.New(apierr.NotFound, "the artifact store has no %s", key)
	}
	return size, nil
}

// DeleteAll implements artifact.Store.
func (o *Objects) DeleteAll(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	maps.DeleteFunc(o.objects, func(k string, _ []byte) bool { return k == key || strings.HasPrefix(k, key+"/") })
	return nil
}
