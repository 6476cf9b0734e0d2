package volumes

import (
	"context"
	"fmt"
	"sync"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// Tokens requests the service-account tokens of pods.
type Tokens struct {
	client   kubernetes.Interface
	accounts corelisters.ServiceAccountLister // nil before Watch
}

// HeldTokens are the tokens of one pod. Each is bound to the pod: the apiserver knows which pod calls, and refuses the token once the pod
// is gone.
type HeldTokens struct {
	mu   sync.Mutex // held while one is fetched
	held map[tokenKey]token
}

type tokenKey struct {
	account  types.UID // an account that is deleted and created again has other tokens
	audience string
	seconds  int64
}

type token struct {
	value string
	renew time.Time
}

// NewTokens returns a source of tokens.
func NewTokens(client kubernetes.Interface) *Tokens { return &Tokens{client: client} }

// Watch follows the service accounts, so that pods need not ask for theirs one by one.
func (t *Tokens) Watch(ctx context.Context, work *sync.WaitGroup) {
	factory := informers.NewSharedInformerFactoryWithOptions(t.client, 0, informers.WithTransform(func(o any) (any, error) {
		if sa, ok := o.(*corev1.ServiceAccount); ok {
			return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: sa.Namespace, Name: sa.Name, UID: sa.UID, ResourceVersion: sa.ResourceVersion}}, nil
		}
		return o, nil
	}))
	inf := factory.Core().V1().ServiceAccounts()
	t.accounts = inf.Lister()
	work.Go(func() { inf.Informer().RunWithContext(ctx) })
}

// account asks the apiserver, which answers from memory, about an account that the watch has not seen yet.
func (t *Tokens) account(ctx context.Context, namespace, name string) (types.UID, error) {
	if t.accounts != nil {
		if sa, err := t.accounts.ServiceAccounts(namespace).Get(name); err == nil {
			return sa.UID, nil
		}
	}
	sa, err := t.client.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return "", err
	}
	return sa.UID, nil
}

// get returns a token of a pod that is good for at least a fifth of the time asked for.
func (t *Tokens) get(ctx context.Context, pod *corev1.Pod, own *HeldTokens, want *corev1.ServiceAccountTokenProjection) (string, error) {
	account := podspec.ServiceAccount(pod)
	uid, err := t.account(ctx, pod.Namespace, account)
	if apierrors.IsNotFound(err) {
		return "", podspec.Missing("serviceaccount %q", account)
	}
	if err != nil {
		return "", fmt.Errorf("service account %q: %w", account, err)
	}
	key := tokenKey{account: uid, audience: want.Audience, seconds: 3600}
	if want.ExpirationSeconds != nil {
		key.seconds = *want.ExpirationSeconds
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	if held, ok := own.held[key]; ok && time.Now().Before(held.renew) {
		return held.value, nil
	}
	req := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
		ExpirationSeconds: &key.seconds,
		BoundObjectRef:    &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if key.audience != "" {
		req.Spec.Audiences = []string{key.audience}
	}
	asked := time.Now()
	got, err := t.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, account, req, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of service account %q: %w", account, err)
	}
	if own.held == nil {
		own.held = map[tokenKey]token{}
	}
	own.held[key] = token{got.Status.Token, asked.Add(got.Status.ExpirationTimestamp.Sub(asked) * 4 / 5)}
	return got.Status.Token, nil
}
