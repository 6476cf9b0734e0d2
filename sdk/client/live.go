package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Event is a change of a run. Exactly one of Run, Log, Points and Reset is set.
type Event struct {
	// ID marks the place after this event: see EventOptions.After.
	ID string
	// Run is the run as it is now.
	Run *Run
	// Log are lines of a node's log.
	Log *LogLines
	// Points are values of metrics, in the order in which they were printed.
	Points []Point
	// Reset reports that the server has another store: discard all earlier events; an event for each run follows.
	Reset bool
}

// LogLines are lines of a node's log that follow each other, without their ends.
type LogLines struct {
	NodeID string   `json:"node_id"`
	First  int64    `json:"first,string"` // the number of the first of them, from 0
	Lines  []string `json:"lines"`
	Ended  bool     `json:"ended"` // the log is complete with these
}

// Unranked is the rank of output that carries no rank.
const Unranked = -1

// Point is one value of a metric, printed while its step runs.
type Point struct {
	NodeID string `json:"node_id"`
	Name   string `json:"name"`
	Rank   int    `json:"rank"` // of the process that printed it, or Unranked
	// Step is the step number printed beside the value, or the value's number counted from 1.
	Step      int64     `json:"step,string"`
	PrintedAt time.Time `json:"printed_at,omitzero"` // zero when that is not known
	Value     *float64  `json:"value"`               // nil: it was not a number, or infinite
}

// EventOptions selects the events that Events yields in addition to changes of the run itself.
type EventOptions struct {
	Logs   bool
	LogsOf []string // only the logs of these nodes; empty for all
	Points bool
	// After is the ID of the last event received: Events continues after it, without gaps or repetitions. Empty means from the beginning.
	// The other options must be the same as in the earlier call.
	After string
}

// Events yields changes of a run, lines of its steps' logs and values of its metrics as they come, until the run has ended and all are
// read. After a broken connection it reconnects and continues. It stops after an error.
func (s RunsService) Events(ctx context.Context, runID string, o EventOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		query := url.Values{"node_id": o.LogsOf}
		for name, on := range map[string]bool{"logs": o.Logs, "points": o.Points} {
			if on {
				query.Set(name, "true")
			}
		}
		enough := false
		w := &watch{connection: s.conn, id: runID, query: query, lastEventID: o.After}
		w.take = func(e event) (bool, error) {
			out, known, err := readEvent(e)
			if err != nil {
				return false, fmt.Errorf("run %s: the event %s cannot be read: %w", runID, e.name, err)
			}
			enough = known && !yield(out, nil)
			return !enough, nil
		}
		if err := w.follow(ctx); err != nil && !enough {
			yield(Event{}, err)
		}
	}
}

// readEvent decodes an event; those of later servers are not known, and passed over.
func readEvent(e event) (out Event, known bool, err error) {
	out.ID = e.id
	switch e.name {
	case "run":
		err = json.Unmarshal(e.data, &out.Run)
	case "log":
		err = json.Unmarshal(e.data, &out.Log)
	case "points":
		var wire struct{ Points []Point }
		err = json.Unmarshal(e.data, &wire)
		out.Points = wire.Points
	case "reset":
		out.Reset = true
	default:
		return out, false, nil
	}
	return out, true, err
}

// Watch yields the values of a run's metrics as its steps print them, until the run has ended. Without names it yields all metrics. It
// stops after an error.
func (s SeriesService) Watch(ctx context.Context, runID string, names ...string) iter.Seq2[Point, error] {
	return func(yield func(Point, error) bool) {
		for e, err := range RunsService(s).Events(ctx, runID, EventOptions{Points: true}) {
			if err != nil {
				yield(Point{}, err)
				return
			}
			for _, p := range e.Points {
				if (len(names) == 0 || slices.Contains(names, p.Name)) && !yield(p, nil) {
					return
				}
			}
		}
	}
}

// Series is the curve of one metric, as one rank of a step printed it.
type Series struct {
	NodeID   string `json:"node_id"`
	StepName string `json:"step_name"`
	Name     string `json:"name"`
	Rank     int    `json:"rank"`
	Format   string `json:"format,omitempty"`      // RAW or PERCENTAGE
	Total    int64  `json:"total,omitzero,string"` // how many points there are in all
	// Sampling says how Points were chosen: "none" if all points are present; "min/max" if the curve was divided into stretches of equally
	// many points, and only the least and the greatest value of each stretch are present.
	Sampling string        `json:"sampling,omitempty"`
	Points   []SeriesPoint `json:"points,omitempty"`
}

// SeriesPoint is one value of a Series.
type SeriesPoint struct {
	Step      int64     `json:"step,string"`
	PrintedAt time.Time `json:"printed_at,omitzero"`
	Value     *float64  `json:"value"`
}

// List lists the curves that a run has, without their points.
func (s SeriesService) List(ctx context.Context, runID string) ([]Series, error) {
	var wire struct{ Series []Series }
	return wire.Series, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/metrics", nil, &wire)
}

// SeriesOptions choose the points of curves.
type SeriesOptions struct {
	// Points is the most points that each curve has: 0 means the server's default, more than 10000 means 10000.
	Points int
	// FromStep and ToStep, if they are not nil, limit the curves to a part, with one point before it and one after it. A small part of
	// a long curve has all its points.
	FromStep, ToStep *int64
}

// Get returns the curves of a metric, one for each rank of a step that printed it.
func (s SeriesService) Get(ctx context.Context, runID, metric string, o SeriesOptions) ([]Series, error) {
	q := url.Values{}
	if o.Points != 0 {
		q.Set("points", strconv.Itoa(o.Points))
	}
	for name, step := range map[string]*int64{"from_step": o.FromStep, "to_step": o.ToStep} {
		if step != nil {
			q.Set(name, strconv.FormatInt(*step, 10))
		}
	}
	var wire struct{ Series []Series }
	return wire.Series, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/metrics/"+escape(metric)+"/series", q, &wire)
}
