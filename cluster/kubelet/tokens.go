package kubelet

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
)

// tokens are the service-account tokens of pods. They are not bound to a pod,
// so that the hundred pods of a fan-out share one instead of asking for a
// hundred.
type tokens struct {
	client   kubernetes.Interface
	accounts corelisters.ServiceAccountLister // nil before watch
	mu       sync.Mutex
	held     map[tokenKey]*token
}

type tokenKey struct {
	account  types.UID // an account made anew under the same name has other tokens
	audience string
	seconds  int64
}

type token struct {
	mu    sync.Mutex // held while one is fetched: others wait for the same
	value string
	renew time.Time
}

func newTokens(client kubernetes.Interface) *tokens {
	return &tokens{client: client, held: map[tokenKey]*token{}}
}

// watch follows the accounts, so that not every pod has to ask for its own.
func (t *tokens) watch(ctx context.Context, work *sync.WaitGroup) {
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
func (t *tokens) account(ctx context.Context, namespace, name string) (types.UID, error) {
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

// get returns a token that is good for at least a fifth of the time asked for.
func (t *tokens) get(ctx context.Context, namespace, account string, want *corev1.ServiceAccountTokenProjection) (string, error) {
	if account == "" {
		account = "default"
	}
	uid, err := t.account(ctx, namespace, account)
	if apierrors.IsNotFound(err) {
		return "", missing("serviceaccount %q", account)
	}
	if err != nil {
		return "", fmt.Errorf("service account %q: %w", account, err)
	}
	key := tokenKey{account: uid, audience: want.Audience, seconds: 3600}
	if want.ExpirationSeconds != nil {
		key.seconds = *want.ExpirationSeconds
	}
	t.mu.Lock()
	held := t.held[key]
	if held == nil {
		held = &token{}
		t.held[key] = held
	}
	t.mu.Unlock()
	held.mu.Lock()
	defer held.mu.Unlock()
	if time.Now().Before(held.renew) {
		return held.value, nil
	}
	req := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &key.seconds}}
	if key.audience != "" {
		req.Spec.Audiences = []string{key.audience}
	}
	asked := time.Now()
	got, err := t.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, req, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of service account %q: %w", account, err)
	}
	held.value = got.Status.Token
	held.renew = asked.Add(got.Status.ExpirationTimestamp.Sub(asked) * 4 / 5)
	return held.value, nil
}
