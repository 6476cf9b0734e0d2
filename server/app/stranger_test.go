package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/app"
)

// strangerEnv makes this test's program a client: it holds the addresses of HTTP and gRPC, and a password if there is one.
const strangerEnv = "ARGOSY_TEST_STRANGER"

// paths are pages, REST methods and streams of the server.
var paths = []string{"/", "/apis/v1beta1/runs", "/apis/argosy/v1/events", "/metrics", "/debug/pprof/", "/apis/openapi.json"}

// seen is what a client was answered.
type seen struct {
	Pages   map[string]int // by path
	Body    string         // of the REST method
	Code    codes.Code     // of gRPC
	Message string
}

// callAsStranger is the client: it calls everything and writes what it has seen.
func callAsStranger(addresses string) {
	fields := strings.Fields(addresses)
	ctx, s := context.Background(), seen{Pages: map[string]int{}}
	for _, path := range append(paths, "/apis/v1beta1/healthz") {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+fields[0]+path, nil)
		if err != nil {
			panic(err)
		}
		if len(fields) > 2 {
			r.Header.Set("Authorization", "Bearer "+fields[2])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		s.Pages[path] = answer.StatusCode
		if path == "/apis/v1beta1/runs" {
			body, _ := io.ReadAll(answer.Body)
			s.Body = string(body)
		}
		answer.Body.Close()
	}
	conn, err := grpc.NewClient(fields[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	defer conn.Close() //nolint:errcheck // a test
	if len(fields) > 2 {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+fields[2])
	}
	_, err = kfpv1.NewRunServiceClient(conn).ListRuns(ctx, &kfpv1.ListRunsRequest{})
	s.Code, s.Message = status.Code(err), fmt.Sprint(err)
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		panic(err)
	}
}

// callFrom runs the client as another account, or as this one.
func callFrom(t *testing.T, account int, arguments ...string) seen {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{strangerEnv + "=" + strings.Join(arguments, " ")}
	cmd.Stderr = os.Stderr
	if account != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(account), Gid: uint32(account)}}
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	var s seen
	require.NoError(t, json.Unmarshal(out, &s))
	return s
}

// TestOtherAccounts: without a password the server serves the account that started it, over HTTP and gRPC, and says to others what to do;
// with one it serves all that know it.
func TestOtherAccounts(t *testing.T) {
	t.Parallel()
	addrs := start(t, config(t)).Addrs()
	own := callFrom(t, os.Getuid(), addrs.HTTP, addrs.GRPC)
	for _, path := range paths {
		require.Equal(t, http.StatusOK, own.Pages[path], path)
	}
	require.Equal(t, codes.OK, own.Code, own.Message)
	if os.Getuid() != 0 { // the rest needs another account, which only root can be
		return
	}
	const stranger = 65533
	refused := callFrom(t, stranger, addrs.HTTP, addrs.GRPC)
	for _, path := range paths {
		require.Equal(t, http.StatusForbidden, refused.Pages[path], path)
	}
	require.Equal(t, http.StatusOK, refused.Pages["/apis/v1beta1/healthz"])
	require.Equal(t, codes.PermissionDenied, refused.Code)
	for _, words := range []string{"this server serves the account that started it (root, user id 0)", "not user id 65533", "ARGOSY_PASSWORD"} {
		require.Contains(t, refused.Body, words)
		require.Contains(t, refused.Message, words)
	}

	c := config(t)
	c.Password = "one-of-twenty-letters"
	addrs = start(t, c).Addrs()
	for _, account := range []int{0, stranger} {
		unknown := callFrom(t, account, addrs.HTTP, addrs.GRPC)
		require.Equal(t, http.StatusUnauthorized, unknown.Pages["/"])
		require.Equal(t, codes.Unauthenticated, unknown.Code)
		known := callFrom(t, account, addrs.HTTP, addrs.GRPC, string(c.Password))
		require.Equal(t, http.StatusOK, known.Pages["/"])
		require.Equal(t, codes.OK, known.Code, known.Message)
	}
	c.Password = "too short"
	_, err := app.New(t.Context(), c)
	require.ErrorContains(t, err, "use 16 or more")
}
