package test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

var (
	taskResults = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflowtaskresults"}
	taskSets    = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflowtasksets"}
)

// withToken is a client with the rights of a token.
func (c *cluster) withToken(t *testing.T, token string) dynamic.Interface {
	t.Helper()
	cfg := rest.AnonymousClientConfig(c.config)
	cfg.BearerToken, cfg.QPS = token, -1
	client, err := dynamic.NewForConfig(cfg)
	require.NoError(t, err)
	return client
}

// tokenIn is the token that a container of a pod has.
func (c *cluster) tokenIn(t *testing.T, pod string) string {
	t.Helper()
	code, token, errs := c.exec(t, pod, nil, "cat", "/var/run/secrets/kubernetes.io/serviceaccount/token")
	require.Zero(t, code, errs)
	return token
}

// TestReportsOfOthers gives a step's program the token with which its outputs are reported: it cannot report for another step.
func TestReportsOfOthers(t *testing.T) {
	t.Parallel()
	c := shared(t)
	a := newArgo(t, c)
	wait, open := c.gate("forgers-" + c.namespace)
	wf := &wfv1.Workflow{}
	wf.Name, wf.Spec.Entrypoint = "forged", "main"
	step := func(name string) wfv1.WorkflowStep { return wfv1.WorkflowStep{Name: name, Template: "step"} }
	wf.Spec.Templates = []wfv1.Template{
		{Name: "main", Steps: []wfv1.ParallelSteps{{Steps: []wfv1.WorkflowStep{step("forger"), step("victim")}}}},
		{
			Name: "step", Container: &corev1.Container{Image: "host", Command: []string{"sh", "-c", "echo up; " + wait + "; echo true > /tmp/v"}},
			Outputs: wfv1.Outputs{Parameters: []wfv1.Parameter{{Name: "v", ValueFrom: &wfv1.ValueFrom{Path: "/tmp/v"}}}},
		},
	}
	a.submit(t, wf)
	a.untilSays(t, "forged", "forger", "up")
	a.untilSays(t, "forged", "victim", "up")
	wf, err := a.workflows.Get(t.Context(), "forged", metav1.GetOptions{})
	require.NoError(t, err)
	forger, victim := nodesNamed(wf, "forger")[0], nodesNamed(wf, "victim")[0]
	token := c.tokenIn(t, podOfNode(wf, forger))
	review, err := c.kube.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, authenticationv1.ExtraValue{podOfNode(wf, forger)}, review.Status.User.Extra["authentication.kubernetes.io/pod-name"])

	results := c.withToken(t, token).Resource(taskResults).Namespace(c.namespace)
	report := func(node, workflow string) error {
		text := fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"WorkflowTaskResult","metadata":{"name":%q,"labels":{"workflows.argoproj.io/workflow":%q}},
			"outputs":{"parameters":[{"name":"v","value":"forged"}]}}`, node, workflow)
		_, err := results.Create(t.Context(), manifest(t, text), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = results.Patch(t.Context(), node, types.MergePatchType, []byte(text), metav1.PatchOptions{})
		}
		return err
	}
	for what, err := range map[string]error{
		"the other step's":              report(victim.ID, "forged"),
		"of a step that is to come":     report("forged-1", "forged"),
		"its own as another's workflow": report(forger.ID, "another"),
		"of a step of another workflow": report("another-2", "another"),
		"of a workflow's HTTP requests": reportTasks(t, c, token),
		"from a pod that is no step":    c.reportFromPod(t),
	} {
		require.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
		require.ErrorContains(t, err, "may report for its own step alone", what)
	}
	require.NoError(t, report(forger.ID, "forged"), "its own")

	open(t)
	done := a.finish(t, "forged")
	require.Equal(t, wfv1.WorkflowSucceeded, done.Status.Phase, describe(done))
	require.Equal(t, "true", nodesNamed(done, "victim")[0].Outputs.Parameters[0].Value.String())
	_ = c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), podOfNode(wf, forger), metav1.DeleteOptions{}) // Argo may have done it
	eventually(t, "the token of a pod that is gone is not taken", func(ctx context.Context) bool {
		_, err := results.Get(ctx, victim.ID, metav1.GetOptions{})
		return apierrors.IsUnauthorized(err)
	})
}

// reportTasks writes the results of the HTTP requests of a workflow, which its agent does.
func reportTasks(t *testing.T, c *cluster, token string) error {
	t.Helper()
	c.create(t, taskSets, `{"apiVersion":"argoproj.io/v1alpha1","kind":"WorkflowTaskSet","metadata":{"name":"forged"},"spec":{}}`)
	_, err := c.withToken(t, token).Resource(taskSets).Namespace(c.namespace).Patch(t.Context(), "forged", types.MergePatchType,
		[]byte(`{"status":{"nodes":{"forged-1":{"phase":"Succeeded"}}}}`), metav1.PatchOptions{}, "status")
	return err
}

// reportFromPod reports with the token of a pod that no workflow made, of the account that workflows have.
func (c *cluster) reportFromPod(t *testing.T) error {
	t.Helper()
	c.createPod(t, podOf("bystander", "echo up; sleep 1000"))
	c.awaitLog(t, "bystander", "up")
	_, err := c.withToken(t, c.tokenIn(t, "bystander")).Resource(taskResults).Namespace(c.namespace).Create(t.Context(),
		manifest(t, `{"apiVersion":"argoproj.io/v1alpha1","kind":"WorkflowTaskResult","metadata":{"name":"forged-3"}}`), metav1.CreateOptions{})
	return err
}

// withoutRights has a step of each kind that reports in its own way: by the kubelet with and without outputs, and by Argo's executor.
const withoutRights = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: %s}
spec:
  entrypoint: %s
  serviceAccountName: plain
  templates:
    - name: quiet
      container: {image: host, command: ["true"]}
    - name: parameter
      container: {image: host, command: [sh, -c, "echo 1 > /tmp/v"]}
      outputs: {parameters: [{name: v, valueFrom: {path: /tmp/v}}]}
    - name: artifact
      container: {image: host, command: [sh, -c, "echo 1 > /tmp/v"]}
      outputs: {artifacts: [{name: v, path: /tmp/v}]}
`

// TestAccountsWithoutRights: a step whose account may not report fails with the same words whether the kubelet or Argo's executor reports.
func TestAccountsWithoutRights(t *testing.T) {
	t.Parallel()
	c := shared(t)
	_, err := c.kube.CoreV1().ServiceAccounts(c.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	forbidden := fmt.Sprintf(`workflowtaskresults.argoproj.io is forbidden: User "system:serviceaccount:%s:plain" cannot create resource "workflowtaskresults"`, c.namespace)
	for _, executor := range []string{"", "argo"} {
		for _, kind := range []string{"quiet", "parameter", "artifact"} {
			t.Run(strings.TrimSpace(kind+" "+executor), func(t *testing.T) {
				t.Parallel()
				a := newArgo(t, c)
				a.executor = executor
				wf := &wfv1.Workflow{}
				require.NoError(t, yaml.UnmarshalStrict([]byte(fmt.Sprintf(withoutRights, kind+executor, kind)), wf))
				done := a.finish(t, a.submit(t, wf).Name)
				require.Equal(t, wfv1.WorkflowError, done.Status.Phase, describe(done))
				require.Contains(t, done.Status.Message, forbidden)
			})
		}
	}
}

// insufficientRole is what Argo's own test of that name runs.
const insufficientRole = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: insufficient}
spec:
  entrypoint: main
  artifactGC: {forceFinalizerRemoval: true}
  templates:
    - name: main
      container: {image: host, command: [sh, -c, "echo 1 > /tmp/v"]}
      outputs: {artifacts: [{name: v, path: /tmp/v, artifactGC: {strategy: OnWorkflowCompletion, serviceAccountName: plain}}]}
`

// TestInsufficientRole: artifacts are not removed by an account that may not report it.
func TestInsufficientRole(t *testing.T) {
	t.Parallel()
	c := shared(t)
	_, err := c.kube.CoreV1().ServiceAccounts(c.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	a := newArgo(t, c)
	wf := &wfv1.Workflow{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(insufficientRole), wf))
	a.submit(t, wf)
	a.until(t, "insufficient", "the removal of its artifacts failed", func(wf *wfv1.Workflow) bool {
		for _, c := range wf.Status.Conditions {
			if c.Type == wfv1.ConditionTypeArtifactGCError {
				return true
			}
		}
		return false
	})
}
