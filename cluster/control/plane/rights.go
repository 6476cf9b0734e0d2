package plane

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// rightsFirst has those who ask while the apiserver starts wait until it knows who may do what. Their connections wait for it through
// a restart, so it answers them as soon as it answers anybody, and without its roles it would forbid them everything: a step that
// reports its outputs does not try again then. Administrators need no roles, and the apiserver's own start is one of them.
type rightsFirst struct {
	authorizer.Authorizer
	known <-chan struct{}
}

func (a rightsFirst) Authorize(ctx context.Context, by authorizer.Attributes) (authorizer.Decision, string, error) {
	if !slices.Contains(by.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		select {
		case <-a.known:
		case <-ctx.Done():
			return authorizer.DecisionNoOpinion, "", ctx.Err()
		}
	}
	return a.Authorizer.Authorize(ctx, by)
}

// knowRightsFirst makes an apiserver of rightsFirst; its goroutine ends with the context.
func knowRightsFirst(ctx context.Context, config *app.Config) {
	rbac := config.KubeAPIs.ControlPlane.VersionedInformers.Rbac().V1()
	caches := []cache.SharedIndexInformer{
		rbac.ClusterRoles().Informer(), rbac.ClusterRoleBindings().Informer(), rbac.Roles().Informer(), rbac.RoleBindings().Informer(),
	}
	known := make(chan struct{})
	go func() {
		err := wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true, func(context.Context) (bool, error) {
			return !slices.ContainsFunc(caches, func(c cache.SharedIndexInformer) bool { return !c.HasSynced() }), nil
		})
		if err == nil {
			close(known)
		}
	}()
	// Every request passes the aggregator; the servers behind it do not ask again.
	rights := &config.Aggregator.GenericConfig.Authorization
	rights.Authorizer = rightsFirst{rights.Authorizer, known}
}
