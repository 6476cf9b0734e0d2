package plane

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestRightsAreKnownBeforeTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	known := make(chan struct{})
	a := rightsFirst{authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "", nil
	}), known}
	by := func(groups ...string) authorizer.Attributes {
		return authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "somebody", Groups: groups}}
	}
	decision, _, err := a.Authorize(t.Context(), by("others", user.SystemPrivilegedGroup))
	require.NoError(t, err)
	require.Equal(t, authorizer.DecisionAllow, decision, "administrators do not wait")
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	decision, _, err = a.Authorize(impatient, by("others"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, authorizer.DecisionNoOpinion, decision)
	decided := make(chan authorizer.Decision, 1)
	go func() {
		decision, _, _ := a.Authorize(t.Context(), by("others"))
		decided <- decision
	}()
	close(known)
	require.Equal(t, authorizer.DecisionAllow, <-decided)
}
