package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
)

type healthz struct {
	kfpv1.UnimplementedHealthzServiceServer
	version, commit string
}

func (s *healthz) GetHealthz(context.Context, *emptypb.Empty) (*kfpv1.GetHealthzResponse, error) {
	return &kfpv1.GetHealthzResponse{TagName: s.version, CommitSha: s.commit}, nil
}
