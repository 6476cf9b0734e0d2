package test

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What goes away after a workflow.

// stored are the objects in the object store whose key holds a text.
func (a *argo) stored(t *testing.T, text string) (keys []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(string(a.home), "cluster", "s3"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, text) {
			keys = append(keys, path)
		}
		return nil
	}))
	return keys
}

func TestArgoArtifactGC(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	wf := a.submit(t, parseWorkflow(t, `
metadata: {name: collected}
spec:
  entrypoint: main
  artifactGC: {strategy: OnWorkflowCompletion}
  templates:
    - name: main
      container: {image: host, command: [sh, -c, "echo gone | tee /tmp/gone /tmp/kept /tmp/later"]}
      outputs:
        artifacts:
          - {name: gone, path: /tmp/gone, s3: {key: "{{workflow.uid}}/gone"}}
          - {name: kept, path: /tmp/kept, s3: {key: "{{workflow.uid}}/kept"}, artifactGC: {strategy: Never}}
          - {name: later, path: /tmp/later, s3: {key: "{{workflow.uid}}/later"}, artifactGC: {strategy: OnWorkflowDeletion}}
`))
	require.Equal(t, wfv1.WorkflowSucceeded, a.finish(t, wf.Name).Status.Phase)
	a.until(t, wf.Name, "its artifact is collected", func(wf *wfv1.Workflow) bool {
		for _, n := range wf.Status.Nodes {
			if gone := n.Outputs.GetArtifactByName("gone"); gone != nil {
				return gone.Deleted
			}
		}
		return false
	})
	keys := strings.Join(a.stored(t, string(wf.UID)), "\n")
	require.NotContains(t, keys, "/gone")
	require.Contains(t, keys, "/kept")
	require.Contains(t, keys, "/later")
	require.NoError(t, a.workflows.Delete(t.Context(), wf.Name, metav1.DeleteOptions{}))
	eventually(t, "the workflow is gone, and what was to go with it", func(ctx context.Context) bool {
		_, err := a.workflows.Get(ctx, wf.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) && !strings.Contains(strings.Join(a.stored(t, string(wf.UID)), "\n"), "/later")
	})
	require.Contains(t, strings.Join(a.stored(t, string(wf.UID)), "\n"), "/kept")
}

func TestArgoTTL(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	wf := a.submit(t, parseWorkflow(t, `
metadata: {name: passing}
spec:
  entrypoint: main
  ttlStrategy: {secondsAfterSuccess: 1, secondsAfterFailure: 1000}
  templates: [{name: main, container: {image: host, command: ["true"]}}]
`))
	eventually(t, "the workflow and its pods are gone", func(ctx context.Context) bool {
		_, err := a.workflows.Get(ctx, wf.Name, metav1.GetOptions{})
		pods, perr := a.kube.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{})
		require.NoError(t, perr)
		return apierrors.IsNotFound(err) && len(pods.Items) == 0
	})
}

func TestArgoPodGC(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	wf := a.submit(t, parseWorkflow(t, `
metadata: {name: tidy}
spec:
  entrypoint: main
  podGC: {strategy: OnPodSuccess, deleteDelayDuration: 0s, labelSelector: {matchLabels: {tidy: "yes"}}}
  templates:
    - name: main
      dag: {failFast: false, tasks: [{name: gone, template: gone}, {name: kept, template: kept}, {name: failed, template: failed}]}
    - {name: gone, metadata: {labels: {tidy: "yes"}}, container: {image: host, command: ["true"]}}
    - {name: kept, container: {image: host, command: ["true"]}}
    - {name: failed, metadata: {labels: {tidy: "yes"}}, container: {image: host, command: ["false"]}}
`))
	a.finish(t, wf.Name)
	eventually(t, "only the pods that are to stay do", func(ctx context.Context) bool {
		pods, err := a.kube.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		var names []string
		for _, p := range pods.Items {
			names = append(names, p.Annotations[common.AnnotationKeyNodeName])
		}
		require.Contains(t, names, "tidy.kept")
		require.Contains(t, names, "tidy.failed")
		return !slices.Contains(names, "tidy.gone")
	})
}
