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

// Archived tells whether the experiment is put away.
func (e Experiment) Archived() bool { return e.StorageState == "STORAGESTATE_ARCHIVED" }

// CreateExperiment makes an experiment; IsConflict tells that the name is taken.
func (c *Client) CreateExperiment(ctx context.Context, name, description string) (*Experiment, error) {
	var e Experiment
	in := map[string]string{"name": name, "description": description}
	return &e, c.send(ctx, http.MethodPost, kfpAPI+"/experiments", in, &e)
}

// Experiments gives one page of the experiments.
func (c *Client) Experiments(ctx context.Context, o ListOptions) (Page[Experiment], error) {
	var wire struct {
		Experiments []Experiment `json:"experiments"`
		Total       int          `json:"total_size"`
		Next        string       `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		err = c.get(ctx, kfpAPI+"/experiments", q, &wire)
	}
	return Page[Experiment]{wire.Experiments, wire.Total, wire.Next}, err
}

// AllExperiments walks all pages; it ends after an error.
func (c *Client) AllExperiments(ctx context.Context, o ListOptions) iter.Seq2[Experiment, error] {
	return each(ctx, o, c.Experiments)
}

// Experiment gives an experiment by its id.
func (c *Client) Experiment(ctx context.Context, id string) (*Experiment, error) {
	var e Experiment
	return &e, c.get(ctx, kfpAPI+"/experiments/"+escape(id), nil, &e)
}

// ExperimentByName gives the experiment of that name; IsNotFound tells that there is none.
func (c *Client) ExperimentByName(ctx context.Context, name string) (*Experiment, error) {
	p, err := c.Experiments(ctx, ListOptions{PageSize: 1, Filter: []Predicate{Equals("name", name)}})
	return first(p, err, "experiment", name)
}

// EnsureExperiment gives the experiment of that name and makes it if there is none.
func (c *Client) EnsureExperiment(ctx context.Context, name string) (*Experiment, error) {
	e, err := c.ExperimentByName(ctx, name)
	if !IsNotFound(err) {
		return e, err
	}
	e, err = c.CreateExperiment(ctx, name, "")
	if IsConflict(err) { // someone else was quicker
		return c.ExperimentByName(ctx, name)
	}
	return e, err
}

// DeleteExperiment deletes an experiment; its runs stay. The default one is refused: IsConflict tells.
func (c *Client) DeleteExperiment(ctx context.Context, id string) error {
	return c.delete(ctx, kfpAPI+"/experiments/"+escape(id))
}

// RestoreExperiment brings a deleted experiment back with its runs, by its id or its name.
func (c *Client) RestoreExperiment(ctx context.Context, idOrName string) (*Experiment, error) {
	var e Experiment
	return &e, c.send(ctx, http.MethodPost, ownAPI+"/experiments/"+escape(idOrName)+":restore", struct{}{}, &e)
}

// ArchiveExperiment puts an experiment away with its runs.
func (c *Client) ArchiveExperiment(ctx context.Context, id string) error {
	return c.put(ctx, kfpAPI+"/experiments/"+escape(id)+":archive")
}

// UnarchiveExperiment takes an experiment out of the archive; its runs stay there.
func (c *Client) UnarchiveExperiment(ctx context.Context, id string) error {
	return c.put(ctx, kfpAPI+"/experiments/"+escape(id)+":unarchive")
}
