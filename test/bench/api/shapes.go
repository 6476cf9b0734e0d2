package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// A shape is one way of listing runs.
type shape struct {
	scope, sort, filter string // how a person would say it
	at                  run.Scope
	sortBy              string
	desc                bool
	where               []page.Predicate
	group               string
	encoded             bool // the filter is URL-encoded twice, as KFP's own UI does
}

func (s shape) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s; by %s; %s", s.scope, s.sort, s.filter), "; ")
}

// named is a value with what a person calls it.
type named[T any] struct {
	name  string
	value T
}

func of(key string, op page.Op, values ...any) page.Predicate {
	return page.Predicate{Key: key, Op: op, Values: values}
}

// Groups of lists, whose figures are taken together.
const (
	scopesAndOrders = "every order in every scope"
	filters         = "every filter"
	combinations    = "filters together"
	things          = "experiments, pipelines and jobs"
)

const (
	available = "STORAGESTATE_AVAILABLE"
	archived  = "STORAGESTATE_ARCHIVED"
)

func scopes(w *seed.World) []named[run.Scope] {
	return []named[run.Scope]{
		{"all", run.Scope{}},
		{"experiment with most", run.Scope{ExperimentID: w.Experiments[0].ID}},
		{"experiment of some", run.Scope{ExperimentID: w.Experiments[5].ID}},
		{"experiment of a few days", run.Scope{ExperimentID: w.Experiments[200].ID}},
		{"job", run.Scope{ScheduleID: w.Schedules[0].ID}},
	}
}

// sorted gives every order in every scope, of all runs, of those that are not archived and of those that are.
func sorted(w *seed.World) []shape {
	var shapes []shape
	states := []named[[]page.Predicate]{
		{"", nil},
		{"not archived", []page.Predicate{of("storage_state", page.NotEquals, archived)}},
		{"archived", []page.Predicate{of("storage_state", page.Equals, archived)}},
	}
	for _, scope := range scopes(w) {
		for _, by := range []string{
			"created_at desc", "created_at", "name", "name desc", "status", "finished_at desc", "finished_at", "scheduled_at desc",
			"description", "id", "storage_state", "experiment_id", "pipeline_id desc",
			"metric:accuracy-score desc", "metric:loss", "metric:images/sec desc", "metric:none",
		} {
			field, order, _ := strings.Cut(by, " ")
			for _, state := range states {
				shapes = append(shapes, shape{
					scope: scope.name, at: scope.value, sort: by, sortBy: field, desc: order == "desc", filter: state.name, where: state.value, group: scopesAndOrders,
				})
			}
		}
	}
	return shapes
}

// filtered gives every operator on every kind of field, newest first, of all runs and of an experiment.
func filtered(w *seed.World) []shape {
	middle := w.Run(w.Runs / 2)
	each := []named[[]page.Predicate]{
		{"name = one of its kind", []page.Predicate{of("name", page.Equals, middle.Name)}},
		{"name = one that many have", []page.Predicate{of("name", page.Equals, "baseline")}},
		{"name <>", []page.Predicate{of("name", page.NotEquals, "baseline")}},
		{"name >", []page.Predicate{of("name", page.GreaterThan, "n")}},
		{"name >=", []page.Predicate{of("name", page.GreaterThanOrEqual, "n")}},
		{"name <", []page.Predicate{of("name", page.LessThan, "n")}},
		{"name <=", []page.Predicate{of("name", page.LessThanOrEqual, "baseline")}},
		{"name in", []page.Predicate{of("name", page.In, "baseline", middle.Name)}},
		{"name has what many have", []page.Predicate{of("name", page.Substring, "RESNET")}},
		{"name has what one has", []page.Predicate{of("name", page.Substring, "("+middle.ID[:5]+")")}},
		{"name has what none has", []page.Predicate{of("name", page.Substring, "zzz")}},
		{"description has", []page.Predicate{of("description", page.Substring, "batches of 64")}},
		{"status =", []page.Predicate{of("status", page.Equals, run.Failed)}},
		{"status = Running", []page.Predicate{of("status", page.Equals, run.Running)}},
		{"status in", []page.Predicate{of("status", page.In, run.Failed, run.Error)}},
		{"status <>", []page.Predicate{of("status", page.NotEquals, run.Succeeded)}},
		{"failed and not archived", []page.Predicate{of("status", page.Equals, run.Failed), of("storage_state", page.NotEquals, archived)}},
		{"created_at =", []page.Predicate{of("created_at", page.Equals, middle.CreatedAt)}},
		{"created_at <>", []page.Predicate{of("created_at", page.NotEquals, middle.CreatedAt)}},
		{"created_at >", []page.Predicate{of("created_at", page.GreaterThan, middle.CreatedAt)}},
		{"created_at <", []page.Predicate{of("created_at", page.LessThan, middle.CreatedAt)}},
		{"created_at of a day", []page.Predicate{
			of("created_at", page.GreaterThanOrEqual, middle.CreatedAt), of("created_at", page.LessThan, middle.CreatedAt.Add(24*time.Hour)),
		}},
		{"failed of the last month", []page.Predicate{
			of("status", page.Equals, run.Failed), of("created_at", page.GreaterThan, w.Run(w.Runs-1).CreatedAt.Add(-30*24*time.Hour)),
		}},
		{"finished_at >", []page.Predicate{of("finished_at", page.GreaterThan, middle.CreatedAt)}},
		{"pipeline =", []page.Predicate{of("pipeline_id", page.Equals, w.Pipelines[0].ID)}},
		{"pipeline = a rare one", []page.Predicate{of("pipeline_id", page.Equals, w.Pipelines[39].ID)}},
		{"experiments in", []page.Predicate{of("experiment_id", page.In, w.Experiments[3].ID, w.Experiments[200].ID)}},
		{"id =", []page.Predicate{of("id", page.Equals, middle.ID)}},
		{"id >", []page.Predicate{of("id", page.GreaterThan, "8")}},
		{"a parameter that many have", []page.Predicate{of("parameter:learning_rate", page.Equals, "0.1")}},
		{"a parameter above a number", []page.Predicate{of("parameter:learning_rate", page.GreaterThan, "0.05")}},
		{"a parameter that few have", []page.Predicate{of("parameter:learning_rate", page.Equals, "none")}},
		{"a metric above what most have", []page.Predicate{of("metric:loss", page.GreaterThan, "4.5")}},
		{"no status is so", []page.Predicate{of("status", page.In)}},
	}
	var shapes []shape
	for _, scope := range scopes(w)[:3] {
		for i, f := range each {
			for _, by := range []string{"created_at", "name"} {
				shapes = append(shapes, shape{
					scope: scope.name, at: scope.value, sort: by, sortBy: by, desc: by == "created_at", filter: f.name, where: f.value, group: filters, encoded: i%2 == 0,
				})
			}
		}
	}
	return shapes
}

// combined gives filters of several fields, in orders of others.
func combined(w *seed.World) []shape {
	middle, newest := w.Run(w.Runs/2), w.Run(w.Runs-1)
	quarter := []page.Predicate{
		of("created_at", page.GreaterThanOrEqual, middle.CreatedAt), of("created_at", page.LessThan, middle.CreatedAt.Add(90*24*time.Hour)),
	}
	each := []named[[]page.Predicate]{
		{"failed, name has, created in a quarter", append([]page.Predicate{of("status", page.Equals, run.Failed), of("name", page.Substring, "resnet")}, quarter...)},
		{"name >, not archived", []page.Predicate{of("name", page.GreaterThan, "n"), of("storage_state", page.NotEquals, archived)}},
		{"pipeline =, not succeeded", []page.Predicate{of("pipeline_id", page.Equals, w.Pipelines[0].ID), of("status", page.NotEquals, run.Succeeded)}},
		{"pipeline = and status =", []page.Predicate{of("pipeline_id", page.Equals, w.Pipelines[1].ID), of("status", page.Equals, run.Succeeded)}},
		{"experiments in, created in a quarter", append([]page.Predicate{of("experiment_id", page.In, w.Experiments[0].ID, w.Experiments[3].ID)}, quarter...)},
		{"name and description have", []page.Predicate{of("name", page.Substring, "t"), of("description", page.Substring, "train")}},
		{"a parameter and a metric", []page.Predicate{of("parameter:learning_rate", page.Equals, "0.1"), of("metric:loss", page.GreaterThan, "1")}},
		{"of the last month, not archived, not failed", []page.Predicate{
			of("created_at", page.GreaterThan, newest.CreatedAt.Add(-30*24*time.Hour)), of("storage_state", page.Equals, available), of("status", page.NotEquals, run.Failed),
		}},
	}
	var shapes []shape
	add := func(scope named[run.Scope], filter named[[]page.Predicate], orders ...string) {
		for _, by := range orders {
			field, order, _ := strings.Cut(by, " ")
			shapes = append(shapes, shape{
				scope: scope.name, at: scope.value, sort: by, sortBy: field, desc: order == "desc", filter: filter.name, where: filter.value, group: combinations,
			})
		}
	}
	all := scopes(w)
	for i, filter := range each {
		other := []string{"status", "description", "pipeline_id desc", "id"}[i%4]
		add(all[0], filter, "created_at desc", "name", "finished_at desc", "metric:loss", other)
		add(all[1], filter, "finished_at", other)
	}
	for _, filter := range []named[[]page.Predicate]{
		{"status =", []page.Predicate{of("status", page.Equals, run.Failed)}},
		{"status <>, not archived", []page.Predicate{of("status", page.NotEquals, run.Succeeded), of("storage_state", page.NotEquals, archived)}},
		{"status in, created in a quarter", append([]page.Predicate{of("status", page.In, run.Failed, run.Error)}, quarter...)},
	} {
		add(all[4], filter, "created_at desc", "name", "metric:loss")
	}
	return shapes
}

// query is the request's query, with the page that start begins; nil is the first.
func (s shape) query(size int, start *page.Cursor) string {
	q := url.Values{"page_size": {fmt.Sprint(size)}, "sort_by": {s.sortBy}}
	if s.desc {
		q.Set("sort_by", s.sortBy+" desc")
	}
	if s.at.ExperimentID != "" {
		q.Set("resource_reference_key.type", "EXPERIMENT")
		q.Set("resource_reference_key.id", s.at.ExperimentID)
	}
	if s.at.ScheduleID != "" {
		q.Set("resource_reference_key.type", "JOB")
		q.Set("resource_reference_key.id", s.at.ScheduleID)
	}
	filter := s.wire()
	if filter != "" {
		q.Set("filter", filter)
		if s.encoded {
			q.Set("filter", url.QueryEscape(filter))
		}
	}
	if start != nil {
		q.Set("page_token", pageToken(s.sortBy, s.desc, filter, *start))
	}
	return q.Encode()
}

var ops = map[page.Op]string{
	page.Equals: "EQUALS", page.NotEquals: "NOT_EQUALS", page.GreaterThan: "GREATER_THAN", page.GreaterThanOrEqual: "GREATER_THAN_EQUALS",
	page.LessThan: "LESS_THAN", page.LessThanOrEqual: "LESS_THAN_EQUALS", page.In: "IN", page.Substring: "IS_SUBSTRING",
}

// wire is the filter as clients send it.
func (s shape) wire() string {
	if len(s.where) == 0 {
		return ""
	}
	var predicates []map[string]any
	for _, p := range s.where {
		m := map[string]any{"key": p.Key, "op": ops[p.Op]}
		if p.Op == page.In {
			m["string_values"] = map[string]any{"values": p.Values}
		} else if t, ok := p.Values[0].(time.Time); ok {
			m["timestamp_value"] = t
		} else {
			m["string_value"] = p.Values[0]
		}
		predicates = append(predicates, m)
	}
	b, err := json.Marshal(map[string]any{"predicates": predicates})
	if err != nil {
		panic(err) // texts and times
	}
	return string(b)
}
