package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/argoproj/argo-workflows/v3/util/secrets"
)

// tokenPatience is how long a new Secret waits for its token: a pod that mounts it before has none.
const tokenPatience = 5 * time.Second

// withTokens is a client that makes the Secret with a token of each account that Argo's controller asks for. It asks for one
// only to mount that Secret into a pod (the agent's, or one with an executor of another account), which Kubernetes made for
// every account when Argo was written and makes for none any more: the pod would wait for it for ever.
type withTokens struct{ kubernetes.Interface }

func (c withTokens) CoreV1() typedcorev1.CoreV1Interface { return coreWithTokens{c.Interface.CoreV1()} }

type coreWithTokens struct{ typedcorev1.CoreV1Interface }

func (c coreWithTokens) ServiceAccounts(namespace string) typedcorev1.ServiceAccountInterface {
	return accountsWithTokens{c.CoreV1Interface.ServiceAccounts(namespace), c.Secrets(namespace)}
}

type accountsWithTokens struct {
	typedcorev1.ServiceAccountInterface
	secrets typedcorev1.SecretInterface
}

// Get also creates the account's token Secret, which kube-controller-manager fills, and removes with the account.
func (a accountsWithTokens) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.ServiceAccount, error) {
	account, err := a.ServiceAccountInterface.Get(ctx, name, o)
	if err != nil {
		return nil, err
	}
	token := secrets.TokenNameForServiceAccount(account)
	if token != secrets.TokenName(account.Name) { // an annotation names another Secret
		return account, nil
	}
	_, err = a.secrets.Get(ctx, token, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return account, err
	}
	if _, err = a.secrets.Create(ctx, secrets.NewTokenSecret(account.Name), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return account, wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, tokenPatience, true, func(ctx context.Context) (bool, error) {
		s, err := a.secrets.Get(ctx, token, metav1.GetOptions{})
		return err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) > 0, err
	})
}
