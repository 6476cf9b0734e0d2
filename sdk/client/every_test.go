package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// call is a method of Client or of one of its parts with its arguments: zero values, which is enough to ask a server.
type call struct {
	name  string // such as Runs.Create
	seq   bool   // its result is to be ranged over
	makes func(context.Context, *Client) error
}

// calls are all methods that take a context, also those that are added later.
func calls() []call {
	all := callsOf("", reflect.TypeFor[*Client](), func(c *Client) reflect.Value { return reflect.ValueOf(c) })
	for _, part := range reflect.VisibleFields(reflect.TypeFor[Client]()) {
		if part.IsExported() {
			all = append(all, callsOf(part.Name+".", part.Type, func(c *Client) reflect.Value {
				return reflect.ValueOf(c).Elem().FieldByIndex(part.Index)
			})...)
		}
	}
	return all
}

// callsOf are the calls of one type; receiver finds its value in a client.
func callsOf(prefix string, of reflect.Type, receiver func(*Client) reflect.Value) (all []call) {
	for i := range of.NumMethod() {
		m := of.Method(i)
		if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
			continue
		}
		result := m.Type.Out(m.Type.NumOut() - 1)
		all = append(all, call{prefix + m.Name, result.Kind() == reflect.Func, func(ctx context.Context, c *Client) error {
			args := []reflect.Value{receiver(c), reflect.ValueOf(ctx)}
			for i := 2; i < m.Type.NumIn(); i++ {
				switch arg := m.Type.In(i); {
				case i == m.Type.NumIn()-1 && m.Type.IsVariadic() && arg.Elem().Kind() == reflect.String:
					args = append(args, reflect.ValueOf("x"))
				case i == m.Type.NumIn()-1 && m.Type.IsVariadic():
				case arg == reflect.TypeFor[io.Reader]():
					args = append(args, reflect.ValueOf(strings.NewReader("x")))
				case arg.Kind() == reflect.String:
					args = append(args, reflect.ValueOf("x"))
				default:
					args = append(args, reflect.Zero(arg))
				}
			}
			out := m.Func.Call(args)
			last := out[len(out)-1]
			if last.Kind() == reflect.Func {
				for _, err := range last.Seq2() {
					last = err
				}
			}
			err, _ := last.Interface().(error)
			return err
		}})
	}
	return all
}

// Every call ends when its context does, while it waits for an answer, and says why.
func TestEveryCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(calls()), 70)
	for _, call := range calls() {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{})
			var once sync.Once
			client := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not hear that the client goes
				once.Do(func() { close(arrived) })
				<-r.Context().Done()
			}})
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() { <-arrived; cancel(cause) }()
			require.ErrorIs(t, call.makes(ctx, client), cause)
		})
	}
}

// Every request carries the password, also one that is sent again.
func TestEveryCallCarriesThePassword(t *testing.T) {
	t.Parallel()
	for _, call := range calls() {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			var asked, without atomic.Int32
			client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer of good tidings" {
					without.Add(1)
				}
				if asked.Add(1) == 1 {
					refuse(http.StatusServiceUnavailable, `{"message":"away","code":14}`)(w, nil)
					return
				}
				refuse(http.StatusNotFound, `{"message":"none","code":5}`)(w, nil)
			}})
			WithPassword("of good tidings")(client)
			_ = call.makes(t.Context(), client)
			require.NotZero(t, asked.Load())
			require.Zero(t, without.Load())
		})
	}
}

// A server that is away for a moment is asked again, but never to do a thing that might have been done.
func TestEveryCallIsRepeatedWhereThatIsSafe(t *testing.T) {
	t.Parallel()
	makes := map[string]bool{
		"Experiments.Create": true, "Schedules.Create": true, "Runs.Create": true, "Pipelines.Upload": true, "Versions.Upload": true,
		"Runs.Retry":     true, // again: another attempt
		"Runs.RetryFrom": true, "Runs.Prune": true, "Queues.Create": true, "Queues.Set": true,
		"Experiments.Restore": true, // again: another that had the name
		"Samples.Start":       true, // again: another run
	}
	for _, call := range calls() {
		if call.seq || call.name == "Runs.Wait" { // they go on until their patience is over: see TestWaitFails and TestFollowLogEnds
			continue
		}
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				refuse(http.StatusServiceUnavailable, `{"message":"away","code":14}`)(w, nil)
			}})
			var e *Error
			require.ErrorAs(t, call.makes(t.Context(), client), &e)
			require.Equal(t, http.StatusServiceUnavailable, e.Status)
			want := int32(5)
			if makes[call.name] {
				want = 1
			}
			require.Equal(t, want, asked.Load(), "how often the server was asked")

			asked.Store(0)
			lost := serve(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) {
				asked.Add(1)
				panic(http.ErrAbortHandler)
			}})
			var u *Unreachable
			require.ErrorAs(t, call.makes(t.Context(), lost), &u)
			require.False(t, u.NothingSent())
			require.Equal(t, want, asked.Load(), "when answers are lost")
		})
	}
}

// Between two attempts the client waits longer each time, or as long as the server says.
func TestBackoff(t *testing.T) {
	t.Parallel()
	c, err := New(DefaultURL)
	require.NoError(t, err)
	for attempt, most := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond, 2 * time.Second, 2 * time.Second} {
		for range 100 {
			d := c.conn.delay(attempt, errors.New("x"))
			require.LessOrEqual(t, d, most)
			require.GreaterOrEqual(t, d, most/2)
		}
	}
	require.GreaterOrEqual(t, c.conn.delay(0, &Error{retryAfter: 4 * time.Second}), 2*time.Second)
	require.LessOrEqual(t, c.conn.delay(0, &Error{retryAfter: time.Hour}), 10*time.Second)
	require.Equal(t, 3*time.Second, retryAfter(http.Header{"Retry-After": {"3"}}))
	require.Zero(t, retryAfter(http.Header{"Retry-After": {"soon"}}))

	var asked atomic.Int32
	client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 4 {
			refuse(http.StatusTooManyRequests, "")(w, r)
			return
		}
		answer(`{"commit_sha":"abc"}`)(w, r)
	}})
	h, err := client.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, "abc", h.Commit)
	require.Equal(t, int32(4), asked.Load())
}
