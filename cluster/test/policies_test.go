package test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// warnings collects what the API server warns of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// A NetworkPolicy is stored, and its author is warned that it changes nothing.
func TestNetworkPoliciesAreWarnedOf(t *testing.T) {
	t.Parallel()
	c := shared(t)
	var seen warnings
	cfg := rest.CopyConfig(c.config)
	cfg.WarningHandler = &seen
	k, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	policies := k.NetworkingV1().NetworkPolicies(c.namespace)
	p, err := policies.Create(t.Context(), &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "deny"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	const text = "the embedded cluster stores this NetworkPolicy and does not enforce it: every pod still reaches every other pod"
	require.Equal(t, []string{text}, seen.texts)
	p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	_, err = policies.Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{text, text}, seen.texts)
}
