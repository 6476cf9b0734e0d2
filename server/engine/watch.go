package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/packer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// watched are the Workflows of runs that are not settled; the others would only cost memory.
const watched = labelRunID + ",!" + labelPersisted

// Watch calls back, from one goroutine, for each existing Workflow and then for each change, until ctx ends. It survives restarts of the
// API server. A Workflow that was settled meanwhile is reported as Gone.
func (e *Engine) Watch(ctx context.Context, changed func(run.Seen)) error {
	client := e.argo.ArgoprojV1alpha1().Workflows(e.namespace)
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ObjectType: &wfv1.Workflow{},
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.LabelSelector = watched
				return client.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = watched
				return client.Watch(ctx, o)
			},
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { changed(seen(o.(*wfv1.Workflow))) },
			UpdateFunc: func(_, o any) { changed(seen(o.(*wfv1.Workflow))) },
			DeleteFunc: func(o any) {
				if late, ok := o.(cache.DeletedFinalStateUnknown); ok { // it went while the watch was down
					o = late.Obj
				}
				if wf, ok := o.(*wfv1.Workflow); ok {
					changed(run.Seen{RunID: wf.Labels[labelRunID], Namespace: wf.Namespace, Workflow: wf.Name, Gone: true})
				}
			},
		},
		Transform: func(o any) (any, error) {
			if wf, ok := o.(*wfv1.Workflow); ok {
				wf.ManagedFields = nil
			}
			return o, nil
		},
	})
	controller.RunWithContext(ctx)
	return nil
}

func seen(wf *wfv1.Workflow) run.Seen {
	return run.Seen{
		RunID: wf.Labels[labelRunID], Namespace: wf.Namespace, Workflow: wf.Name,
		Stopping: stopping(wf), Persisted: wf.Labels[labelPersisted] == "true", Deleting: wf.DeletionTimestamp != nil,
		State: func() (run.State, error) { return stateOf(wf) },
	}
}

// stateOf reads a Workflow, which it does not change: the informer's cache holds it too.
func stateOf(wf *wfv1.Workflow) (run.State, error) {
	if wf.ManagedFields != nil || wf.Status.CompressedNodes != "" {
		wf = wf.DeepCopy()
		wf.ManagedFields = nil
		if err := packer.DecompressWorkflow(wf); err != nil {
			return run.State{}, apierr.New(apierr.Internal, "the nodes of workflow %s cannot be unpacked", wf.Name).Because(err)
		}
	}
	short := wf.DeletionTimestamp != nil && !wf.Status.Fulfilled()
	if short {
		wf = cutShort(wf)
	}
	named := *wf // informers drop the kind, clients want it
	named.TypeMeta = metav1.TypeMeta{APIVersion: wfv1.SchemeGroupVersion.String(), Kind: "Workflow"}
	text, err := json.Marshal(&named)
	if err != nil {
		return run.State{}, apierr.New(apierr.Internal, "workflow %s cannot be written", wf.Name).Because(err)
	}
	s := run.State{
		Status: string(wf.Status.Phase), Message: wf.Status.Message,
		StartedAt: wf.Status.StartedAt.Time, FinishedAt: wf.Status.FinishedAt.Time, Workflow: text, Attempt: attemptOf(wf),
		CutShort: short,
	}
	rules := scrapeRules{wf: wf, byTemplate: map[string][]string{}}
	for _, n := range wf.Status.Nodes {
		node := nodeOf(wf, n)
		node.Scrape, node.Job = rules.of(&n), rules.job(&n)
		s.Nodes = append(s.Nodes, node)
	}
	slices.SortFunc(s.Nodes, func(a, b run.Node) int {
		if c := a.StartedAt.Compare(b.StartedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return s, nil
}

func nodeOf(wf *wfv1.Workflow, n wfv1.NodeStatus) run.Node {
	r := run.Node{
		ID: n.ID, Name: n.Name, DisplayName: n.DisplayName, Type: string(n.Type), Template: n.TemplateName,
		Phase: string(n.Phase), Message: told(&n), Waiting: waitingOf(&n), BoundaryID: n.BoundaryID, Children: n.Children,
		StartedAt: n.StartedAt.Time, FinishedAt: n.FinishedAt.Time,
	}
	if n.Type == wfv1.NodeTypeSkipped {
		r.Message = skipped(wf, &n)
	}
	if n.TemplateRef != nil {
		r.Template = n.TemplateRef.Name + "/" + n.TemplateRef.Template
	}
	switch {
	case n.Type != wfv1.NodeTypePod:
	case n.MemoizationStatus != nil && n.MemoizationStatus.Hit: // it ran nothing
		r.Message = cmp.Or(r.Message, fmt.Sprintf("taken from the cache %s, key %s", n.MemoizationStatus.CacheName, n.MemoizationStatus.Key))
	case n.FailedOrError() && n.HostNodeName == "" && n.Outputs == nil: // it ended before a pod of its had a place
	default:
		r.PodName = podName(wf, n)
	}
	if n.Inputs != nil {
		r.Inputs = parametersOf(n.Inputs.Parameters)
	}
	if n.Outputs == nil {
		return r
	}
	r.Outputs = parametersOf(n.Outputs.Parameters)
	if n.Outputs.ExitCode != nil {
		r.ExitCode = *n.Outputs.ExitCode
	}
	for _, a := range n.Outputs.Artifacts {
		if a.S3 != nil && a.S3.Key != "" {
			r.Artifacts = append(r.Artifacts, run.Artifact{Name: a.Name, Key: a.S3.Key})
		}
	}
	return r
}

// maxPodPrefix leaves room for the hash in the name of a pod.
const maxPodPrefix = 253 - 10 - 1

// podName is how Argo names the pod of a node. Argo's own function would bring the drivers of two databases along.
func podName(wf *wfv1.Workflow, n wfv1.NodeStatus) string {
	if wf.Annotations[common.AnnotationKeyPodNameVersion] == podNamesV1 {
		return n.ID
	}
	if n.Name == wf.Name {
		return wf.Name
	}
	template := n.TemplateName
	if n.TemplateRef != nil {
		template = n.TemplateRef.Template
	}
	prefix := wf.Name
	if template != "" {
		prefix += "-" + template
	}
	hash := fnv.New32a()
	hash.Write([]byte(n.Name))
	return fmt.Sprintf("%s-%d", prefix[:min(len(prefix), maxPodPrefix)], hash.Sum32())
}

func parametersOf(ps []wfv1.Parameter) []run.Parameter {
	var parameters []run.Parameter
	for _, p := range ps {
		value := ""
		if p.Value != nil {
			value = p.Value.String()
		}
		parameters = append(parameters, run.Parameter{Name: p.Name, Value: value})
	}
	return parameters
}
