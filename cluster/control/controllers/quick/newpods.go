package quick

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
)

// newPodPatience is the longest time for which the write of a workflow waits until the controller has seen its new pods.
const newPodPatience = 5 * time.Second

// newPods are the pods that Argo's controller has created and not yet seen: it creates them over one connection and sees them over another.
// It counts only pods that it has seen as running, so a look at the workflow in between finds room for more pods than its parallelism
// allows. Between two looks Argo writes the workflow; that write waits here until the new pods are seen.
type newPods struct {
	known func(namespace, pod string) bool

	mu   sync.Mutex
	pods map[workflowName][]string
}

type workflowName struct{ namespace, name string }

// listen has the controller's writes through cfg wait for its new pods.
func listen(cfg *rest.Config, known func(namespace, pod string) bool) *newPods {
	u := &newPods{known: known, pods: map[workflowName][]string{}}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if wf, ok := workflowOf(req.URL.Path); ok && req.Method == http.MethodPut {
				u.await(req.Context(), wf)
			}
			return next.RoundTrip(req)
		})
	})
	return u
}

// workflowOf finds the workflow that a path names.
func workflowOf(path string) (workflowName, bool) {
	part := strings.Split(path, "/") // "", apis, group, version, namespaces, NAMESPACE, workflows, NAME
	if len(part) != 8 || part[4] != "namespaces" || part[6] != "workflows" {
		return workflowName{}, false
	}
	return workflowName{part[5], part[7]}, true
}

// made records a new pod, if the controller is going to see it.
func (u *newPods) made(pod *corev1.Pod) {
	wf := workflowName{pod.Namespace, pod.Labels[common.LabelKeyWorkflow]}
	if wf.name == "" || pod.Labels[common.LabelKeyCompleted] != "false" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pods[wf] = append(u.pods[wf], pod.Name)
}

// await returns when the controller has seen all pods that it created for a workflow. It never sees one that was deleted at once.
func (u *newPods) await(ctx context.Context, wf workflowName) {
	u.mu.Lock()
	pods := u.pods[wf]
	delete(u.pods, wf)
	u.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, newPodPatience)
	defer cancel()
	for _, pod := range pods {
		for !u.known(wf.namespace, pod) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// listening is a client whose new pods are taken note of.
type listening struct {
	kubernetes.Interface
	newPods *newPods
}

func (c listening) CoreV1() typedcorev1.CoreV1Interface {
	return coreListening{c.Interface.CoreV1(), c.newPods}
}

type coreListening struct {
	typedcorev1.CoreV1Interface
	newPods *newPods
}

func (c coreListening) Pods(namespace string) typedcorev1.PodInterface {
	return podsListening{c.CoreV1Interface.Pods(namespace), c.newPods}
}

type podsListening struct {
	typedcorev1.PodInterface
	newPods *newPods
}

func (p podsListening) Create(ctx context.Context, pod *corev1.Pod, o metav1.CreateOptions) (*corev1.Pod, error) {
	made, err := p.PodInterface.Create(ctx, pod, o)
	if err == nil {
		p.newPods.made(made)
	}
	return made, err
}
