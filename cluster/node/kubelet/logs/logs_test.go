package logs

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// writeLog makes a log of entries a second apart, from second 0 of a fixed minute on.
func writeLog(t *testing.T, entries ...string) podlog.Life {
	t.Helper()
	return writeSegments(t, entries)
}

// writeSegments is writeLog with the entries of each segment.
func writeSegments(t *testing.T, segments ...[]string) podlog.Life {
	t.Helper()
	life, second := podlog.Life{Folder: t.TempDir(), Number: 0}, 0
	for n, entries := range segments {
		var b bytes.Buffer
		for _, e := range entries {
			podlog.AppendEntry(&b, base.Add(time.Duration(second)*time.Second), podlog.Stdout, []byte(e))
			second++
		}
		require.NoError(t, os.WriteFile(life.Segment(n), b.Bytes(), 0o600))
	}
	return life
}

var base = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

func TestCopyLog(t *testing.T) {
	t.Parallel()
	// A long line in pieces, an empty line, and one that was never finished.
	life := writeLog(t, "one\n", "tw", "o\n", "\n", "four\n", "unfin")
	all := Options{tail: -1}
	with := func(change func(*Options)) Options { o := all; change(&o); return o }
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"all":         {all, "one\ntwo\n\nfour\nunfin"},
		"tail 0":      {with(func(o *Options) { o.tail = 0 }), ""},
		"tail 1":      {with(func(o *Options) { o.tail = 1 }), "unfin"},
		"tail 2":      {with(func(o *Options) { o.tail = 2 }), "four\nunfin"},
		"tail 4":      {with(func(o *Options) { o.tail = 4 }), "two\n\nfour\nunfin"},
		"tail 5":      {with(func(o *Options) { o.tail = 5 }), "one\ntwo\n\nfour\nunfin"},
		"tail 99":     {with(func(o *Options) { o.tail = 99 }), "one\ntwo\n\nfour\nunfin"},
		"since":       {with(func(o *Options) { o.since = base.Add(4 * time.Second) }), "four\nunfin"},
		"limit":       {with(func(o *Options) { o.limit = 6 }), "one\ntw"},
		"limit exact": {with(func(o *Options) { o.limit = 4 }), "one\n"},
		"timestamps": {
			with(func(o *Options) { o.timestamps = true }),
			"2026-01-02T03:04:00.000000000Z one\n2026-01-02T03:04:01.000000000Z two\n2026-01-02T03:04:03.000000000Z \n2026-01-02T03:04:04.000000000Z four\n2026-01-02T03:04:05.000000000Z unfin",
		},
		"timestamps and tail": {with(func(o *Options) { o.timestamps, o.tail = true, 2 }), "2026-01-02T03:04:04.000000000Z four\n2026-01-02T03:04:05.000000000Z unfin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			require.NoError(t, Copy(t.Context(), &b, life, nil, c.o))
			require.Equal(t, c.want, b.String())
		})
	}
}

func TestTailOfALongLogCrossesBlocks(t *testing.T) {
	t.Parallel()
	var entries []string
	for i := range 5000 {
		entries = append(entries, fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", i%90)))
	}
	life := writeLog(t, entries...)
	for _, n := range []int{1, 2, 100, 1000, 2500, 4999, 5000} {
		var b bytes.Buffer
		require.NoError(t, Copy(t.Context(), &b, life, nil, Options{tail: int64(n)}))
		require.Equal(t, strings.Join(entries[5000-n:], ""), b.String(), n)
	}
	tail, err := Tail(life, 2, 10)
	require.NoError(t, err)
	require.Len(t, tail, 10)
}

func TestEmptyLog(t *testing.T) {
	t.Parallel()
	life := writeLog(t)
	for _, tail := range []int64{-1, 0, 3} {
		var b bytes.Buffer
		require.NoError(t, Copy(t.Context(), &b, life, nil, Options{tail: tail}))
		require.Empty(t, b.String())
	}
}

// chunks takes what is written and tells of it.
type chunks struct {
	wrote chan string
}

func (c chunks) Write(b []byte) (int, error) { c.wrote <- string(b); return len(b), nil }

func TestFollowSeesWhatIsSaidAndEndsWithTheContainer(t *testing.T) {
	t.Parallel()
	watched, err := NewWatcher()
	require.NoError(t, err)
	defer watched.Close()
	life := podlog.Life{Folder: filepath.Join(t.TempDir(), "c")}
	log, err := podlog.Create(life)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	pumped := make(chan error, 1)
	go func() { pumped <- log.Pump(podlog.Stdout, r) }()

	got := chunks{wrote: make(chan string, 16)}
	followed := make(chan error, 1)
	go func() { followed <- Copy(t.Context(), got, life, watched, Options{tail: -1, follow: true}) }()

	_, err = w.WriteString("first\n")
	require.NoError(t, err)
	require.Equal(t, "first\n", <-got.wrote)
	_, err = w.WriteString("prompt> ") // not finished, and yet to be seen
	require.NoError(t, err)
	require.Equal(t, "prompt> ", <-got.wrote)
	_, err = w.WriteString("answer\n")
	require.NoError(t, err)
	require.Equal(t, "answer\n", <-got.wrote)
	require.NoError(t, w.Close())
	require.NoError(t, <-pumped)
	require.NoError(t, log.Close())
	require.NoError(t, life.WriteExit(podlog.Exit{}))
	require.NoError(t, <-followed)
}

func TestFollowEndsWithItsReader(t *testing.T) {
	t.Parallel()
	watched, err := NewWatcher()
	require.NoError(t, err)
	defer watched.Close()
	life := writeLog(t, "one\n")
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() {
		followed <- Copy(ctx, &bytes.Buffer{}, life, watched, Options{tail: -1, follow: true})
	}()
	cancel()
	require.NoError(t, <-followed)
}

func TestLogGoesOnInTheNextSegment(t *testing.T) {
	t.Parallel()
	life := writeSegments(t, []string{"one\n", "two\n"}, []string{"three\n"}, []string{"four\n", "five\n"})
	for n, want := range map[int64]string{-1: "one\ntwo\nthree\nfour\nfive\n", 1: "five\n", 2: "four\nfive\n", 3: "three\nfour\nfive\n", 4: "two\nthree\nfour\nfive\n", 9: "one\ntwo\nthree\nfour\nfive\n"} {
		var b bytes.Buffer
		require.NoError(t, Copy(t.Context(), &b, life, nil, Options{tail: n}))
		require.Equal(t, want, b.String(), n)
	}
	require.NoError(t, os.Remove(life.Segment(0)))
	var b bytes.Buffer
	require.NoError(t, Copy(t.Context(), &b, life, nil, Options{tail: -1}))
	require.Equal(t, "three\nfour\nfive\n", b.String(), "the oldest is not kept")
}

// A reader that follows misses nothing while segments come and, unread, would go.
func TestFollowAcrossSegments(t *testing.T) {
	t.Parallel()
	watched, err := NewWatcher()
	require.NoError(t, err)
	defer watched.Close()
	life := podlog.Life{Folder: t.TempDir()}
	log, err := podlog.Create(life)
	require.NoError(t, err)
	got := chunks{wrote: make(chan string)}
	followed := make(chan error, 1)
	go func() { followed <- Copy(t.Context(), got, life, watched, Options{tail: -1, follow: true}) }()
	line := strings.Repeat("x", 9_000_000/16) + "\n" // two of these and their headers fill a segment in 20 lines
	for range 60 {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		go func() {
			_, _ = w.WriteString(line)
			_ = w.Close()
		}()
		pumped := make(chan error, 1)
		go func() { pumped <- log.Pump(podlog.Stdout, r) }()
		for n := 0; n < len(line); {
			n += len(<-got.wrote)
		}
		require.NoError(t, <-pumped)
	}
	segments, err := life.Segments()
	require.NoError(t, err)
	require.Greater(t, len(segments), 2)
	require.NoError(t, log.Close())
	require.NoError(t, life.WriteExit(podlog.Exit{}))
	require.NoError(t, <-followed)
}

func TestParseLogOptions(t *testing.T) {
	t.Parallel()
	parse := func(query string) (Options, bool, error) {
		return ParseOptions(httptest.NewRequest("GET", "/containerLogs/a/b/c?"+query, nil))
	}
	o, previous, err := parse("follow=true&timestamps=true&tailLines=7&limitBytes=9&previous=true&sinceTime=2026-01-02T03:04:05Z")
	require.NoError(t, err)
	require.True(t, previous)
	require.Equal(t, Options{follow: true, timestamps: true, tail: 7, limit: 9, since: base.Add(5 * time.Second)}, o)
	o, _, err = parse("")
	require.NoError(t, err)
	require.Equal(t, Options{tail: -1}, o)
	before := time.Now()
	o, _, err = parse("sinceSeconds=60")
	require.NoError(t, err)
	require.WithinRange(t, o.since, before.Add(-time.Minute), time.Now().Add(-time.Minute))
	for _, bad := range []string{"tailLines=-1", "tailLines=x", "limitBytes=0", "follow=perhaps", "sinceTime=yesterday", "sinceSeconds=0"} {
		_, _, err := parse(bad)
		require.ErrorContains(t, err, strings.Split(bad, "=")[0], bad)
	}
}

func FuzzParseLogOptions(f *testing.F) {
	f.Add("tailLines=3&follow=true")
	f.Add("sinceSeconds=9223372036854775807")
	f.Add("limitBytes=%zz")
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/x", nil)
		r.URL.RawQuery = query
		if o, _, err := ParseOptions(r); err == nil && (o.tail < -1 || o.limit < 0) {
			t.Fatalf("%q gave the impossible %+v", query, o)
		}
	})
}

func TestChooseLog(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	life := func(n int) podlog.Life { return podlog.Life{Folder: filepath.Join(folder, "c"), Number: n} }
	for i := range 12 {
		log, err := podlog.Create(life(i))
		require.NoError(t, err)
		require.NoError(t, log.Close())
	}
	found, err := Choose(folder, "c", false)
	require.NoError(t, err)
	require.Equal(t, life(11), found)
	found, err = Choose(folder, "c", true)
	require.NoError(t, err)
	require.Equal(t, life(10), found)
	_, err = Choose(folder, "other", false)
	require.ErrorContains(t, err, "waiting to start")
	_, err = Choose(folder, "../../../etc", false)
	require.ErrorContains(t, err, "does not exist")
}
