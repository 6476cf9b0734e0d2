// Package quick makes steps quicker than upstream's: it intercepts calls of Argo's controller, and of the scheduler for Argo's pods, to the
// API. Part of it fixes races that upstream's usual pauses hide. `--stock-argo` leaves all of it out. Package node/kubelet/argo does the
// work of Argo's executor; docs/stock-argo.md lists both.
package quick

import (
	"errors"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/argoproj/argo-workflows/v3/workflow/controller"
	"github.com/argoproj/argo-workflows/v3/workflow/controller/pod"
)

// Argo intercepts the calls between Argo's controller and the API.
type Argo struct {
	controller *controller.WorkflowController // nil until Take
	newPods    *newPods
	complete   func(namespace, node string) bool
}

// Intercept wraps the connection of a controller to the API. Pass the controller that is created with cfg to Take before it runs.
func Intercept(cfg *rest.Config) (*Argo, error) {
	a := &Argo{}
	if err := keepPace(cfg); err != nil {
		return nil, err
	}
	if err := hurryCleanups(cfg, a.pods); err != nil {
		return nil, err
	}
	a.newPods = listen(cfg, func(namespace, name string) bool {
		p, err := a.controller.PodController.GetPod(namespace, name)
		return err == nil && p != nil
	})
	var err error
	a.complete, err = completeReports(func() *controller.WorkflowController { return a.controller })
	return a, err
}

// Client is a client for the controller.
func (a *Argo) Client(kube kubernetes.Interface) kubernetes.Interface {
	return reportsFirst{listening{kube, a.newPods}, a.complete}
}

// Take changes the controller, which must not run yet.
func (a *Argo) Take(c *controller.WorkflowController) error {
	a.controller = c
	return errors.Join(lookWhenDue(c), admitNew(c))
}

// pods is the controller of pods, nil until there is one.
func (a *Argo) pods() *pod.Controller {
	if a.controller == nil {
		return nil
	}
	return a.controller.PodController
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
