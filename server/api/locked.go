package api

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/argosy-ml/argosy/server/password"
)

// locked lets nobody in who does not know the password.
func locked(p password.Password) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := admit(ctx, p, info.FullMethod); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

func lockedStream(p password.Password) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := admit(stream.Context(), p, info.FullMethod); err != nil {
			return err
		}
		return next(server, stream)
	}
}

func admit(ctx context.Context, p password.Password, method string) error {
	if p == "" || strings.HasPrefix(method, "/"+grpc_health_v1.Health_ServiceDesc.ServiceName+"/") {
		return nil
	}
	for _, header := range metadata.ValueFromIncomingContext(ctx, "authorization") {
		if p.Admits(header) {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, "this server asks for a password: send it as metadata, authorization: Bearer PASSWORD")
}
