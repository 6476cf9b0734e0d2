package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/listing"
)

const pageSize = 100

// A listed is what one shape and page took.
type listed struct {
	Runs     int       `json:"runs"` // of the store
	Store    string    `json:"store"`
	Shape    string    `json:"shape"`
	Group    string    `json:"group"`
	Page     string    `json:"page"` // first, middle or last
	Rows     int       `json:"rows"` // of the page
	Total    int       `json:"total"`
	Times    []float64 `json:"-"` // milliseconds, in order
	P50      float64   `json:"p50_ms"`
	P99      float64   `json:"p99_ms"`
	CPU      float64   `json:"cpu_ms"` // of the server, a request
	OverGRPC []float64 `json:"-"`      // milliseconds, in order
	GRPC99   float64   `json:"grpc_p99_ms"`
}

// measureLists asks for three pages of every shape, checks them against the model and takes their times.
func measureLists(ctx context.Context, s *server, m *model, shapes []shape, o options) ([]listed, error) {
	var all []listed
	for _, sh := range shapes {
		rows := m.list(sh)
		for _, p := range pages(len(rows)) {
			var start *listing.Cursor
			if p.value > 0 {
				start = m.cursor(sh, rows[p.value])
			}
			want := rows[p.value:min(p.value+pageSize, len(rows))]
			l, err := measureList(ctx, s, "runs?"+sh.query(pageSize, start), o, func(body []byte) (int, int, error) {
				return m.check(body, want, len(rows))
			})
			if err != nil {
				return nil, fmt.Errorf("%s, %s page: %w", sh, p.name, err)
			}
			if l.OverGRPC, err = overGRPC(ctx, s, sh.query(pageSize, start), len(l.Times)); err != nil {
				return nil, fmt.Errorf("%s, %s page, over gRPC: %w", sh, p.name, err)
			}
			l.GRPC99 = quantile(l.OverGRPC, 0.99)
			l.Shape, l.Page, l.Group = sh.String(), p.name, sh.group
			all = append(all, l)
		}
	}
	return all, nil
}

// pages are where the first, middle and last page of so many rows begin, as far as there are so many.
func pages(rows int) []named[int] {
	all := []named[int]{{"first", 0}}
	if rows > 2*pageSize {
		all = append(all, named[int]{"middle", rows / 2})
	}
	if rows > pageSize {
		all = append(all, named[int]{"last", rows - pageSize/2})
	}
	return all
}

// answer is what is checked of a list.
type answer struct {
	Total int    `json:"total_size"`
	Next  string `json:"next_page_token"`
	Runs  []struct {
		ID string `json:"id"`
	} `json:"runs"`
}

// check compares an answer with what is wanted, and says how many rows it has and of how many.
func (m *model) check(body []byte, want []int32, total int) (rows, of int, err error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return 0, 0, err
	}
	if a.Total != total {
		return 0, 0, fmt.Errorf("total_size is %d; %d match", a.Total, total)
	}
	if len(a.Runs) != len(want) {
		return 0, 0, fmt.Errorf("the page has %d rows instead of %d", len(a.Runs), len(want))
	}
	for i, r := range a.Runs {
		if id := m.rows[want[i]].id; r.ID != id {
			return 0, 0, fmt.Errorf("row %d is run %s instead of %s", i, r.ID, id)
		}
	}
	return len(a.Runs), a.Total, nil
}

// measureList asks for a path of the API until there are enough times, or it has taken too long.
func measureList(ctx context.Context, s *server, path string, o options, check func(body []byte) (rows, total int, err error)) (l listed, err error) {
	begin := time.Now()
	var before time.Duration
	for i := 0; i <= o.samples && (i < 3 || time.Since(begin) < o.patience); i++ {
		start := time.Now()
		body, err := get(ctx, s.url+"/apis/v1beta1/"+path)
		took := time.Since(start)
		if err != nil {
			return l, err
		}
		if i == 0 { // which finds what it reads on the disk
			if l.Rows, l.Total, err = check(body); err != nil {
				return l, err
			}
			if before, err = s.cpu(); err != nil {
				return l, err
			}
			continue
		}
		l.Times = append(l.Times, took.Seconds()*1000)
	}
	after, err := s.cpu()
	if err != nil {
		return l, err
	}
	l.CPU = (after - before).Seconds() * 1000 / float64(len(l.Times))
	slices.Sort(l.Times)
	l.P50, l.P99 = quantile(l.Times, 0.5), quantile(l.Times, 0.99)
	return l, nil
}

// overGRPC asks for the same page by gRPC and gives the times in order.
func overGRPC(ctx context.Context, s *server, query string, samples int) (times []float64, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	r := &kfpv1.ListRunsRequest{PageSize: pageSize, PageToken: values.Get("page_token"), SortBy: values.Get("sort_by"), Filter: values.Get("filter")}
	if id := values.Get("resource_reference_key.id"); id != "" {
		kind := kfpv1.ResourceType_value[values.Get("resource_reference_key.type")]
		r.ResourceReferenceKey = &kfpv1.ResourceKey{Type: kfpv1.ResourceType(kind), Id: id}
	}
	runs := kfpv1.NewRunServiceClient(s.conn)
	for range samples {
		begin := time.Now()
		if _, err := runs.ListRuns(ctx, r); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin).Seconds()*1000)
	}
	slices.Sort(times)
	return times, nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", response.Status, body)
	}
	return body, err
}

// quantile of sorted values, by the nearest rank.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
