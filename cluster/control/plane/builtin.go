package plane

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

const (
	// builtinAtOnce is how many built-in objects are put side by side: etcd syncs what comes together to disk together.
	builtinAtOnce = 16
	// builtinLimit and builtinAgain are how long a built-in object is tried for, and the pause between two attempts.
	builtinLimit = 30 * time.Second
	builtinAgain = 20 * time.Millisecond
)

// builtins are the objects that Kubernetes itself needs, by the names of hooks that readiness waits for. The first two names are
// Kubernetes' own: its hooks begin with a pause of a second and write one object after the other, which would take most of a start. The
// third covers what that pause used to hide.
var builtins = map[string]func(kubernetes.Interface) []builtin{
	rbacrest.PostStartHookName:        builtinRoles,
	schedulingrest.PostStartHookName:  builtinPriorities,
	"argosy/namespaces-and-addresses": builtinPlaces,
}

// builtin ensures that one object exists, by Kubernetes' own rules: additions to it stay.
type builtin func(context.Context) error

// putBuiltins adds hooks that put the same objects as Kubernetes' own, at once and side by side.
func putBuiltins(server *genericapiserver.GenericAPIServer) error {
	for name, list := range builtins {
		err := server.AddPostStartHook(name, func(hook genericapiserver.PostStartHookContext) error {
			client, err := kubernetes.NewForConfig(hook.LoopbackClientConfig)
			if err != nil {
				return err
			}
			if err := putAll(hook, list(client)); hook.Err() == nil { // or the apiserver stops, in order
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func putAll(ctx context.Context, all []builtin) error {
	var g errgroup.Group
	g.SetLimit(builtinAtOnce)
	for _, put := range all {
		g.Go(func() error {
			var failed error
			err := wait.PollUntilContextTimeout(ctx, builtinAgain, builtinLimit, true, func(ctx context.Context) (bool, error) {
				failed = put(ctx)
				return failed == nil, nil
			})
			if err != nil {
				return errors.Join(err, failed)
			}
			return nil
		})
	}
	return g.Wait()
}

func builtinRoles(client kubernetes.Interface) (all []builtin) {
	role := func(r reconciliation.RuleOwner, c reconciliation.RuleOwnerModifier) {
		o := reconciliation.ReconcileRoleOptions{Role: r, Client: c, Confirm: true}
		all = append(all, func(context.Context) error {
			_, err := o.Run()
			return err
		})
	}
	binding := func(b reconciliation.RoleBinding, c reconciliation.RoleBindingModifier) {
		o := reconciliation.ReconcileRoleBindingOptions{RoleBinding: b, Client: c, Confirm: true}
		all = append(all, func(context.Context) error {
			_, err := o.Run()
			return err
		})
	}
	rbac, namespaces := client.RbacV1(), client.CoreV1().Namespaces()
	for _, r := range append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...) {
		role(reconciliation.ClusterRoleRuleOwner{ClusterRole: &r}, reconciliation.ClusterRoleModifier{Client: rbac.ClusterRoles()})
	}
	for _, b := range append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...) {
		binding(reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &b},
			reconciliation.ClusterRoleBindingClientAdapter{Client: rbac.ClusterRoleBindings()})
	}
	for _, roles := range bootstrappolicy.NamespaceRoles() {
		for _, r := range roles {
			role(reconciliation.RoleRuleOwner{Role: &r}, reconciliation.RoleModifier{Client: rbac, NamespaceClient: namespaces})
		}
	}
	for _, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, b := range bindings {
			binding(reconciliation.RoleBindingAdapter{RoleBinding: &b}, reconciliation.RoleBindingClientAdapter{Client: rbac, NamespaceClient: namespaces})
		}
	}
	return all
}

func builtinPriorities(client kubernetes.Interface) (all []builtin) {
	classes := client.SchedulingV1().PriorityClasses()
	for _, class := range scheduling.SystemPriorityClasses() {
		all = append(all, func(ctx context.Context) error {
			_, err := classes.Get(ctx, class.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				_, err = classes.Create(ctx, class, metav1.CreateOptions{})
			}
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	}
	return all
}

// builtinPlaces wait for two things that Kubernetes' readiness does not cover: its namespaces, and the allocator of Service addresses.
func builtinPlaces(client kubernetes.Interface) (all []builtin) {
	for _, namespace := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease} {
		all = append(all, func(ctx context.Context) error {
			_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
			return err
		})
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "ready-"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	return append(all, func(ctx context.Context) error {
		_, err := client.CoreV1().Services(metav1.NamespaceDefault).Create(ctx, service, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsForbidden(err) { // by a quota
			return nil
		}
		return err
	})
}
