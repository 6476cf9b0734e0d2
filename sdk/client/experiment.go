package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Experiment is a named group of runs.
type Experiment struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	Description  string    `json:"description,omitempty"`
	CreatedAt    time.Time `json:"created_at,omitzero"`
	StorageState string    `json:"storage_state,omitempty"` // STORAGESTATE_AVAILABLE or STORAGESTATE_ARCHIVED
}

// Archived reports whether the experiment is in the archive.
func (e Experiment) Archived() bool { return e.StorageState == "STORAGESTATE_ARCHIVED" }

// Create creates an experiment. If the name is taken, IsConflict(err) is true.
func (s ExperimentsService) Create(ctx context.Context, name, description string) (*Experiment, error) {
	var e Experiment
	in := map[string]string{"name": name, "description": description}
	return &e, s.conn.send(ctx, http.MethodPost, kfpAPI+"/experiments", in, &e)
}

// List gives one page of the experiments.
func (s ExperimentsService) List(ctx context.Context, o ListOptions) (Page[Experiment], error) {
	var wire struct {
		Experiments []Experiment `json:"experiments"`
		Total       int          `json:"total_size"`
		Next        string       `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		err = s.conn.get(ctx, kfpAPI+"/experiments", q, &wire)
	}
	return Page[Experiment]{wire.Experiments, wire.Total, wire.Next}, err
}

// All walks all pages; it ends after an error.
func (s ExperimentsService) All(ctx context.Context, o ListOptions) iter.Seq2[Experiment, error] {
	return each(ctx, o, s.List)
}

// Get gives an experiment by its id.
func (s ExperimentsService) Get(ctx context.Context, id string) (*Experiment, error) {
	var e Experiment
	return &e, s.conn.get(ctx, kfpAPI+"/experiments/"+escape(id), nil, &e)
}

// ByName returns the experiment of that name. If it does not exist, IsNotFound(err) is true.
func (s ExperimentsService) ByName(ctx context.Context, name string) (*Experiment, error) {
	p, err := s.List(ctx, ListOptions{PageSize: 1, Filter: []Predicate{Equals("name", name)}})
	return first(p, err, "experiment", name)
}

// Ensure returns the experiment of that name, and creates it if it does not exist.
func (s ExperimentsService) Ensure(ctx context.Context, name string) (*Experiment, error) {
	e, err := s.ByName(ctx, name)
	if !IsNotFound(err) {
		return e, err
	}
	e, err = s.Create(ctx, name, "")
	if IsConflict(err) { // someone else was quicker
		return s.ByName(ctx, name)
	}
	return e, err
}

// Delete deletes an experiment; its runs stay. For the default experiment it fails, and IsConflict(err) is true.
func (s ExperimentsService) Delete(ctx context.Context, id string) error {
	return s.conn.delete(ctx, kfpAPI+"/experiments/"+escape(id))
}

// Restore brings a deleted experiment back with its runs, by its id or its name.
func (s ExperimentsService) Restore(ctx context.Context, idOrName string) (*Experiment, error) {
	var e Experiment
	return &e, s.conn.send(ctx, http.MethodPost, ownAPI+"/experiments/"+escape(idOrName)+":restore", struct{}{}, &e)
}

// Archive moves an experiment with its runs into the archive.
func (s ExperimentsService) Archive(ctx context.Context, id string) error {
	return s.conn.put(ctx, kfpAPI+"/experiments/"+escape(id)+":archive")
}

// Unarchive takes an experiment out of the archive; its runs stay archived.
func (s ExperimentsService) Unarchive(ctx context.Context, id string) error {
	return s.conn.put(ctx, kfpAPI+"/experiments/"+escape(id)+":unarchive")
}
