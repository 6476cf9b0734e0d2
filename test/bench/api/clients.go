package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	followers = 1000 // clients that follow a run: half of them its events, half its log
	windows   = 3
	followFor = 20 * time.Second // each window
)

// measureCluster measures what needs a cluster: clients that follow a run, and then runs that are created.
func measureCluster(ctx context.Context, o options, dir string, r *report, parts []string) (err error) {
	home := filepath.Join(dir, "cluster")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	s, err := start(ctx, o.bin, home, "up")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if slices.Contains(parts, "clients") {
		if err := measureClients(ctx, s, r); err != nil {
			return fmt.Errorf("clients: %w", err)
		}
	}
	if slices.Contains(parts, "create") {
		if err := measureCreate(ctx, s, r); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	return nil
}

// delays collects how late things came.
type delays struct {
	mu  sync.Mutex
	all []float64 // milliseconds
}

func (d *delays) since(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, time.Since(t).Seconds()*1000)
}

func (d *delays) p99() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.all)
	return quantile(d.all, 0.99)
}

// measureClients has a step print the time, and clients follow its log and the events of its run, which is archived and
// unarchived meanwhile. How late a line or an event is tells the clock, which all have in common.
func measureClients(ctx context.Context, s *server, r *report) error {
	lines := int(windows*followFor/stampEvery) * 2
	id, err := createRun(ctx, http.DefaultClient, s.url, "followed", workflow("sh", "-c",
		fmt.Sprintf("i=0; while [ $i -lt %d ]; do date +%%s%%N; sleep %g; i=$((i+1)); done", lines, stampEvery.Seconds())))
	if err != nil {
		return err
	}
	node, err := podOf(ctx, s, id)
	if err != nil {
		return err
	}
	before, err := s.goroutines(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var logs, events delays
	var changed atomic.Int64 // when the run was last archived or unarchived, in nanoseconds
	var wg sync.WaitGroup
	var failed, open atomic.Int64
	follow := func(url string, each func(line string)) {
		wg.Go(func() {
			if err := readLines(ctx, client, url, func() { open.Add(1) }, each); err != nil && ctx.Err() == nil {
				failed.Add(1)
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	for range followers / 2 {
		opened := time.Now()
		follow(s.url+"/apis/argosy/v1/runs/"+id+"/nodes/"+node+"/log?follow=true", func(line string) {
			// What was printed before the client came is not late.
			if n, err := strconv.ParseInt(line, 10, 64); err == nil && time.Unix(0, n).After(opened.Add(5*time.Second)) {
				logs.since(time.Unix(0, n))
			}
		})
		follow(s.url+"/apis/argosy/v1/runs/"+id+"/events", func(line string) {
			if at := changed.Load(); at > 0 && strings.HasPrefix(line, "event: run") {
				events.since(time.Unix(0, at))
			}
		})
	}
	for open.Load() < followers && failed.Load() == 0 && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	sizes, err := s.watched(ctx, id, &changed)
	if err != nil {
		return err
	}
	cancel()
	wg.Wait()
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d clients were cut off", n)
	}
	client.CloseIdleConnections()
	left, err := s.settled(context.WithoutCancel(ctx), before)
	if err != nil {
		return err
	}
	r.add(figure{Name: fmt.Sprintf("%d clients: delay of a log line, p99", followers), Unit: "ms", Aim: 1000, Value: logs.p99()})
	r.add(figure{Name: fmt.Sprintf("%d clients: delay of an event, p99", followers), Unit: "ms", Aim: 1000, Value: events.p99()})
	for i, size := range sizes {
		r.add(figure{Name: fmt.Sprintf("%d clients: server's memory after %v", followers, time.Duration(i+1)*followFor), Unit: "MB", Value: size.memory})
		r.add(figure{Name: fmt.Sprintf("%d clients: goroutines after %v", followers, time.Duration(i+1)*followFor), Value: size.goroutines})
	}
	r.add(figure{Name: fmt.Sprintf("goroutines more than before, when the %d clients have left", followers), Value: left - before, Aim: 20})
	r.note("%d log lines and %d events came to the clients.", len(logs.all), len(events.all))
	return nil
}

// A size is how large a server is at a moment.
type size struct {
	memory     float64 // MB
	goroutines float64
}

// watched archives and unarchives the run that clients follow, and gives the server's size at the end of each window.
func (s *server) watched(ctx context.Context, id string, changed *atomic.Int64) (sizes []size, err error) {
	for begin, on := time.Now(), true; len(sizes) < windows; on = !on {
		changed.Store(time.Now().UnixNano())
		verb := map[bool]string{true: ":archive", false: ":unarchive"}[on]
		if err := post(ctx, s.url+"/apis/v1beta1/runs/"+id+verb); err != nil {
			return nil, err
		}
		time.Sleep(time.Second) // an event belongs to the change before it
		if time.Since(begin) < time.Duration(len(sizes)+1)*followFor {
			continue
		}
		var now size
		if now.memory, _, err = s.memory(); err != nil {
			return nil, err
		}
		if now.goroutines, err = s.goroutines(ctx); err != nil {
			return nil, err
		}
		sizes = append(sizes, now)
	}
	return sizes, nil
}

// goroutines is how many the server says that it has.
func (s *server) goroutines(ctx context.Context) (float64, error) {
	body, err := get(ctx, s.url+"/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		if rest, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			return strconv.ParseFloat(strings.TrimSpace(rest), 64)
		}
	}
	return 0, errors.New("/metrics has no go_goroutines")
}

// settled waits until the server has little more goroutines than before, for some seconds at most, and gives how many it has.
func (s *server) settled(ctx context.Context, before float64) (n float64, err error) {
	for range 20 {
		if n, err = s.goroutines(ctx); err != nil || n <= before+20 {
			return n, err
		}
		time.Sleep(500 * time.Millisecond)
	}
	return n, nil
}

// podOf waits for the step of a run and gives its node.
func podOf(ctx context.Context, s *server, id string) (string, error) {
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(200 * time.Millisecond) {
		body, err := get(ctx, s.url+"/apis/argosy/v1/runs/"+id)
		if err != nil {
			return "", err
		}
		if _, rest, ok := strings.Cut(string(body), `"nodes":[{"id":"`); ok && strings.Contains(rest, `"phase":"Running"`) {
			node, _, _ := strings.Cut(rest, `"`)
			return node, nil
		}
	}
	return "", errors.New("the run that is to be followed does not begin")
}

// readLines gives each line of an answer as it comes, until it or ctx ends.
func readLines(ctx context.Context, client *http.Client, url string, opened func(), each func(string)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body) // only for the message
		return fmt.Errorf("%s: %s: %.300s", url, response.Status, body)
	}
	opened()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		each(lines.Text())
	}
	return lines.Err()
}

func post(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return err
}
