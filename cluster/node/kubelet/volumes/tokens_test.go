package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestTokensAreRenewedInRunningPods(t *testing.T) {
	t.Parallel()
	obj := testObject()
	obj.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "them"}},
	}}}}}
	p := testPod(t, obj)
	client := p.Client.(*fake.Clientset)
	require.NoError(t, client.Tracker().Add(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa", Namespace: "ns", UID: "sa-1"}}))
	issued := 0
	client.PrependReactor("create", "serviceaccounts", func(a clienttesting.Action) (bool, runtime.Object, error) {
		issued++
		asked := a.(clienttesting.CreateAction).GetObject().(*authv1.TokenRequest)
		require.Equal(t, []string{"them"}, asked.Spec.Audiences)
		require.Equal(t, &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u-1"}, asked.Spec.BoundObjectRef)
		asked.Status = authv1.TokenRequestStatus{Token: fmt.Sprintf("token %d", issued), ExpirationTimestamp: metav1.NewTime(time.Now().Add(time.Hour))}
		return true, asked, nil
	})
	folder, err := p.Mount(t.Context(), obj.Spec.Volumes[0])
	require.NoError(t, err)
	token := func() string {
		require.NoError(t, p.Refresh(t.Context()))
		b, err := os.ReadFile(filepath.Join(folder, "token"))
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, "token 1", token())
	require.Equal(t, "token 1", token(), "a good one is kept")
	for key, held := range p.Held.held {
		held.renew = time.Now()
		p.Held.held[key] = held
	}
	require.Equal(t, "token 2", token())
	require.Equal(t, 2, issued)
}

func TestAccountsAreWatched(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa", Namespace: "ns", UID: "sa-1"}})
	asked := 0
	client.PrependReactor("get", "serviceaccounts", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		return false, nil, nil
	})
	tokens := NewTokens(client)
	ask := func() types.UID {
		uid, err := tokens.account(t.Context(), "ns", "sa")
		require.NoError(t, err)
		return uid
	}
	require.Equal(t, types.UID("sa-1"), ask())
	require.Equal(t, 1, asked, "not watched yet")
	ctx, end := context.WithCancel(t.Context())
	var work sync.WaitGroup
	tokens.Watch(ctx, &work)
	for before := 0; before != asked; time.Sleep(time.Millisecond) { // until the watch knows it
		before = asked
		require.Equal(t, types.UID("sa-1"), ask())
	}
	_, err := tokens.account(ctx, "ns", "none")
	require.True(t, apierrors.IsNotFound(err))
	end()
	work.Wait()
}
