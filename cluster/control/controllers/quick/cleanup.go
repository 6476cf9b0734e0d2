package quick

import (
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/argoproj/argo-workflows/v3/workflow/controller/pod"
)

// labelsLater keeps the labels of steps that are over out of the way of those that are still to run.
const labelsLater = time.Second

// cleanupQueue is the queue of what Argo's controller does to pods. Argo lets ten through in a second, and asks again for
// each pod that is not labelled yet whenever the workflow changes: after a fan-out of 100, the order to stop another
// workflow's pods would wait for most of a minute, and after one of 1,000 for many. And it labels what it has told to stop, and then
// knows it no more: where the label comes first, or the pod does not heed the first signal, it runs for ever.
type cleanupQueue struct {
	workqueue.TypedRateLimitingInterface[string]
	running func(namespace, pod string) bool
}

func (q cleanupQueue) AddRateLimited(key string) {
	switch path.Base(key) {
	case "terminateContainers", "killContainers":
		q.Add(key)
	case labelCompleted:
		q.AddAfter(key, labelsLater) // a key that waits already goes on waiting, once
	default:
		q.TypedRateLimitingInterface.AddRateLimited(key)
	}
}

const labelCompleted = "labelPodCompleted"

// Get puts off the labels of pods that still run.
func (q cleanupQueue) Get() (key string, shutdown bool) {
	for {
		key, shutdown = q.TypedRateLimitingInterface.Get()
		parts := strings.Split(key, "/") // namespace/pod/action
		if shutdown || len(parts) != 3 || parts[2] != labelCompleted || !q.running(parts[0], parts[1]) {
			return key, shutdown
		}
		q.AddAfter(key, labelsLater)
		q.Done(key)
	}
}

// running says whether Argo's controller knows of a pod that has not ended.
func running(c *pod.Controller) func(namespace, name string) bool {
	return func(namespace, name string) bool {
		p, err := c.GetPod(namespace, name)
		return err == nil && p != nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
	}
}

// hurryCleanups gives the controller its cleanupQueue when it first asks for pods through cfg: the queue is there by then,
// and no worker takes it before the answer.
func hurryCleanups(cfg *rest.Config, pods func() *pod.Controller) error {
	queue, err := field[pod.Controller, workqueue.TypedRateLimitingInterface[string]]("workqueue")
	if err != nil {
		return err
	}
	var once sync.Once
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if c := pods(); c != nil && path.Base(req.URL.Path) == "pods" {
				once.Do(func() {
					q := queue(c)
					*q = cleanupQueue{*q, running(c)}
				})
			}
			return next.RoundTrip(req)
		})
	})
	return nil
}
