package gateway_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
)

// TestFollowersLeaveNothing: followers of logs and events of every kind come and hang up while the server goes on, and no goroutine
// of it is left of them. It runs alone: goroutines of other tests would be taken for such.
func TestFollowersLeaveNothing(t *testing.T) {
	s := start(t)
	path := s.live(t)
	s.print("1", "hi\n", false)
	run := "/apis/argosy/v1/runs/" + strings.Split(path, "/")[5]
	first, leave := s.stream(t, path+"?follow=true") // from here on the archive follows the log, with or without readers
	_, err := bufio.NewReader(first.Body).ReadString('\n')
	require.NoError(t, err)
	leave()
	_, err = argosyv1.NewRunServiceClient(s.conn).GetRun(t.Context(), &argosyv1.GetRunRequest{RunId: strings.Split(path, "/")[5]}) // the connection is there
	require.NoError(t, err)
	http.DefaultClient.CloseIdleConnections()
	before := goleak.IgnoreCurrent()

	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	client := &http.Client{Transport: &http.Transport{}}
	for _, path := range []string{
		path + "?follow=true", path + ":merge?follow=true&format=json", path + ":merge?follow=true&log=1/pod-1/main", run + "/events", run + "/events?nodes=changed&logs=true&points=true", "/apis/argosy/v1/events",
	} {
		for range 20 {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
			require.NoError(t, err)
			answer, err := client.Do(request)
			require.NoError(t, err)
			defer answer.Body.Close()
			_, err = bufio.NewReader(answer.Body).ReadString('\n')
			require.NoError(t, err, path)
		}
	}
	for range 20 {
		one, err := argosyv1.NewRunServiceClient(s.conn).WatchRun(ctx, &argosyv1.WatchRunRequest{RunId: strings.Split(path, "/")[5], Logs: true, Points: true})
		require.NoError(t, err)
		_, err = one.Recv()
		require.NoError(t, err)
		all, err := argosyv1.NewRunServiceClient(s.conn).WatchRuns(ctx, &argosyv1.WatchRunsRequest{})
		require.NoError(t, err)
		_, err = all.Recv()
		require.NoError(t, err)
	}
	err = goleak.Find(before)
	require.Error(t, err, "they are there")
	hangUp()
	client.CloseIdleConnections()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline) && err != nil; {
		err = goleak.Find(before) // which waits a moment for those that are on their way
	}
	require.NoError(t, err)
}
