package argo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/retry"
)

// rememberReporter is how long the right of an account is not checked again.
const rememberReporter = 10 * time.Second

// reporters checks which service accounts may report the outputs of steps. Argo's executor reports with the rights of the step's account, the
// kubelet with its own. The check makes a step without the right fail here, too.
type Reporters struct {
	client kubernetes.Interface
	mu     sync.Mutex
	known  map[string]*reporter // by user name
}

type reporter struct {
	mu    sync.Mutex // held during a check, so that the steps of a fan-out need one
	until time.Time
}

func NewReporters(client kubernetes.Interface) *Reporters {
	return &Reporters{client: client, known: map[string]*reporter{}}
}

// check asks whether the account may report, and returns the apiserver's refusal if it may not.
func (r *Reporters) check(ctx context.Context, namespace, account string) (refusal, err error) {
	user := "system:serviceaccount:" + namespace + ":" + account
	r.mu.Lock()
	known := r.known[user]
	if known == nil {
		known = &reporter{}
		r.known[user] = known
	}
	r.mu.Unlock()
	known.mu.Lock()
	defer known.mu.Unlock()
	if time.Now().Before(known.until) {
		return nil, nil
	}
	results := schema.GroupResource{Group: "argoproj.io", Resource: "workflowtaskresults"}
	answer, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "create", Group: results.Group, Resource: results.Resource},
	}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if !answer.Status.Allowed {
		why := fmt.Errorf("User %q cannot create resource %q in API group %q in the namespace %q", user, results.Resource, results.Group, namespace) //nolint:staticcheck // Kubernetes' words
		return apierrors.NewForbidden(results, "", why), nil
	}
	known.until = time.Now().Add(rememberReporter)
	return nil, nil
}

// mayReport returns an error if the step's account may not report.
func (e *Executor) mayReport(ctx context.Context) error {
	var refusal error
	err := retry.Do(ctx, func() error {
		account, err := e.executorAccount(ctx)
		if err != nil {
			return fmt.Errorf("token of the executor: %w", err)
		}
		refusal, err = e.Reporters.check(ctx, e.Pod.Namespace, account)
		return err
	})
	return cmp.Or(err, refusal)
}

// executorAccount is the account whose token Argo gives to a step's executor: the pod's, or one of the executor's own.
func (e *Executor) executorAccount(ctx context.Context) (string, error) {
	const volume, suffix = "exec-sa-token", ".service-account-token"
	for _, v := range e.Pod.Spec.Volumes {
		if v.Name != volume || v.Secret == nil {
			continue
		}
		if account, ok := strings.CutSuffix(v.Secret.SecretName, suffix); ok {
			return account, nil
		}
		secret, err := e.Client.CoreV1().Secrets(e.Pod.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return secret.Annotations[corev1.ServiceAccountNameKey], nil
	}
	return podspec.ServiceAccount(e.Pod), nil
}
