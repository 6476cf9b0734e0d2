package quick

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/argoproj/argo-workflows/v3/workflow/controller/pod"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

func TestOrdersToStopPassLabels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // on a clock of its own: a label waits for a second
		var runs atomic.Bool
		runs.Store(true)
		asked := make(chan struct{}, 1)
		q := cleanupQueue{workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()), func(namespace, pod string) bool {
			if namespace == "default" && pod == "endless" {
				select {
				case asked <- struct{}{}:
				default:
				}
				return runs.Load()
			}
			return false
		}}
		defer q.ShutDown()
		const labels = 200
		for range 3 {
			for i := range labels {
				q.AddRateLimited("default/wide-" + strconv.Itoa(i) + "/labelPodCompleted")
			}
		}
		q.AddRateLimited("default/endless/labelPodCompleted")
		q.AddRateLimited("default/endless/terminateContainers")
		first, _ := q.Get()
		require.Equal(t, "default/endless/terminateContainers", first)
		q.Done(first)
		go func() {
			<-asked
			runs.Store(false)
		}()
		var seen []string
		for range labels + 1 {
			key, _ := q.Get()
			seen = append(seen, key)
			q.Done(key)
		}
		require.Equal(t, "default/endless/labelPodCompleted", seen[labels], "a pod that runs is not labelled before it ends")
		slices.Sort(seen)
		require.Len(t, slices.Compact(seen), labels+1, "each is labelled, once")
		require.Zero(t, q.Len())
	})
}

func TestArgoGetsTheHurriedQueue(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	cfg := &rest.Config{Host: s.URL}
	var c *pod.Controller
	require.NoError(t, hurryCleanups(cfg, func() *pod.Controller { return c }))
	client, err := rest.HTTPClientFor(cfg)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	queue := func() string { return fmt.Sprint(reflect.ValueOf(c).Elem().FieldByName("workqueue").Elem()) }
	for _, path := range []string{"/api/v1/pods", "/api/v1/nodes"} { // without the controller, and without a question for pods
		resp, err := client.Get(s.URL + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		if c == nil {
			c = &pod.Controller{}
		}
		require.Equal(t, "<invalid reflect.Value>", queue())
	}
	for range 2 {
		resp, err := client.Get(s.URL + "/api/v1/pods")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Regexp(t, `^{<nil> 0x`, queue(), "wrapped once")
	}
}
