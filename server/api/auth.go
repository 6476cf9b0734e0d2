package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
)

type auth struct {
	kfpv1.UnimplementedAuthServiceServer
}

// Authorize allows whatever is asked for whole: there is one user, who may do everything.
func (auth) Authorize(_ context.Context, r *kfpv1.AuthorizeRequest) (*emptypb.Empty, error) {
	switch {
	case r.GetNamespace() == "":
		return nil, apierr.New(apierr.Invalid, "namespace is missing")
	case r.GetResources() == kfpv1.AuthorizeRequest_UNASSIGNED_RESOURCES:
		return nil, apierr.New(apierr.Invalid, "resources is missing; it can be VIEWERS")
	case r.GetVerb() == kfpv1.AuthorizeRequest_UNASSIGNED_VERB:
		return nil, apierr.New(apierr.Invalid, "verb is missing; it can be CREATE, GET or DELETE")
	}
	return &emptypb.Empty{}, nil
}
