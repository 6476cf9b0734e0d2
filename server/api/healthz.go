package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	wire "github.com/argosy-ml/argosy/proto/api"
)

type healthz struct {
	wire.UnimplementedHealthzServiceServer
	version, commit string
}

func (s *healthz) GetHealthz(context.Context, *emptypb.Empty) (*wire.GetHealthzResponse, error) {
	return &wire.GetHealthzResponse{TagName: s.version, CommitSha: s.commit}, nil
}
