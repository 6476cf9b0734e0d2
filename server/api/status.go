package api

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
)

// internalText stands for errors that were not worded for the caller.
const internalText = "internal error; the server's log says more"

var codeOf = map[apierr.Kind]codes.Code{
	apierr.Internal:    codes.Internal,
	apierr.Invalid:     codes.InvalidArgument,
	apierr.NotFound:    codes.NotFound,
	apierr.Conflict:    codes.AlreadyExists,
	apierr.Aborted:     codes.Aborted,
	apierr.Unavailable: codes.Unavailable,
}

// Status is what the caller may know of err: a gRPC status whose detail is an api.Error. Causes stay behind.
func Status(err error) *status.Status {
	var s *status.Status
	if e := (*apierr.Error)(nil); errors.As(err, &e) {
		s = status.New(codeOf[e.Kind], e.Message)
	} else if errors.Is(err, context.Canceled) {
		s = status.New(codes.Canceled, "the request was cancelled")
	} else if errors.Is(err, context.DeadlineExceeded) {
		s = status.New(codes.DeadlineExceeded, "the request took too long")
	} else if known, ok := status.FromError(err); ok {
		s = known
	} else {
		s = status.New(codes.Internal, internalText)
	}
	if len(s.Details()) > 0 || s.Code() == codes.OK {
		return s
	}
	detailed, err := s.WithDetails(&kfpv1.Error{ErrorMessage: s.Message(), ErrorDetails: s.Message()})
	if err != nil { // only for a status OK, which this is not
		return s
	}
	return detailed
}

// Log writes one line about a call that ended: the causes of our own faults as errors, refusals and answers for debugging.
func Log(ctx context.Context, log *slog.Logger, call string, start time.Time, err error) {
	took := slog.Duration("took", time.Since(start).Round(time.Microsecond))
	s := Status(err)
	switch s.Code() {
	case codes.Internal, codes.Unavailable, codes.Unknown, codes.DataLoss:
		log.ErrorContext(ctx, "call failed", "call", call, "code", s.Code().String(), "error", err, "cause", causes(err), took)
	default:
		log.DebugContext(ctx, "call", "call", call, "code", s.Code().String(), "error", s.Message(), took)
	}
}

func causes(err error) string {
	text := ""
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		if text != "" {
			text += ": "
		}
		text += cause.Error()
	}
	return text
}

func logged(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		start := time.Now()
		answer, err := next(ctx, req)
		Log(ctx, log, info.FullMethod, start, err)
		if err != nil {
			return nil, Status(err).Err()
		}
		return answer, nil
	}
}

func recovered(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
		defer func() {
			if p := recover(); p != nil {
				log.ErrorContext(ctx, "call panicked", "call", info.FullMethod, "panic", p, "stack", string(debug.Stack()))
				err = status.Error(codes.Internal, internalText)
			}
		}()
		return next(ctx, req)
	}
}

func loggedStream(log *slog.Logger) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		start := time.Now()
		err := next(server, stream)
		Log(stream.Context(), log, info.FullMethod, start, err)
		if err != nil {
			return Status(err).Err()
		}
		return nil
	}
}

func recoveredStream(log *slog.Logger) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
		defer func() {
			if p := recover(); p != nil {
				log.ErrorContext(stream.Context(), "call panicked", "call", info.FullMethod, "panic", p, "stack", string(debug.Stack()))
				err = status.Error(codes.Internal, internalText)
			}
		}()
		return next(server, stream)
	}
}
