package job

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// stamped is a line of a log with the time it was written at.
type stamped struct {
	at   time.Time
	text string
}

var start = time.Date(2026, 11, 20, 23, 13, 20, 0, time.UTC)

// sample has lines of the same instant, of the same second, long ones and a progress bar.
func sample() []stamped {
	var log []stamped
	for i := range 60 {
		at := start.Add(time.Duration(i/3) * 170 * time.Millisecond)
		log = append(log, stamped{at, fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", i*i%97))})
	}
	log = append(log, stamped{start.Add(time.Minute), "10%\r20%\r100%\n"}, stamped{start.Add(time.Minute), ""}, stamped{start.Add(time.Minute), "end without a line end"})
	return log
}

func plain(log []stamped) string {
	var b strings.Builder
	for _, l := range log {
		b.WriteString(l.text)
	}
	return b.String()
}

// kubeletLog is what a kubelet answers: the lines since a whole second, with their times.
func kubeletLog(log []stamped, since time.Time) []byte {
	var b bytes.Buffer
	for _, l := range log {
		if l.text != "" && !l.at.Before(since) {
			fmt.Fprintf(&b, "%s %s", l.at.Format(time.RFC3339Nano), l.text)
		}
	}
	return b.Bytes()
}

// logServer serves the pod and its log as an apiserver does, and breaks the
// connection after so many bytes, a different number each time. It stands in for
// an apiserver because none can be made to break off at a given byte.
type logServer struct {
	log   []stamped
	cuts  []int
	calls atomic.Int32
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/log") {
		pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: containerLauncher, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(pod)
		return
	}
	var since time.Time
	if text := r.URL.Query().Get("sinceTime"); text != "" {
		since, _ = time.Parse(time.RFC3339, text)
	}
	body := kubeletLog(s.log, since)
	call := int(s.calls.Add(1)) - 1
	if call < len(s.cuts) {
		_, _ = w.Write(body[:min(s.cuts[call], len(body))])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

func podsOf(t *testing.T, h http.Handler) corev1client.PodInterface {
	t.Helper()
	server := httptest.NewServer(h)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	client, err := corev1client.NewForConfig(&rest.Config{Host: server.URL, Transport: transport, QPS: -1})
	require.NoError(t, err)
	return client.Pods("kubeflow")
}

// Wherever the connection breaks, no byte is lost and none comes twice.
func TestLogSurvivesCuts(t *testing.T) {
	t.Parallel()
	log := sample()
	whole := len(kubeletLog(log, time.Time{}))
	for step := range 12 {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			t.Parallel()
			at := 1 + step*whole/12
			s := &logServer{log: log, cuts: []int{at, 40 + step, 0}}
			var got bytes.Buffer
			l := &podLog{pods: podsOf(t, s), pod: "p", container: containerLauncher, w: &got}
			require.NoError(t, l.copy(t.Context()))
			require.Equal(t, plain(log), got.String())
			require.GreaterOrEqual(t, s.calls.Load(), int32(4))
		})
	}
}

func TestLogStops(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	l := &podLog{pods: podsOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		close(entered)
		<-r.Context().Done()
	})), pod: "p", container: containerLauncher, w: &bytes.Buffer{}}
	go func() {
		<-entered
		cancel()
	}()
	require.ErrorIs(t, l.copy(ctx), context.Canceled)
}

func TestLogErrors(t *testing.T) {
	t.Parallel()
	gone := podsOf(t, http.NotFoundHandler())
	l := &podLog{pods: gone, pod: "p", container: containerLauncher, w: &bytes.Buffer{}}
	require.ErrorContains(t, l.copy(t.Context()), "pod p is gone")

	l.pods = podsOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("no time here\n")) }))
	require.ErrorIs(t, l.copy(t.Context()), errStamp)

	forbidden := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden}
	l.pods = podsOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(forbidden)
	}))
	require.ErrorContains(t, l.copy(t.Context()), "pods/log")
}

// FuzzLogResume cuts a log anywhere twice; the pieces must make the whole.
func FuzzLogResume(f *testing.F) {
	f.Add(uint(10), uint(100), "a\nb\rc\n\nd")
	f.Add(uint(31), uint(0), "x")
	f.Fuzz(func(t *testing.T, first, second uint, text string) {
		var log []stamped
		for i, line := range strings.SplitAfter(text, "\n") {
			log = append(log, stamped{start.Add(time.Duration(i/2) * 400 * time.Millisecond), line})
		}
		var got bytes.Buffer
		l := &podLog{w: &got}
		for _, cut := range []uint{first, second, 1 << 30} {
			body := kubeletLog(log, l.at.time.Truncate(time.Second))
			require.NoError(t, l.read(bytes.NewReader(body[:min(cut, uint(len(body)))])))
		}
		require.Equal(t, plain(log), got.String())
	})
}
