package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// A model lists runs the slow and plain way, so that what the server answers can be checked, and its tokens be made
// without walking to the page that they stand for.
type model struct {
	world  *seed.World
	rows   []row
	orders map[string][]int32 // of all rows, by sort_by and direction
}

type row struct {
	id, name, description, status, experiment, pipeline, schedule string
	archived                                                      bool
	created, scheduled, finished                                  int64 // microseconds
	seq                                                           int64
	metrics                                                       []run.Metric
	parameters                                                    []run.Parameter
}

func newModel(w *seed.World) *model {
	m := &model{world: w, rows: make([]row, w.Runs), orders: map[string][]int32{}}
	micros := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixMicro()
	}
	for i := range m.rows {
		r := w.Run(i)
		m.rows[i] = row{
			id: r.ID, name: r.Name, description: r.Description, status: r.Status, archived: r.Archived,
			experiment: r.ExperimentID, pipeline: r.PipelineID, schedule: r.ScheduleID,
			created: micros(r.CreatedAt), scheduled: micros(r.ScheduledAt), finished: micros(r.FinishedAt), seq: int64(i + 1), metrics: r.Metrics, parameters: r.Parameters,
		}
	}
	return m
}

// list gives the positions of the rows of a shape, in its order.
func (m *model) list(s shape) []int32 {
	var found []int32
	for _, i := range m.order(s) {
		if r := &m.rows[i]; (s.at.ExperimentID == "" || r.experiment == s.at.ExperimentID) &&
			(s.at.ScheduleID == "" || r.schedule == s.at.ScheduleID) && r.matches(s.where) {
			found = append(found, i)
		}
	}
	return found
}

// order gives all rows in the order of a shape. It is kept, since sorting a million takes its time.
func (m *model) order(s shape) []int32 {
	key := fmt.Sprint(s.sortBy, s.desc)
	if m.orders[key] == nil {
		all := make([]int32, len(m.rows))
		for i := range all {
			all[i] = int32(i)
		}
		slices.SortFunc(all, func(a, b int32) int { return m.rows[a].compare(&m.rows[b], s) })
		m.orders[key] = all
	}
	return m.orders[key]
}

func (r *row) compare(o *row, s shape) int {
	sign := 1
	if s.desc {
		sign = -1
	}
	if name, ok := strings.CutPrefix(s.sortBy, "metric:"); ok {
		mine, theirs := r.metric(name), o.metric(name)
		switch {
		case math.IsNaN(mine) && math.IsNaN(theirs):
			return sign * int(r.seq-o.seq)
		case math.IsNaN(mine):
			return 1 // those that lack it come last whatever the direction
		case math.IsNaN(theirs):
			return -1
		case mine != theirs:
			return sign * int(math.Copysign(1, mine-theirs))
		}
		return sign * int(r.seq-o.seq)
	}
	a, aText := r.value(s.sortBy)
	b, bText := o.value(s.sortBy)
	if c := strings.Compare(aText, bText); c != 0 {
		return sign * c
	}
	if a != b {
		return sign * int(math.Copysign(1, float64(a-b)))
	}
	return sign * strings.Compare(r.id, o.id)
}

func (r *row) metric(name string) float64 {
	for _, m := range r.metrics {
		if m.Name == name {
			return m.Value
		}
	}
	return math.NaN()
}

// value gives a field, a time or a text.
func (r *row) value(key string) (int64, string) {
	switch key {
	case "created_at":
		return r.created, ""
	case "scheduled_at":
		return r.scheduled, ""
	case "finished_at":
		return r.finished, ""
	case "storage_state":
		if r.archived {
			return 0, archived
		}
		return 0, available
	}
	switch key {
	case "id":
		return 0, r.id
	case "name":
		return 0, r.name
	case "description":
		return 0, r.description
	case "status":
		return 0, r.status
	case "experiment_id":
		return 0, r.experiment
	case "pipeline_id":
		return 0, r.pipeline
	}
	panic("unknown field " + key)
}

func (r *row) matches(where []listing.Predicate) bool {
	for _, p := range where {
		if !r.match(p) {
			return false
		}
	}
	return true
}

func (r *row) match(p listing.Predicate) bool {
	if name, ok := strings.CutPrefix(p.Key, "parameter:"); ok { // only with Equals and GreaterThan
		if p.Op == listing.GreaterThan {
			return slices.ContainsFunc(r.parameters, func(have run.Parameter) bool {
				value, err := strconv.ParseFloat(have.Value, 64)
				limit, errLimit := strconv.ParseFloat(p.Values[0].(string), 64)
				return have.Name == name && err == nil && errLimit == nil && value > limit
			})
		}
		return slices.Contains(r.parameters, run.Parameter{Name: name, Value: p.Values[0].(string)})
	}
	if name, ok := strings.CutPrefix(p.Key, "metric:"); ok { // only with GreaterThan
		limit, err := strconv.ParseFloat(p.Values[0].(string), 64)
		return err == nil && r.metric(name) > limit
	}
	micros, text := r.value(p.Key)
	compare := func(v any) int {
		if t, ok := v.(time.Time); ok { // in whole seconds
			switch second := t.Unix(); {
			case micros/1e6 < second:
				return -1
			case micros/1e6 > second:
				return 1
			}
			return 0
		}
		return strings.Compare(text, v.(string))
	}
	switch p.Op {
	case listing.Equals:
		return compare(p.Values[0]) == 0
	case listing.NotEquals:
		return compare(p.Values[0]) != 0
	case listing.GreaterThan:
		return compare(p.Values[0]) > 0
	case listing.GreaterThanOrEqual:
		return compare(p.Values[0]) >= 0
	case listing.LessThan:
		return compare(p.Values[0]) < 0
	case listing.LessThanOrEqual:
		return compare(p.Values[0]) <= 0
	case listing.Substring:
		return strings.Contains(strings.ToLower(text), strings.ToLower(p.Values[0].(string)))
	case listing.In:
		return slices.ContainsFunc(p.Values, func(v any) bool { return compare(v) == 0 })
	}
	panic("unknown operator")
}

// cursor names a row as the server's tokens do.
func (m *model) cursor(s shape, position int32) *listing.Cursor {
	r := &m.rows[position]
	c := &listing.Cursor{ID: r.id}
	if name, ok := strings.CutPrefix(s.sortBy, "metric:"); ok {
		c.ID = strconv.FormatInt(r.seq, 10)
		if v := r.metric(name); !math.IsNaN(v) {
			c.Value = v
		}
		return c
	}
	micros, text := r.value(s.sortBy)
	c.Value = text
	if strings.HasSuffix(s.sortBy, "_at") {
		c.Value = micros
	}
	return c
}

func pageToken(sortBy string, desc bool, filter string, start listing.Cursor) string {
	b, err := json.Marshal(map[string]any{"sort_by": sortBy, "desc": desc, "filter": filter, "start": start})
	if err != nil {
		panic(err) // texts and numbers
	}
	return base64.StdEncoding.EncodeToString(b)
}
