package controllers

import (
	"errors"
	"net/http"
	"path"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/argoproj/argo-workflows/v3/workflow/controller/pod"
)

// labelsLater keeps the labels of steps that are over out of the way of those that are still to run. A step that was told to
// stop counts as over at once, and the controller no longer looks at a pod that it has labelled: the delay is long enough for
// Argo's own executor, which looks each second, to say how the step ended.
const labelsLater = 3 * time.Second

// cleanupQueue is the queue of what Argo's controller does to pods. Argo lets ten through in a second, and asks again for
// each pod that is not labelled yet whenever the workflow changes: after a fan-out of 100, the order to stop another
// workflow's pods would wait for most of a minute, and after one of 1,000 for many. Here what stops a container goes at once.
type cleanupQueue struct {
	workqueue.TypedRateLimitingInterface[string]
}

func (q cleanupQueue) AddRateLimited(key string) { // namespace/pod/action
	switch path.Base(key) {
	case "terminateContainers", "killContainers":
		q.Add(key)
	case "labelPodCompleted":
		q.AddAfter(key, labelsLater) // a key that waits already goes on waiting, once
	default:
		q.TypedRateLimitingInterface.AddRateLimited(key)
	}
}

// hurryCleanups gives the controller its cleanupQueue when it first asks for pods through cfg: the queue is there by then,
// and nobody works on it before the answer.
func hurryCleanups(cfg *rest.Config, pods func() *pod.Controller) error {
	queue, ok := reflect.TypeFor[pod.Controller]().FieldByName("workqueue")
	if !ok || queue.Type != reflect.TypeFor[workqueue.TypedRateLimitingInterface[string]]() {
		return errors.New("this version of Argo keeps the queue of its pods' cleanups elsewhere")
	}
	var once sync.Once
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if c := pods(); c != nil && path.Base(req.URL.Path) == "pods" {
				once.Do(func() {
					q := (*workqueue.TypedRateLimitingInterface[string])(unsafe.Add(unsafe.Pointer(c), queue.Offset))
					*q = cleanupQueue{*q}
				})
			}
			return next.RoundTrip(req)
		})
	})
	return nil
}
