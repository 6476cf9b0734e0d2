package quick

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
)

// A workflow is written as soon as its new pods are seen, and not before. Pods of other workflows do not matter.
func TestWorkflowsAreWrittenWhenTheirPodsAreHeardOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testWorkflowsAreWritten) // on a clock of its own: pods are not waited for without end
}

func testWorkflowsAreWritten(t *testing.T) {
	t.Helper()
	written := make(chan string, 1)
	asked, heard := make(chan string), make(chan struct{})
	var once sync.Once
	const host = "http://cluster"
	cfg := &rest.Config{Host: host, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		written <- r.Method + " " + r.URL.Path
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	u := listen(cfg, func(namespace, pod string) bool {
		once.Do(func() { asked <- namespace + "/" + pod })
		select {
		case <-heard:
			return true
		default:
			return false
		}
	})
	pods := listening{fake.NewClientset(), u}.CoreV1().Pods("default")
	for name, labels := range map[string]map[string]string{
		"step":     {common.LabelKeyWorkflow: "mine", common.LabelKeyCompleted: "false"},
		"of-other": {common.LabelKeyWorkflow: "other", common.LabelKeyCompleted: "false"},
		"gc":       {common.LabelKeyWorkflow: "mine"}, // the controller does not watch it
	} {
		_, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	client, err := rest.HTTPClientFor(cfg)
	require.NoError(t, err)
	send := func(method, path string) error {
		req, err := http.NewRequestWithContext(t.Context(), method, host+path, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	const mine = "/apis/argoproj.io/v1alpha1/namespaces/default/workflows/mine"
	require.NoError(t, send(http.MethodGet, mine), "reading waits for nothing")
	<-written
	sent := make(chan error, 1)
	go func() { sent <- send(http.MethodPut, mine) }()
	require.Equal(t, "default/step", <-asked)
	select {
	case w := <-written:
		t.Fatalf("written before its pod is seen: %s", w)
	default:
	}
	close(heard)
	require.NoError(t, <-sent)
	require.Equal(t, "PUT "+mine, <-written)
	require.Len(t, u.pods, 1, "only the other's")
}
