package test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	wfclientset "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	wfclient "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/typed/workflow/v1alpha1"
	hydratorfake "github.com/argoproj/argo-workflows/v3/workflow/hydrator/fake"
	wfutil "github.com/argoproj/argo-workflows/v3/workflow/util"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Where the workflows are: one for each feature, and those that look at the corners where fast paths could differ.
const (
	features = "testdata/argo"
	corners  = "testdata/conformance"
)

// workflowLimit is how long a workflow of a test may take; the real executor on a busy machine needs some of it.
const workflowLimit = 3 * time.Minute

// scenario is a file of testdata: what is to come of it in the first document, what is to be created in the others.
type scenario struct {
	want     outcome
	objects  []*unstructured.Unstructured
	workflow *wfv1.Workflow
}

type outcome struct {
	Feature string
	Phase   wfv1.WorkflowPhase
	Message string // a part of the workflow's
	Outputs map[string]string
	Nodes   map[string]nodeOutcome // by display name; of several nodes with that name one must be so
	Logs    map[string]string      // what `main` of a node wrote
	Absent  []string               // nodes that must not exist
	Act     *action
}

// action is done to a workflow once a node of it has said something.
type action struct{ Node, Says, Do string }

type nodeOutcome struct {
	Phase     wfv1.NodePhase
	Message   string // a part of the node's
	Result    *string
	ExitCode  *string
	Outputs   map[string]string
	Artifacts []string
	Memoized  *bool
	Progress  string
}

// argoResources are the kinds that a scenario may hold beside its workflow.
var argoResources = map[string]schema.GroupVersionResource{
	"ConfigMap":               {Version: "v1", Resource: "configmaps"},
	"Secret":                  {Version: "v1", Resource: "secrets"},
	"ServiceAccount":          {Version: "v1", Resource: "serviceaccounts"},
	"Role":                    {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":             {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	"WorkflowTemplate":        {Group: "argoproj.io", Version: "v1alpha1", Resource: "workflowtemplates"},
	"ClusterWorkflowTemplate": {Group: "argoproj.io", Version: "v1alpha1", Resource: "clusterworkflowtemplates"},
}

// scenarioNames are the files of a folder.
func scenarioNames(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	return names
}

func readScenario(t *testing.T, folder, name string) *scenario {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
	require.NoError(t, err)
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	s := &scenario{}
	doc, err := docs.Read()
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(doc, &s.want), name)
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		o := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(doc, &o.Object), name)
		if o.GetKind() == "Workflow" {
			s.workflow = &wfv1.Workflow{}
			require.NoError(t, yaml.UnmarshalStrict(doc, s.workflow), name)
		} else {
			s.objects = append(s.objects, o)
		}
	}
	require.NotNil(t, s.workflow, "%s holds no workflow", name)
	return s
}

// argo is the part of a cluster that a test of workflows talks to.
type argo struct {
	*cluster
	clients   wfclientset.Interface
	workflows wfclient.WorkflowInterface
	executor  string // annotation of the pods; empty: whatever the kubelet takes
}

func newArgo(t *testing.T, c *cluster) *argo {
	t.Helper()
	clients, err := wfclientset.NewForConfig(c.config)
	require.NoError(t, err)
	return &argo{cluster: c, clients: clients, workflows: clients.ArgoprojV1alpha1().Workflows(c.namespace)}
}

// run runs a scenario to its end.
func (a *argo) run(t *testing.T, s *scenario) *wfv1.Workflow {
	t.Helper()
	a.createObjects(t, s.objects)
	if slices.ContainsFunc(s.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "WorkflowTemplate" }) {
		a.untilTemplatesAreKnown(t, s.workflow)
	}
	name := a.submit(t, s.workflow).Name
	if do := s.want.Act; do != nil {
		a.untilSays(t, name, do.Node, do.Says)
		switch do.Do {
		case "stop":
			require.NoError(t, wfutil.StopWorkflow(t.Context(), a.workflows, hydratorfake.Noop, name, "", ""))
		case "terminate":
			require.NoError(t, wfutil.TerminateWorkflow(t.Context(), a.workflows, name))
		default:
			t.Fatalf("unknown action %q", do.Do)
		}
	}
	return a.finish(t, name)
}

// untilSays waits until the main container of a node has written something.
func (a *argo) untilSays(t *testing.T, workflow, node, text string) {
	t.Helper()
	wf := a.until(t, workflow, node+" runs", func(wf *wfv1.Workflow) bool {
		n := nodesNamed(wf, node)
		return len(n) > 0 && n[0].Phase == wfv1.NodeRunning
	})
	pod := podOfNode(wf, nodesNamed(wf, node)[0])
	eventually(t, node+" says "+text, func(ctx context.Context) bool {
		p, err := a.kube.CoreV1().Pods(a.namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil || p.Status.Phase != corev1.PodRunning { // one that Argo believes to be pending it would only delete
			return false
		}
		b, err := a.kube.CoreV1().Pods(a.namespace).GetLogs(pod, &corev1.PodLogOptions{Container: "main"}).DoRaw(ctx)
		return err == nil && strings.Contains(string(b), text)
	})
}

// createObjects creates what a scenario needs beside its workflow.
func (a *argo) createObjects(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		r, ok := argoResources[o.GetKind()]
		require.True(t, ok, "%s %s: its kind is not in argoResources", o.GetKind(), o.GetName())
		namespace := a.namespace
		if o.GetKind() == "ClusterWorkflowTemplate" {
			namespace = ""
		}
		_, err := a.any.Resource(r).Namespace(namespace).Create(t.Context(), o.DeepCopy(), metav1.CreateOptions{})
		if namespace == "" && apierrors.IsAlreadyExists(err) { // by another run of the same test
			err = nil
		}
		require.NoError(t, err)
	}
}

// untilTemplatesAreKnown waits until Argo's controller can start a workflow made from templates. It reads those from its cache, and
// fails a workflow that comes before them.
func (a *argo) untilTemplatesAreKnown(t *testing.T, wf *wfv1.Workflow) {
	t.Helper()
	wf = wf.DeepCopy()
	wf.Name, wf.GenerateName, wf.Spec.Suspend = "", "knows-templates-", new(true)
	eventually(t, "the controller knows the templates", func(ctx context.Context) bool {
		first := a.until(t, a.submit(t, wf).Name, "is looked at", func(wf *wfv1.Workflow) bool { return wf.Status.Phase != "" })
		require.NoError(t, a.workflows.Delete(ctx, first.Name, metav1.DeleteOptions{}))
		return first.Status.Phase == wfv1.WorkflowRunning
	})
}

// submit creates a workflow.
func (a *argo) submit(t *testing.T, wf *wfv1.Workflow) *wfv1.Workflow {
	t.Helper()
	wf = wf.DeepCopy()
	if a.executor != "" {
		if wf.Spec.PodMetadata == nil {
			wf.Spec.PodMetadata = &wfv1.Metadata{}
		}
		if wf.Spec.PodMetadata.Annotations == nil {
			wf.Spec.PodMetadata.Annotations = map[string]string{}
		}
		wf.Spec.PodMetadata.Annotations["argosy.dev/executor"] = a.executor
	}
	wf, err := a.workflows.Create(t.Context(), wf, metav1.CreateOptions{})
	require.NoError(t, err)
	return wf
}

// until waits for a state of a workflow.
func (a *argo) until(t *testing.T, name, what string, done func(*wfv1.Workflow) bool) *wfv1.Workflow {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workflowLimit)
	defer cancel()
	var last *wfv1.Workflow
	for ctx.Err() == nil {
		w, err := a.workflows.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			require.NoError(t, ctx.Err())
			require.NoError(t, err)
		}
		for e := range w.ResultChan() {
			wf, ok := e.Object.(*wfv1.Workflow)
			if !ok {
				break // the watch is out of date
			}
			if last = wf; done(wf) {
				w.Stop()
				return wf
			}
		}
		w.Stop()
	}
	if last != nil {
		a.dump(t, last)
	}
	t.Fatalf("workflow %s: not within %v: %s\n%s", name, workflowLimit, what, describe(last))
	return nil
}

// finish waits until a workflow is over and all that it reports is in.
func (a *argo) finish(t *testing.T, name string) *wfv1.Workflow {
	t.Helper()
	return a.until(t, name, "ends", func(wf *wfv1.Workflow) bool {
		return wf.Status.Phase.Completed() && wf.Labels["workflows.argoproj.io/completed"] == "true"
	})
}

// succeeds waits until a workflow has succeeded.
func (c *cluster) succeeds(t *testing.T, name string) *wfv1.Workflow {
	t.Helper()
	wf := newArgo(t, c).finish(t, name)
	require.Equal(t, wfv1.WorkflowSucceeded, wf.Status.Phase, "%s", describe(wf))
	return wf
}

func describe(wf *wfv1.Workflow) string {
	if wf == nil {
		return "it was never seen"
	}
	out, err := yaml.Marshal(wf.Status)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// nodesNamed are the nodes of a workflow with a display name.
func nodesNamed(wf *wfv1.Workflow, name string) (found []wfv1.NodeStatus) {
	for _, n := range wf.Status.Nodes {
		if n.DisplayName == name {
			found = append(found, n)
		}
	}
	return found
}

func podOfNode(wf *wfv1.Workflow, n wfv1.NodeStatus) string {
	return wfutil.GeneratePodName(wf.Name, n.Name, wfutil.GetTemplateFromNode(n), n.ID, wfutil.GetWorkflowPodNameVersion(wf))
}

// nodeLog is what the main container of a node's pod wrote.
func (a *argo) nodeLog(t *testing.T, wf *wfv1.Workflow, n wfv1.NodeStatus, container string) string {
	t.Helper()
	b, err := a.kube.CoreV1().Pods(wf.Namespace).GetLogs(podOfNode(wf, n), &corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
	require.NoError(t, err)
	return string(b)
}

// dump logs what the containers of pods wrote that have not succeeded, and what was reported of them.
func (a *argo) dump(t *testing.T, wf *wfv1.Workflow) {
	t.Helper()
	pods, err := a.kube.CoreV1().Pods(wf.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=" + wf.Name})
	require.NoError(t, err)
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		t.Logf("pod %s of node %s: %s %s, conditions %v", p.Name, p.Spec.NodeName, p.Status.Phase, p.Status.Message, p.Status.Conditions)
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			b, err := a.kube.CoreV1().Pods(wf.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{Container: s.Name, TailLines: new(int64(40))}).DoRaw(t.Context())
			t.Logf("pod %s, container %s: %v\n%s%v", p.Name, s.Name, s.State, b, err)
		}
	}
	events, err := a.kube.CoreV1().Events(wf.Namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, e := range events.Items {
		if strings.HasPrefix(e.InvolvedObject.Name, wf.Name) {
			t.Logf("event of %s %s: %s %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
		}
	}
}

// check compares a finished workflow with what was to come of it.
func (s *scenario) check(t *testing.T, a *argo, wf *wfv1.Workflow) {
	t.Helper()
	if wf.Status.Phase != s.want.Phase {
		a.dump(t, wf)
	}
	require.Equal(t, s.want.Phase, wf.Status.Phase, "%s", describe(wf))
	require.Contains(t, wf.Status.Message, s.want.Message)
	for name, value := range s.want.Outputs {
		require.NotNil(t, wf.Status.Outputs, describe(wf))
		require.Equal(t, value, valueOf(wf.Status.Outputs, name), "output %s of the workflow", name)
	}
	for name, want := range s.want.Nodes {
		nodes := nodesNamed(wf, name)
		require.NotEmpty(t, nodes, "node %s\n%s", name, describe(wf))
		var differences []string
		for _, n := range nodes {
			difference := want.differs(n)
			if difference == "" {
				differences = nil
				break
			}
			differences = append(differences, difference)
		}
		require.Empty(t, differences, "node %s\n%s", name, describe(wf))
	}
	for _, name := range s.want.Absent {
		require.Empty(t, nodesNamed(wf, name), "node %s exists", name)
	}
	for name, text := range s.want.Logs {
		nodes := nodesNamed(wf, name)
		require.NotEmpty(t, nodes, "node %s", name)
		require.Equal(t, strings.TrimSuffix(text, "\n"), withoutArgo(a.nodeLog(t, wf, nodes[0], "main")), "log of %s", name)
	}
}

// differs says in what a node is not as wanted.
func (want nodeOutcome) differs(n wfv1.NodeStatus) string {
	outputs := n.Outputs
	if outputs == nil {
		outputs = &wfv1.Outputs{}
	}
	switch {
	case n.Phase != want.Phase:
		return "its phase is " + string(n.Phase) + ", message " + n.Message
	case !strings.Contains(n.Message, want.Message):
		return "its message is " + n.Message
	case want.Result != nil && (outputs.Result == nil || *outputs.Result != *want.Result):
		return "its result is " + text(outputs.Result)
	case want.ExitCode != nil && (outputs.ExitCode == nil || *outputs.ExitCode != *want.ExitCode):
		return "its exit code is " + text(outputs.ExitCode)
	case want.Progress != "" && string(n.Progress) != want.Progress:
		return "its progress is " + string(n.Progress)
	case want.Memoized != nil && (n.MemoizationStatus == nil || n.MemoizationStatus.Hit != *want.Memoized):
		return "it was memoized or not, unlike what is wanted"
	}
	for name, value := range want.Outputs {
		if got := valueOf(outputs, name); got != value {
			return "its output " + name + " is " + got
		}
	}
	for _, name := range want.Artifacts {
		if outputs.GetArtifactByName(name) == nil {
			return "it has no artifact " + name
		}
	}
	return ""
}

func valueOf(outputs *wfv1.Outputs, name string) string {
	for _, p := range outputs.Parameters {
		if p.Name == name && p.Value != nil {
			return p.Value.String()
		}
	}
	return "(none)"
}

func text(s *string) string {
	if s == nil {
		return "(none)"
	}
	return *s
}
