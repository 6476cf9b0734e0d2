package api

import (
	"context"
	"net"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/argosy-ml/argosy/server/access"
)

// probe is the one method that is free to call, as those who ask whether a server is well have no password.
const probe = grpc_health_v1.Health_Check_FullMethodName

// admitted refuses calls before anything of their messages is read: a few hundred kilobytes may unpack to all memory there is.
func admitted(gate *access.Gate) tap.ServerInHandle {
	return func(ctx context.Context, call *tap.Info) (context.Context, error) {
		if call.FullMethodName == probe {
			return ctx, nil
		}
		header := ""
		if values := call.Header.Get("authorization"); len(values) > 0 {
			header = values[0]
		}
		if refusal := gate.Admit(ctx, callerOf(ctx), header); refusal != nil {
			return nil, refused(refusal)
		}
		return ctx, nil
	}
}

var refusalCodes = map[access.Reason]codes.Code{
	access.Stranger: codes.PermissionDenied, access.NoPassword: codes.Unauthenticated, access.Guessing: codes.ResourceExhausted,
}

func refused(r *access.Refusal) error {
	s := status.New(refusalCodes[r.Reason], r.Message)
	if r.After > 0 {
		if detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.After)}); err == nil {
			s = detailed
		}
	}
	return s.Err()
}

// plainText are credentials of connections without TLS that keep who is at their other end.
type plainText struct {
	credentials.TransportCredentials
}

func newPlainText() credentials.TransportCredentials { return plainText{insecure.NewCredentials()} }

// ServerHandshake adds the caller to what gRPC knows of a connection.
func (p plainText) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	same, info, err := p.TransportCredentials.ServerHandshake(conn)
	return same, callerInfo{info, access.CallerOf(conn)}, err
}

// Clone gives other credentials of the same kind.
func (p plainText) Clone() credentials.TransportCredentials {
	return plainText{p.TransportCredentials.Clone()}
}

type callerInfo struct {
	credentials.AuthInfo
	caller *access.Caller
}

func callerOf(ctx context.Context) *access.Caller {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(callerInfo); ok {
			return info.caller
		}
	}
	return access.CallerOf(nil)
}

// registerHealth serves the health of the server as a whole; all its services are well while it runs. Check is free to call, so it does
// not read the request: it is registered as a stream, which is the same on the wire.
func registerHealth(s *grpc.Server) {
	well := &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: grpc_health_v1.Health_ServiceDesc.ServiceName,
		Streams: []grpc.StreamDesc{
			{StreamName: "Check", Handler: func(_ any, call grpc.ServerStream) error { return call.SendMsg(well) }},
		},
		Metadata: grpc_health_v1.Health_ServiceDesc.Metadata,
	}, nil)
}
