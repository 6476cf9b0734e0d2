package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// A thing is what runs belong to, as lists of it are checked.
type thing struct {
	id, name, experiment string
	created              time.Time
	archived             bool
}

// A kind is a path of the API that lists things.
type kind struct {
	path   string // of the REST API, and the name of what it answers
	query  url.Values
	where  []listing.Predicate
	things []thing
}

func kinds(w *seed.World) []kind {
	experiments, pipelines, jobs := kind{path: "experiments", where: []listing.Predicate{of("name", listing.NotEquals, "Default")}}, kind{path: "pipelines"}, kind{path: "jobs"}
	for _, e := range w.Experiments {
		experiments.things = append(experiments.things, thing{id: e.ID, name: e.Name, created: e.CreatedAt, archived: e.Archived})
	}
	for _, p := range w.Pipelines {
		pipelines.things = append(pipelines.things, thing{id: p.ID, name: p.Name, created: p.CreatedAt})
	}
	ofOne := kind{path: "jobs", query: url.Values{
		"resource_reference_key.type": {"EXPERIMENT"}, "resource_reference_key.id": {w.Experiments[0].ID},
	}}
	for _, j := range w.Schedules {
		t := thing{id: j.ID, name: j.Name, created: j.CreatedAt, experiment: j.ExperimentID}
		jobs.things = append(jobs.things, t)
		if j.ExperimentID == w.Experiments[0].ID {
			ofOne.things = append(ofOne.things, t)
		}
	}
	return []kind{experiments, pipelines, jobs, ofOne}
}

// orders and choices are how things are listed.
var (
	orders = map[string]func(a, b thing) int{
		"created_at": func(a, b thing) int { return a.created.Compare(b.created) },
		"name":       func(a, b thing) int { return strings.Compare(a.name, b.name) },
		"id":         func(thing, thing) int { return 0 },
	}
	choices = []named[func(thing) bool]{
		{"", func(thing) bool { return true }},
		{"train", func(t thing) bool { return strings.Contains(t.name, "train") }},
		{"BERT", func(t thing) bool { return strings.Contains(t.name, "bert") }},
	}
)

// measureThings lists experiments, pipelines and jobs, page by page as runs are, and checks them as those are checked.
func measureThings(ctx context.Context, s *server, w *seed.World, o options) (all []listed, err error) {
	for _, k := range kinds(w) {
		for by, order := range orders {
			for _, choice := range choices {
				l, err := measureThing(ctx, s, k, by, order, choice, o)
				if err != nil {
					return nil, fmt.Errorf("%s by %s, with %q: %w", k.path, by, choice.name, err)
				}
				all = append(all, l)
			}
		}
	}
	return all, nil
}

func measureThing(ctx context.Context, s *server, k kind, by string, order func(a, b thing) int, choice named[func(thing) bool], o options) (l listed, err error) {
	want := slices.DeleteFunc(slices.Clone(k.things), func(t thing) bool { return !choice.value(t) })
	slices.SortFunc(want, func(a, b thing) int { return -cmp.Or(order(a, b), strings.Compare(a.id, b.id)) })
	q := url.Values{"page_size": {fmt.Sprint(pageSize)}, "sort_by": {by + " desc"}}
	for name, values := range k.query {
		q[name] = values
	}
	where := slices.Clone(k.where)
	if choice.name != "" {
		where = append(where, of("name", listing.Substring, choice.name))
	}
	if len(where) > 0 {
		q.Set("filter", shape{where: where}.wire())
	}
	l, err = measureList(ctx, s, k.path+"?"+q.Encode(), o, func(body []byte) (rows, total int, err error) {
		var fields map[string]json.RawMessage
		var items []struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(body, &fields); err != nil {
			return 0, 0, err
		}
		for name, into := range map[string]any{"total_size": &total, k.path: &items} {
			if text := fields[name]; text != nil {
				if err := json.Unmarshal(text, into); err != nil {
					return 0, 0, err
				}
			}
		}
		if total != len(want) || len(items) != min(total, pageSize) {
			return 0, 0, fmt.Errorf("%d of %d are listed; %d match", len(items), total, len(want))
		}
		for i, item := range items {
			if item.ID != want[i].id {
				return 0, 0, fmt.Errorf("row %d is %s instead of %s", i, item.ID, want[i].id)
			}
		}
		return len(items), total, nil
	})
	scope := "all"
	if k.query != nil {
		scope = "of an experiment"
	}
	l.Group, l.Page = things, "first"
	l.Shape = strings.TrimSuffix(fmt.Sprintf("%s, %s; by %s desc; name has %s", k.path, scope, by, choice.name), "; name has ")
	return l, err
}
