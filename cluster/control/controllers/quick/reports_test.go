package quick

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/controller"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestReportsComeFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testReportsComeFirst) // on a clock of its own: reports are not waited for without end
}

func testReportsComeFirst(t *testing.T) {
	t.Helper()
	step := func(name, result string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{common.AnnotationKeyNodeID: name + "-id"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: common.WaitContainerName, Env: []corev1.EnvVar{
				{Name: common.EnvVarIncludeScriptOutput, Value: result},
			}}}},
		}
	}
	speaks, silent := step("speaks", "true"), step("silent", "false")
	asked, arrived := make(chan string), make(chan struct{})
	var once sync.Once
	kube := reportsFirst{fake.NewClientset(speaks, silent), func(namespace, node string) bool {
		once.Do(func() { asked <- namespace + "/" + node })
		select {
		case <-arrived:
			return true
		default:
			return false
		}
	}}
	pods := kube.CoreV1().Pods("default")
	w, err := pods.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	for _, p := range []*corev1.Pod{silent, speaks} {
		p.Status.Phase = corev1.PodSucceeded
		_, err := pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	require.Equal(t, "silent", (<-w.ResultChan()).Object.(*corev1.Pod).Name, "no result is awaited of it")
	require.Equal(t, "default/speaks-id", <-asked)
	select {
	case e := <-w.ResultChan():
		t.Fatalf("told before its report: %v", e)
	default:
	}
	close(arrived)
	require.Equal(t, "speaks", (<-w.ResultChan()).Object.(*corev1.Pod).Name)
}

func TestArgoKeepsReportsWhereTheyAreLookedFor(t *testing.T) {
	t.Parallel()
	_, err := completeReports(func() *controller.WorkflowController { return nil })
	require.NoError(t, err)
}
