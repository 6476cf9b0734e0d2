package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"
)

// Statuses of a schedule.
const (
	ScheduleEnabled  = "Enabled"
	ScheduleDisabled = "Disabled"
	ScheduleEnded    = "Succeeded" // its trigger has no more times
	ScheduleErrored  = "Error"     // its last run could not be made
)

// Schedule starts runs again and again. The API of KFP v1 calls it a job.
type Schedule struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Description    string      `json:"description,omitempty"`
	Status         string      `json:"status,omitempty"`
	Error          string      `json:"error,omitempty"` // why the last run could not be made
	Enabled        bool        `json:"enabled"`
	Trigger        Trigger     `json:"trigger,omitzero"`
	MaxConcurrency int         `json:"max_concurrency,omitempty"`
	NoCatchup      bool        `json:"no_catchup,omitempty"`
	ServiceAccount string      `json:"service_account,omitempty"`
	CreatedAt      time.Time   `json:"created_at,omitzero"`
	UpdatedAt      time.Time   `json:"updated_at,omitzero"`
	Experiment     Ref         `json:"experiment,omitzero"`
	Pipeline       PipelineRef `json:"pipeline,omitzero"`
	Parameters     []Parameter `json:"parameters,omitempty"`
}

// Trigger sets when a schedule starts runs: by Cron, or at intervals by Every. With neither it starts one run as soon as it is created.
type Trigger struct {
	// Cron has five fields: minute, hour, day of month, month, weekday; or six, with seconds before them; or it is a word
	// such as @daily. Times are UTC.
	Cron string
	// Every is in whole seconds; the first run is one period after the start.
	Every time.Duration
	// Start and End bound the times of runs; zero: from the making of the schedule, and for ever.
	Start, End time.Time
}

type wireTrigger struct {
	Cron     *wireSchedule `json:"cron_schedule,omitempty"`
	Periodic *wireSchedule `json:"periodic_schedule,omitempty"`
}

type wireSchedule struct {
	Start  time.Time `json:"start_time,omitzero"`
	End    time.Time `json:"end_time,omitzero"`
	Cron   string    `json:"cron,omitempty"`
	Second int64     `json:"interval_second,omitempty,string"`
}

// MarshalJSON writes the trigger as it is on the wire of KFP v1.
func (t Trigger) MarshalJSON() ([]byte, error) {
	s := &wireSchedule{Start: t.Start, End: t.End, Cron: t.Cron, Second: int64(t.Every / time.Second)}
	switch {
	case t.Cron != "":
		return json.Marshal(wireTrigger{Cron: s})
	case t.Every != 0:
		return json.Marshal(wireTrigger{Periodic: s})
	}
	return []byte("{}"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Trigger) UnmarshalJSON(data []byte) error {
	var w wireTrigger
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	s := w.Cron
	if s == nil {
		s = w.Periodic
	}
	if *t = (Trigger{}); s != nil {
		*t = Trigger{Cron: s.Cron, Every: time.Duration(s.Second) * time.Second, Start: s.Start, End: s.End}
	}
	return nil
}

// String says in words when runs start.
func (t Trigger) String() string {
	switch {
	case t.Cron != "":
		return "cron " + t.Cron
	case t.Every != 0:
		return "every " + t.Every.String()
	}
	return "once"
}

// NewSchedule requests a schedule. It describes the runs like NewRun, except that Name is the schedule's. In parameters, [[ScheduledTime]],
// [[CurrentTime]] and [[Index]] are replaced by the values of each run.
type NewSchedule struct {
	NewRun
	Trigger        Trigger
	MaxConcurrency int  // how many of its runs may go on at once, at most 10; 0 is 1
	NoCatchup      bool // of the times that were missed, while the server was away, only the newest gets its run
	Disabled       bool // it starts no runs until it is enabled
}

// wireJob is a schedule in the shape of v1beta1.
type wireJob struct {
	wireRun
	Trigger        Trigger   `json:"trigger,omitzero"`
	MaxConcurrency int       `json:"max_concurrency,omitempty,string"`
	Enabled        bool      `json:"enabled,omitempty"`
	NoCatchup      bool      `json:"no_catchup,omitempty"`
	UpdatedAt      time.Time `json:"updated_at,omitzero"`
}

func (n NewSchedule) wire() wireJob {
	return wireJob{wireRun: n.NewRun.wire(), Trigger: n.Trigger, MaxConcurrency: max(n.MaxConcurrency, 1), Enabled: !n.Disabled, NoCatchup: n.NoCatchup}
}

func (w wireJob) view() *Schedule {
	r := w.wireRun.view()
	return &Schedule{
		ID: r.ID, Name: r.Name, Description: w.Description, Status: r.Status, Error: r.Error, Enabled: w.Enabled,
		Trigger: w.Trigger, MaxConcurrency: w.MaxConcurrency, NoCatchup: w.NoCatchup, ServiceAccount: w.Account,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, Experiment: r.Experiment, Pipeline: r.Pipeline, Parameters: r.Parameters,
	}
}

// Create creates a schedule. If its trigger, parameters or manifest are wrong, IsInvalid(err) is true.
func (s SchedulesService) Create(ctx context.Context, n NewSchedule) (*Schedule, error) {
	var out wireJob
	if err := s.conn.send(ctx, http.MethodPost, kfpAPI+"/jobs", n.wire(), &out); err != nil {
		return nil, err
	}
	return out.view(), nil
}

// Update makes a schedule what n says, as a whole. Its runs stay, and it stays enabled or disabled, whatever n.Disabled is.
func (s SchedulesService) Update(ctx context.Context, id string, n NewSchedule) (*Schedule, error) {
	var out wireJob
	if err := s.conn.send(ctx, http.MethodPut, ownAPI+"/schedules/"+escape(id), n.wire(), &out); err != nil {
		return nil, err
	}
	return out.view(), nil
}

// Get gives a schedule by its id.
func (s SchedulesService) Get(ctx context.Context, id string) (*Schedule, error) {
	var out wireJob
	if err := s.conn.get(ctx, schedulePath(id), nil, &out); err != nil {
		return nil, err
	}
	return out.view(), nil
}

// JobListOptions choose schedules.
type ScheduleListOptions struct {
	ListOptions
	ExperimentID string // empty: of all experiments
}

// List gives one page of schedules.
func (s SchedulesService) List(ctx context.Context, o ScheduleListOptions) (Page[Schedule], error) {
	var wire struct {
		Jobs  []wireJob `json:"jobs"`
		Total int       `json:"total_size"`
		Next  string    `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		if o.ExperimentID != "" {
			q.Set("resource_reference_key.type", "EXPERIMENT")
			q.Set("resource_reference_key.id", o.ExperimentID)
		}
		err = s.conn.get(ctx, kfpAPI+"/jobs", q, &wire)
	}
	p := Page[Schedule]{Total: wire.Total, NextPageToken: wire.Next}
	for _, w := range wire.Jobs {
		p.Items = append(p.Items, *w.view())
	}
	return p, err
}

// All walks all pages; it ends after an error.
func (s SchedulesService) All(ctx context.Context, o ScheduleListOptions) iter.Seq2[Schedule, error] {
	return each(ctx, o.ListOptions, func(ctx context.Context, lo ListOptions) (Page[Schedule], error) {
		return s.List(ctx, ScheduleListOptions{ListOptions: lo, ExperimentID: o.ExperimentID})
	})
}

// Runs gives one page of the runs that a schedule has started, without their nodes.
func (s SchedulesService) Runs(ctx context.Context, id string, o ListOptions) (Page[Run], error) {
	return RunsService(s).List(ctx, RunListOptions{ListOptions: o, scheduleID: id})
}

// Enable lets a schedule start runs again.
func (s SchedulesService) Enable(ctx context.Context, id string) error {
	return s.conn.put(ctx, schedulePath(id)+"/enable")
}

// Disable keeps a schedule from starting runs; existing runs continue.
func (s SchedulesService) Disable(ctx context.Context, id string) error {
	return s.conn.put(ctx, schedulePath(id)+"/disable")
}

// Delete deletes a schedule; its runs stay.
func (s SchedulesService) Delete(ctx context.Context, id string) error {
	return s.conn.delete(ctx, schedulePath(id))
}

func schedulePath(id string) string { return kfpAPI + "/jobs/" + escape(id) }
