package plane

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/component-helpers/auth/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

func TestBuiltinsAreReconciled(t *testing.T) {
	t.Parallel()
	const extended, kept = "system:node", "system:kube-scheduler"
	extra := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{"example.org"}, Resources: []string{"things"}}
	client := fake.NewClientset(
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: extended}, Rules: []rbacv1.PolicyRule{extra}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: kept, Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "false"}}},
	)
	put := func() {
		require.NoError(t, putAll(t.Context(), append(builtinRoles(client), builtinPriorities(client)...)))
	}
	put()

	roles, err := client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	rules := map[string][]rbacv1.PolicyRule{}
	for _, r := range roles.Items {
		rules[r.Name] = r.Rules
	}
	all := append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...)
	require.Len(t, rules, len(all))
	for _, r := range all {
		switch r.Name {
		case extended:
			require.Contains(t, rules[r.Name], extra, "what was added stays")
			complete, missing := validation.Covers(rules[r.Name], r.Rules)
			require.True(t, complete, "%v", missing)
		case kept:
			require.Empty(t, rules[r.Name], "it is not to be changed")
		default:
			require.Equal(t, r.Rules, rules[r.Name], r.Name)
		}
	}
	bindings, err := client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, bindings.Items, len(bootstrappolicy.ClusterRoleBindings())+len(bootstrappolicy.ControllerRoleBindings()))
	for namespace, wanted := range bootstrappolicy.NamespaceRoles() {
		there, err := client.RbacV1().Roles(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, there.Items, len(wanted), namespace)
	}
	for namespace, wanted := range bootstrappolicy.NamespaceRoleBindings() {
		there, err := client.RbacV1().RoleBindings(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, there.Items, len(wanted), namespace)
	}
	classes, err := client.SchedulingV1().PriorityClasses().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, classes.Items, 2)

	client.ClearActions()
	put()
	for _, a := range client.Actions() {
		require.Equal(t, "get", a.GetVerb(), "the second start changes nothing: %v", a)
	}
}

func TestBuiltinsAreTriedAgain(t *testing.T) {
	t.Parallel()
	tries := 0
	again := func(context.Context) error {
		if tries++; tries == 1 {
			return errors.New("not yet")
		}
		return nil
	}
	require.NoError(t, putAll(t.Context(), []builtin{again}))
	require.Equal(t, 2, tries)

	ctx, cancel := context.WithCancel(t.Context())
	never := func(context.Context) error {
		cancel()
		return errors.New("the disk is full")
	}
	require.ErrorContains(t, putAll(ctx, []builtin{never}), "the disk is full")
}
