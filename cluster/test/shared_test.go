package test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The cluster of all tests that need nothing but a cluster; starting one for each would take most of their time.
var sharedCluster struct {
	sync.Mutex
	*cluster
	err error
	dir string
}

// shared is the common cluster, with a namespace of the test's own that is removed when the test ends. Tests that kill or
// restart something, or start the cluster with other flags, start their own with up.
func shared(t *testing.T) *cluster {
	t.Helper()
	s := &sharedCluster
	s.Lock()
	defer s.Unlock()
	if s.cluster == nil && s.err == nil {
		if s.dir, s.err = os.MkdirTemp("", "argosy"); s.err == nil {
			s.cluster, s.err = launch(filepath.Join(s.dir, "home"), upCommand(filepath.Join(s.dir, "home")))
		}
	}
	require.NoError(t, s.err)
	c := *s.cluster
	ns, err := c.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.namespace = ns.Name
	t.Cleanup(func() {
		require.NoError(t, c.kube.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), ns.Name, metav1.DeleteOptions{}))
	})
	eventually(t, "the namespace has its service account", func(ctx context.Context) bool { // else a token made for it is taken away
		_, err := c.kube.CoreV1().ServiceAccounts(c.namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	c.mayReport(t, "default")
	return &c
}

// mayReport gives an account of the test's namespace the rights of Argo's executor.
func (c *cluster) mayReport(t *testing.T, account string) {
	t.Helper()
	_, err := c.kube.RbacV1().RoleBindings(c.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "executor-" + account}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "argosy:executor"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: c.namespace}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// stopShared ends the common cluster when all tests are over.
func stopShared() error {
	s := &sharedCluster
	if s.cluster == nil {
		return nil
	}
	var err error
	if kerr := s.cmd.Process.Signal(syscall.SIGINT); kerr == nil {
		select {
		case err = <-s.ended:
		case <-time.After(patience):
			err = errors.New("the shared cluster does not end")
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
