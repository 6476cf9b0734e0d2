package client

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const logPath = "GET /apis/argosy/v1/runs/r1/nodes/n1/log"

// A broken log goes on where it was, without a line twice or missing.
func TestFollowLogComesBack(t *testing.T) {
	t.Parallel()
	const whole = "one\ntwo\r\nthree\n\nfive"
	cuts := []int{0, 3, 6, 10}
	var connections atomic.Int32
	c := serve(t, map[string]http.HandlerFunc{logPath: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("follow") != "true" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		n := int(connections.Add(1)) - 1
		if n == len(cuts) {
			_, _ = io.WriteString(w, whole)
			return
		}
		_, _ = io.WriteString(w, whole[:cuts[n]])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}})
	var lines []string
	for line, err := range c.Logs.Follow(t.Context(), "r1", "n1") {
		require.NoError(t, err)
		lines = append(lines, line)
	}
	require.Equal(t, []string{"one", "two", "three", "", "five"}, lines)
	require.Equal(t, int32(len(cuts)+1), connections.Load())
}

func TestFollowLogEnds(t *testing.T) {
	t.Parallel()
	t.Run("when the caller has enough", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{logPath: answer("one\ntwo\n")})
		n := 0
		for _, err := range c.Logs.Follow(t.Context(), "r1", "n1") {
			require.NoError(t, err)
			n++
			break
		}
		require.Equal(t, 1, n)
	})
	t.Run("where there is no log", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{logPath: refuse(404, `{"message":"step x has no log","code":5}`)})
		for _, err := range c.Logs.Follow(t.Context(), "r1", "n1") {
			require.True(t, IsNotFound(err))
		}
	})
	t.Run("when the server is gone for good", func(t *testing.T) {
		t.Parallel()
		c := serve(t, map[string]http.HandlerFunc{logPath: refuse(503, `{"message":"down","code":14}`)})
		c.conn.patience, c.conn.retries = 10*time.Millisecond, 0
		for _, err := range c.Logs.Follow(t.Context(), "r1", "n1") {
			require.ErrorContains(t, err, "log of n1: down")
		}
	})
}

func TestWatchMetrics(t *testing.T) {
	t.Parallel()
	view := func(metrics string) string {
		return "event: run\ndata: {\"id\":\"r1\",\"metrics\":[" + metrics + "]}\n\n"
	}
	const a1, a2, b1 = `{"name":"a","node_id":"n","value":1}`, `{"name":"a","node_id":"n","value":2}`, `{"name":"b","node_id":"n","value":0.5,"format":"PERCENTAGE"}`
	c := serve(t, map[string]http.HandlerFunc{eventsPath: stream(view(a1), view(a1+","+b1), view(a2+","+b1), endEvent)})
	var got []string
	for m, err := range c.Runs.WatchMetrics(t.Context(), "r1") {
		require.NoError(t, err)
		got = append(got, m.Name+" "+m.String())
	}
	require.Equal(t, []string{"a 1", "b 50.00%", "a 2"}, got)
}

func TestCompareRuns(t *testing.T) {
	t.Parallel()
	node := []Node{{ID: "n1", DisplayName: "train"}}
	one := &Run{Parameters: []Parameter{{"lr", "1"}, {"image", "x"}}, Nodes: node, Metrics: []Metric{{"loss", "n1", 0.5, "RAW"}}}
	two := &Run{Parameters: []Parameter{{"image", "x"}, {"lr", "2"}, {"new", "y"}}, Nodes: []Node{{ID: "n2", DisplayName: "train"}}, Metrics: []Metric{{"loss", "n2", 0.4, "RAW"}, {"speed", "gone", 3, "RAW"}}}
	c := CompareRuns(one, two)
	require.Equal(t, []ComparedRow{{"lr", []string{"1", "2"}, false}, {"image", []string{"x", "x"}, true}, {"new", []string{"", "y"}, false}}, c.Parameters)
	require.Len(t, c.Metrics, 2)
	require.Equal(t, []float64{0.5, 0.4}, []float64{*c.Metrics[0].Values[0], *c.Metrics[0].Values[1]}, "the same step of both, whatever its node is called")
	require.Nil(t, c.Metrics[1].Values[0])
	require.Empty(t, CompareRuns().Parameters)
}

func TestArtifactFile(t *testing.T) {
	t.Parallel()
	pack := func(size int, names ...string) []byte {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		tw := tar.NewWriter(zw)
		for _, name := range names {
			if strings.HasSuffix(name, "/") {
				require.NoError(t, tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeDir}))
				continue
			}
			require.NoError(t, tw.WriteHeader(&tar.Header{Name: name, Size: int64(size), Typeflag: tar.TypeReg}))
			_, err := tw.Write(bytes.Repeat([]byte("x"), size))
			require.NoError(t, err)
		}
		require.NoError(t, tw.Close())
		require.NoError(t, zw.Close())
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		data []byte
		want string
		err  string
	}{
		"a file":          {pack(1, "a"), "x", ""},
		"a folder":        {pack(1, "model/", "model/a", "model/b"), "", "it is a folder"},
		"files":           {pack(1, "a", "b"), "", "it is a folder"},
		"an empty folder": {pack(1, "model/"), "", "it is a folder"},
		"a large file":    {pack(mostHeld+1, "a"), strings.Repeat("x", mostHeld+1), ""},
		"large files":     {pack(mostHeld+1, "a", "b"), "", "it is a folder"},
		"as much as held": {pack(mostHeld, "a"), strings.Repeat("x", mostHeld), ""},
		"nothing":         {pack(1), "", "holds no file"},
		"as it is":        {[]byte("plain"), "plain", ""},
		"cut short":       {pack(1, "a")[:20], "", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			err := onlyFile(&got, bytes.NewReader(c.data), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.data)), nil })
			require.True(t, c.want == got.String(), "%d bytes were written", got.Len())
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
		})
	}
}
