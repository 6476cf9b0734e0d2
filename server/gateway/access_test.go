package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
)

const secret = "correct horse battery"

func asked(s *server) { s.password = secret }

// knowing is a context of calls with the password.
func knowing(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+secret)
}

// counted is gzip that counts the bytes that it unpacks, for the one test that uses it.
type counted struct{ encoding.Compressor }

var unpacked atomic.Int64

func (counted) Name() string { return "counted" }

func (c counted) Decompress(r io.Reader) (io.Reader, error) {
	out, err := c.Compressor.Decompress(r)
	return countedReader{out}, err
}

type countedReader struct{ io.Reader }

func (c countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	unpacked.Add(int64(n))
	return n, err
}

func init() { encoding.RegisterCompressor(counted{encoding.GetCompressor(gzip.Name)}) }

// TestPasswordBeforeMessage: nothing of a message is read before the password is known, of calls and of streams; a message that unpacks
// to more than the largest manifest is refused even then.
func TestPasswordBeforeMessage(t *testing.T) {
	t.Parallel()
	s := start(t, asked)
	unpacked.Store(0) // of the test before, where it runs more than once
	packed := grpc.UseCompressor("counted")
	large := &kfpv1.CreateRunRequest{Run: &kfpv1.Run{Name: "r", PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: strings.Repeat(" ", 40<<20)}}}
	runs, views, health := kfpv1.NewRunServiceClient(s.conn), argosyv1.NewRunServiceClient(s.conn), grpc_health_v1.NewHealthClient(s.conn)

	_, err := runs.CreateRun(t.Context(), large, packed)
	require.Equal(t, codes.Unauthenticated, status.Code(err))
	require.ErrorContains(t, err, "asks for a password")
	stream, err := views.WatchRuns(t.Context(), &argosyv1.WatchRunsRequest{After: strings.Repeat(" ", 1<<20)}, packed)
	if err == nil {
		_, err = stream.Recv()
	}
	require.Equal(t, codes.Unauthenticated, status.Code(err))
	answer, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: strings.Repeat(" ", 1<<20)}, packed)
	require.NoError(t, err, "a probe has no password")
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus())
	require.Less(t, unpacked.Load(), int64(100), "of messages to the server nothing is unpacked, only its short answer to the probe")

	_, err = runs.CreateRun(knowing(t.Context()), large, packed)
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "larger than max")
	require.Less(t, unpacked.Load(), int64(35<<20), "it stops at the limit")
	_, err = runs.CreateRun(knowing(t.Context()), large)
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	_, err = runs.ListRuns(knowing(t.Context()), &kfpv1.ListRunsRequest{}, packed)
	require.NoError(t, err)
}

// TestGuessedPassword: guesses over REST and gRPC are counted together.
func TestGuessedPassword(t *testing.T) {
	t.Parallel()
	for !guessed(t) {
		t.Log("the guesses took so long that another one was free")
	}
}

// guessed guesses ten times, and asks with the right password then. It is false where the first guess was too long ago by then.
func guessed(t *testing.T) bool {
	t.Helper()
	s := start(t, asked)
	defer s.close()
	s.get(t, "/apis/v1beta1/healthz", 200)
	begin := time.Now()
	experiments := kfpv1.NewExperimentServiceClient(s.conn)
	for i := range 10 {
		if i%2 == 0 {
			code, header, _ := s.do(t, http.MethodGet, "/apis/v1beta1/runs", "", nil, "Authorization", fmt.Sprint("Bearer ", i))
			require.Equal(t, http.StatusUnauthorized, code)
			require.Contains(t, header.Get("WWW-Authenticate"), "Basic")
			continue
		}
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", fmt.Sprint("Bearer ", i))
		_, err := experiments.ListExperiment(ctx, &kfpv1.ListExperimentsRequest{})
		require.Equal(t, codes.Unauthenticated, status.Code(err))
	}
	code, header, body := s.do(t, http.MethodGet, "/apis/v1beta1/runs", "", nil, "Authorization", "Bearer "+secret)
	_, err := experiments.ListExperiment(knowing(t.Context()), &kfpv1.ListExperimentsRequest{})
	if time.Since(begin) >= 10*time.Second {
		return false
	}
	require.Equal(t, http.StatusTooManyRequests, code)
	require.Contains(t, body, "too many wrong passwords")
	seconds, bad := strconv.Atoi(header.Get("Retry-After"))
	require.NoError(t, bad)
	require.Positive(t, seconds)
	refusal := status.Convert(err)
	require.Equal(t, codes.ResourceExhausted, refusal.Code())
	require.Len(t, refusal.Details(), 1)
	after, ok := refusal.Details()[0].(*errdetails.RetryInfo)
	require.True(t, ok)
	require.Greater(t, after.GetRetryDelay().AsDuration(), time.Duration(0))
	s.get(t, "/apis/v1beta1/healthz", 200)
	require.Contains(t, s.log.String(), "wrong password")
	return true
}
