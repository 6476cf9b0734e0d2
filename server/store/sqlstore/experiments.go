package sqlstore

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ experiment.Store = (*Store)(nil)

// Storage states, as on the wire.
const (
	available = "STORAGESTATE_AVAILABLE"
	archived  = "STORAGESTATE_ARCHIVED"
)

func storageState(isArchived bool) string {
	if isArchived {
		return archived
	}
	return available
}

var experimentList = listing{table: "experiments", fields: map[string]field{
	"id": {"id", text}, "name": {"name", text}, "description": {"description", text},
	"created_at": {"created_at", moment}, "storage_state": {"storage_state", text},
	"namespace": noNamespace,
}}

// CreateExperiment implements experiment.Store.
func (s *Store) CreateExperiment(ctx context.Context, e experiment.Experiment) error {
	if err := checkName("an experiment", e.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		err := q.InsertExperiment(ctx, query.InsertExperimentParams{
			ID: e.ID, Name: e.Name, Description: e.Description, CreatedAt: micros(e.CreatedAt), StorageState: storageState(e.Archived),
		})
		return s.taken(err, "experiments.name", "an experiment named %q exists already; choose another name", e.Name)
	})
}

// Experiment implements experiment.Store.
func (s *Store) Experiment(ctx context.Context, id string) (experiment.Experiment, error) {
	row, err := s.read().Experiment(ctx, id)
	return experimentOf(row), missing("experiment", id, err)
}

// ExperimentByName implements experiment.Store.
func (s *Store) ExperimentByName(ctx context.Context, name string) (experiment.Experiment, error) {
	row, err := s.read().ExperimentByName(ctx, name)
	return experimentOf(row), missing("experiment", name, err)
}

// Experiments implements experiment.Store.
func (s *Store) Experiments(ctx context.Context, q page.Query) (page.Page[experiment.Experiment], error) {
	chosen, err := s.page(ctx, experimentList, q)
	if err != nil {
		return page.Page[experiment.Experiment]{}, err
	}
	found, err := s.read().ExperimentsBySeq(ctx, chosen.seqs)
	bySeq := map[int64]experiment.Experiment{}
	for _, row := range found {
		bySeq[row.Seq] = experimentOf(row)
	}
	return pageOf(chosen, bySeq), trouble("read experiments", err)
}

// ArchiveExperiment implements experiment.Store.
func (s *Store) ArchiveExperiment(ctx context.Context, id string, isArchived bool) error {
	return s.write(ctx, func(q *query.Queries) error {
		n, err := q.SetExperimentState(ctx, query.SetExperimentStateParams{ID: id, StorageState: storageState(isArchived)})
		if err != nil || n == 0 {
			return orNotFound("experiment", id, err)
		}
		if !isArchived {
			return nil
		}
		err = q.DisableSchedulesOfExperiment(ctx, query.DisableSchedulesOfExperimentParams{ExperimentID: id, UpdatedAt: micros(time.Now())})
		if err != nil {
			return trouble("disable jobs", err)
		}
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		err = q.ArchiveRunsOfExperiment(ctx, query.ArchiveRunsOfExperimentParams{ExperimentID: id, Revision: revision})
		return trouble("archive runs", err)
	})
}

// DeleteExperiment implements experiment.Store.
func (s *Store) DeleteExperiment(ctx context.Context, id string) error {
	return s.write(ctx, func(q *query.Queries) error {
		n, err := q.DeleteExperiment(ctx, id)
		if err != nil || n == 0 {
			return orNotFound("experiment", id, err)
		}
		return nil
	})
}

func experimentOf(row query.Experiment) experiment.Experiment {
	return experiment.Experiment{
		ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: timeOf(row.CreatedAt), Archived: row.StorageState == archived,
	}
}

// orNotFound explains why a statement changed no row.
func orNotFound(what, id string, err error) error {
	if err != nil {
		return trouble("change "+what, err)
	}
	return notFound(what, id)
}

// pageOf puts the rows that were read into the order in which they were chosen. A row deleted in between is left out.
func pageOf[T any](chosen rows, bySeq map[int64]T) page.Page[T] {
	p := page.Page[T]{Total: chosen.total, Next: chosen.next}
	for _, seq := range chosen.seqs {
		if item, ok := bySeq[seq]; ok {
			p.Items = append(p.Items, item)
		}
	}
	return p
}
