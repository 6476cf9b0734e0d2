package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const eventsPath = "GET /apis/argosy/v1/runs/r1/events"

func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range events {
			_, _ = io.WriteString(w, e)
		}
	}
}

func runEvent(revision int, status string) string {
	return fmt.Sprintf(": comment\nid: %d\nevent: run\ndata: {\"id\":\"r1\",\"status\":%q}\n\n", revision, status)
}

const endEvent = "event: end\ndata: {}\n\n"

func statuses(t *testing.T, c *Client) (seen []string, err error) {
	t.Helper()
	_, err = c.Runs.Wait(t.Context(), "r1", func(r *Run) { seen = append(seen, r.Status) })
	return seen, err
}

func TestWaitStreams(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{eventsPath: stream(runEvent(1, Pending), runEvent(2, Running), runEvent(3, Succeeded), endEvent)})
	seen, err := statuses(t, c)
	require.NoError(t, err)
	require.Equal(t, []string{Pending, Running, Succeeded}, seen)
}

func TestWaitTakesABrokenStreamUpAgain(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	ids := make(chan string, 3)
	c := serve(t, map[string]http.HandlerFunc{eventsPath: func(w http.ResponseWriter, r *http.Request) {
		ids <- r.Header.Get("Last-Event-ID")
		switch connections.Add(1) {
		case 1:
			stream(runEvent(1, Running))(w, r)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			stream(runEvent(1, Running), runEvent(2, Failed), endEvent)(w, r)
		}
	}})
	seen, err := statuses(t, c)
	require.NoError(t, err)
	require.Equal(t, []string{Running, Failed}, seen, "the view already seen is not told again")
	require.Equal(t, []string{"", "1", "1"}, []string{<-ids, <-ids, <-ids})
}

func TestWaitLeavesASilentStream(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{eventsPath: func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") == "" { // on a busy machine the client may leave before it hears a word, and come again
			stream(runEvent(1, Running))(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		stream(runEvent(2, Succeeded), endEvent)(w, r)
	}})
	c.conn.idle = 20 * time.Millisecond
	seen, err := statuses(t, c)
	require.NoError(t, err)
	require.Equal(t, []string{Running, Succeeded}, seen)
}

func TestWaitPollsWhereThereIsNoStream(t *testing.T) {
	t.Parallel()
	for name, events := range map[string]http.HandlerFunc{
		"no such path":    refuse(404, "404 page not found"),
		"swallowed":       answer("<html>"),
		"not implemented": refuse(501, "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var polls atomic.Int32
			c := serve(t, map[string]http.HandlerFunc{
				eventsPath: events,
				"GET /apis/argosy/v1/runs/r1": func(w http.ResponseWriter, r *http.Request) {
					answer(fmt.Sprintf(`{"id":"r1","status":%q}`, []string{Running, Running, Succeeded}[polls.Add(1)-1]))(w, r)
				},
			})
			seen, err := statuses(t, c)
			require.NoError(t, err)
			require.Equal(t, []string{Running, Succeeded}, seen)
			require.Equal(t, int32(3), polls.Load())
		})
	}
}

func TestWaitFails(t *testing.T) {
	t.Parallel()
	t.Run("no such run", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{eventsPath: refuse(404, `{"message":"no run r1","code":5}`)})
		_, err := statuses(t, c)
		require.True(t, IsNotFound(err))
	})
	t.Run("not a run", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{eventsPath: stream("event: run\ndata: [1\n\n")})
		_, err := statuses(t, c)
		require.ErrorContains(t, err, "the event is not a run")
	})
	t.Run("nothing said", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{eventsPath: stream(endEvent)})
		_, err := statuses(t, c)
		require.ErrorContains(t, err, "without a word")
	})
	t.Run("server gone for good", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{eventsPath: refuse(503, `{"message":"down","code":14}`)})
		c.conn.patience = 10 * time.Millisecond
		_, err := statuses(t, c)
		require.ErrorContains(t, err, "run r1: down")
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		c := serve(t, map[string]http.HandlerFunc{eventsPath: func(w http.ResponseWriter, r *http.Request) {
			stream(runEvent(1, Running))(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}})
		last, err := c.Runs.Wait(ctx, "r1", func(*Run) { cancel() })
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, Running, last.Status)
	})
}

func TestWatchStopsWhenTheCallerHasEnough(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{eventsPath: stream(runEvent(1, Pending), runEvent(2, Running))})
	n := 0
	for r, err := range c.Runs.Watch(t.Context(), "r1") {
		require.NoError(t, err)
		require.Equal(t, Pending, r.Status)
		n++
		break
	}
	require.Equal(t, 1, n)
}

func TestReadEvents(t *testing.T) {
	t.Parallel()
	var got []string
	err := readEvents(strings.NewReader("id: 7\r\ndata: a\r\ndata:b\r\n\r\n:c\n\nevent: x\n\ndata\n\ndata: unfinished"), func() {}, func(e event) bool {
		got = append(got, fmt.Sprintf("%s %s %q", e.id, e.name, e.data))
		return true
	})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, []string{`7  "a\nb"`, `7 x ""`, `7  ""`}, got)
}

func FuzzReadEvents(f *testing.F) {
	f.Add(runEvent(1, Running) + endEvent)
	f.Add("data: a\n\n\n\nid:\nretry: 5\n\n")
	f.Add(":\r\n\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		lines, events := 0, 0
		err := readEvents(strings.NewReader(s), func() { lines++ }, func(event) bool { events++; return true })
		require.Error(t, err, "a stream that just ends was cut")
		require.LessOrEqual(t, events, lines)
	})
}
