package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// A shape is one way of listing runs.
type shape struct {
	scope, sort, filter string // how a person would say it
	at                  run.Scope
	sortBy              string
	desc                bool
	where               []listing.Predicate
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

func of(key string, op listing.Op, values ...any) listing.Predicate {
	return listing.Predicate{Key: key, Op: op, Values: values}
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
	states := []named[[]listing.Predicate]{
		{"", nil},
		{"not archived", []listing.Predicate{of("storage_state", listing.NotEquals, archived)}},
		{"archived", []listing.Predicate{of("storage_state", listing.Equals, archived)}},
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
	each := []named[[]listing.Predicate]{
		{"name = one of its kind", []listing.Predicate{of("name", listing.Equals, middle.Name)}},
		{"name = one that many have", []listing.Predicate{of("name", listing.Equals, "baseline")}},
		{"name <>", []listing.Predicate{of("name", listing.NotEquals, "baseline")}},
		{"name >", []listing.Predicate{of("name", listing.GreaterThan, "n")}},
		{"name >=", []listing.Predicate{of("name", listing.GreaterThanOrEqual, "n")}},
		{"name <", []listing.Predicate{of("name", listing.LessThan, "n")}},
		{"name <=", []listing.Predicate{of("name", listing.LessThanOrEqual, "baseline")}},
		{"name in", []listing.Predicate{of("name", listing.In, "baseline", middle.Name)}},
		{"name has what many have", []listing.Predicate{of("name", listing.Substring, "RESNET")}},
		{"name has what one has", []listing.Predicate{of("name", listing.Substring, "("+middle.ID[:5]+")")}},
		{"name has what none has", []listing.Predicate{of("name", listing.Substring, "zzz")}},
		{"description has", []listing.Predicate{of("description", listing.Substring, "batches of 64")}},
		{"status =", []listing.Predicate{of("status", listing.Equals, run.Failed)}},
		{"status = Running", []listing.Predicate{of("status", listing.Equals, run.Running)}},
		{"status in", []listing.Predicate{of("status", listing.In, run.Failed, run.Error)}},
		{"status <>", []listing.Predicate{of("status", listing.NotEquals, run.Succeeded)}},
		{"failed and not archived", []listing.Predicate{of("status", listing.Equals, run.Failed), of("storage_state", listing.NotEquals, archived)}},
		{"created_at =", []listing.Predicate{of("created_at", listing.Equals, middle.CreatedAt)}},
		{"created_at <>", []listing.Predicate{of("created_at", listing.NotEquals, middle.CreatedAt)}},
		{"created_at >", []listing.Predicate{of("created_at", listing.GreaterThan, middle.CreatedAt)}},
		{"created_at <", []listing.Predicate{of("created_at", listing.LessThan, middle.CreatedAt)}},
		{"created_at of a day", []listing.Predicate{
			of("created_at", listing.GreaterThanOrEqual, middle.CreatedAt), of("created_at", listing.LessThan, middle.CreatedAt.Add(24*time.Hour)),
		}},
		{"failed of the last month", []listing.Predicate{
			of("status", listing.Equals, run.Failed), of("created_at", listing.GreaterThan, w.Run(w.Runs-1).CreatedAt.Add(-30*24*time.Hour)),
		}},
		{"finished_at >", []listing.Predicate{of("finished_at", listing.GreaterThan, middle.CreatedAt)}},
		{"pipeline =", []listing.Predicate{of("pipeline_id", listing.Equals, w.Pipelines[0].ID)}},
		{"pipeline = a rare one", []listing.Predicate{of("pipeline_id", listing.Equals, w.Pipelines[39].ID)}},
		{"experiments in", []listing.Predicate{of("experiment_id", listing.In, w.Experiments[3].ID, w.Experiments[200].ID)}},
		{"id =", []listing.Predicate{of("id", listing.Equals, middle.ID)}},
		{"id >", []listing.Predicate{of("id", listing.GreaterThan, "8")}},
		{"a parameter that many have", []listing.Predicate{of("parameter:learning_rate", listing.Equals, "0.1")}},
		{"a parameter above a number", []listing.Predicate{of("parameter:learning_rate", listing.GreaterThan, "0.05")}},
		{"a parameter that few have", []listing.Predicate{of("parameter:learning_rate", listing.Equals, "none")}},
		{"a metric above what most have", []listing.Predicate{of("metric:loss", listing.GreaterThan, "4.5")}},
		{"no status is so", []listing.Predicate{of("status", listing.In)}},
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
	quarter := []listing.Predicate{
		of("created_at", listing.GreaterThanOrEqual, middle.CreatedAt), of("created_at", listing.LessThan, middle.CreatedAt.Add(90*24*time.Hour)),
	}
	each := []named[[]listing.Predicate]{
		{"failed, name has, created in a quarter", append([]listing.Predicate{of("status", listing.Equals, run.Failed), of("name", listing.Substring, "resnet")}, quarter...)},
		{"name >, not archived", []listing.Predicate{of("name", listing.GreaterThan, "n"), of("storage_state", listing.NotEquals, archived)}},
		{"pipeline =, not succeeded", []listing.Predicate{of("pipeline_id", listing.Equals, w.Pipelines[0].ID), of("status", listing.NotEquals, run.Succeeded)}},
		{"pipeline = and status =", []listing.Predicate{of("pipeline_id", listing.Equals, w.Pipelines[1].ID), of("status", listing.Equals, run.Succeeded)}},
		{"experiments in, created in a quarter", append([]listing.Predicate{of("experiment_id", listing.In, w.Experiments[0].ID, w.Experiments[3].ID)}, quarter...)},
		{"name and description have", []listing.Predicate{of("name", listing.Substring, "t"), of("description", listing.Substring, "train")}},
		{"a parameter and a metric", []listing.Predicate{of("parameter:learning_rate", listing.Equals, "0.1"), of("metric:loss", listing.GreaterThan, "1")}},
		{"of the last month, not archived, not failed", []listing.Predicate{
			of("created_at", listing.GreaterThan, newest.CreatedAt.Add(-30*24*time.Hour)), of("storage_state", listing.Equals, available), of("status", listing.NotEquals, run.Failed),
		}},
	}
	var shapes []shape
	add := func(scope named[run.Scope], filter named[[]listing.Predicate], orders ...string) {
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
	for _, filter := range []named[[]listing.Predicate]{
		{"status =", []listing.Predicate{of("status", listing.Equals, run.Failed)}},
		{"status <>, not archived", []listing.Predicate{of("status", listing.NotEquals, run.Succeeded), of("storage_state", listing.NotEquals, archived)}},
		{"status in, created in a quarter", append([]listing.Predicate{of("status", listing.In, run.Failed, run.Error)}, quarter...)},
	} {
		add(all[4], filter, "created_at desc", "name", "metric:loss")
	}
	return shapes
}

// query is the request's query, with the page that start begins; nil is the first.
func (s shape) query(size int, start *listing.Cursor) string {
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

var ops = map[listing.Op]string{
	listing.Equals: "EQUALS", listing.NotEquals: "NOT_EQUALS", listing.GreaterThan: "GREATER_THAN", listing.GreaterThanOrEqual: "GREATER_THAN_EQUALS",
	listing.LessThan: "LESS_THAN", listing.LessThanOrEqual: "LESS_THAN_EQUALS", listing.In: "IN", listing.Substring: "IS_SUBSTRING",
}

// wire is the filter as clients send it.
func (s shape) wire() string {
	if len(s.where) == 0 {
		return ""
	}
	var predicates []map[string]any
	for _, p := range s.where {
		m := map[string]any{"key": p.Key, "op": ops[p.Op]}
		if p.Op == listing.In {
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
