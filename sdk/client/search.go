package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// Search keeps the runs that match all of its fields. The zero value keeps all runs.
type Search struct {
	Statuses   []string // any of these, in any case; Waiting: the run goes on and all its running steps wait
	Text       string   // in the name, the description or the id of the run, in any case
	Parameters []string // NAME=VALUE, NAME!=VALUE, NAME~TEXT: the value has the text in it, or NAME>=NUMBER, and >, <=, <: it is such a number
	Metrics    []string // NAME=NUMBER, and !=, <, <=, >, >=
	Labels     []string // as of parameters
	Times      []string // FIELD>TIME, and <, >=, <=, =, of created, started and finished: 2d is two days ago, 2026-11-01 a day of UTC; or an RFC 3339 timestamp
	Archived   *bool    // nil: archived or not
}

// add puts the search into the query of a list.
func (s Search) add(q url.Values) {
	if s.Text != "" {
		q.Set("text", s.Text)
	}
	for name, terms := range map[string][]string{"status": s.Statuses, "parameter": s.Parameters, "metric": s.Metrics, "label": s.Labels, "time": s.Times} {
		if len(terms) > 0 {
			q[name] = terms
		}
	}
	if s.Archived != nil {
		q.Set("archived", strconv.FormatBool(*s.Archived))
	}
}

// RunFields lists the names that a search for runs can use.
type RunFields struct {
	Statuses   []string `json:"statuses,omitempty"`
	Parameters []string `json:"parameters,omitempty"`
	Labels     []string `json:"labels,omitempty"`
	Metrics    []string `json:"metrics,omitempty"`
	// Curves are the metrics that runs printed while they ran. last(NAME), min(NAME) and max(NAME) filter and sort runs as a
	// metric's name does.
	Curves []string `json:"curves,omitempty"`
}

// Fields returns the names of the parameters, labels and metrics of existing runs.
func (s RunsService) Fields(ctx context.Context) (*RunFields, error) {
	var f RunFields
	return &f, s.conn.get(ctx, ownAPI+"/runs:fields", nil, &f)
}

// Purge deletes a run with its logs and its files in the artifact store. If the run has not ended, or another run uses some of its
// artifacts through the cache, IsConflict(err) is true.
func (s RunsService) Purge(ctx context.Context, id string) error {
	var wire struct {
		Results []struct {
			Outcome string
			Message string
		}
	}
	body, err := json.Marshal(map[string]any{"run_ids": []string{id}, "artifacts": true})
	if err != nil {
		return err
	}
	r := request{method: http.MethodPost, path: ownAPI + "/runs:delete", body: body, contentType: "application/json", twice: true}
	if err := s.conn.decode(ctx, r, &wire); err != nil {
		return err
	}
	for _, r := range wire.Results {
		if r.Outcome == "OUTCOME_FAILED" {
			return &Error{Status: http.StatusConflict, Code: CodeAborted, Message: r.Message}
		}
	}
	return nil
}
