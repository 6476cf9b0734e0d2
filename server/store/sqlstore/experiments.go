package sqlstore

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
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

var experimentList = table{table: "experiments", fields: map[string]field{
	"id": {"id", text}, "name": {"name", text}, "description": {"description", text},
	"created_at": {"created_at", moment}, "storage_state": {"storage_state", text},
	"namespace": noNamespace,
}}

// CreateExperiment implements experiment.Store.
func (s *experiments) CreateExperiment(ctx context.Context, e experiment.Experiment) error {
	if err := checkName("an experiment", e.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		err := q.InsertExperiment(ctx, query.InsertExperimentParams{
			ID: e.ID, Name: e.Name, Description: e.Description, CreatedAt: micros(e.CreatedAt), StorageState: storageState(e.Archived),
		})
		return s.taken(err, "experiments.name", "an experiment named %q exists already. Please specify a new name.", e.Name)
	})
}

// Experiment implements experiment.Store.
func (s *experiments) Experiment(ctx context.Context, id string) (experiment.Experiment, error) {
	row, err := s.read().Experiment(ctx, id)
	return experimentOf(row), missing("experiment", id, err)
}

// ExperimentByName implements experiment.Store.
func (s *experiments) ExperimentByName(ctx context.Context, name string) (experiment.Experiment, error) {
	row, err := s.read().ExperimentByName(ctx, name)
	return experimentOf(row), missing("experiment", name, err)
}

// Experiments implements experiment.Store.
func (s *experiments) Experiments(ctx context.Context, q listing.Query) (listing.Page[experiment.Experiment], error) {
	chosen, err := s.page(ctx, experimentList, q)
	if err != nil {
		return listing.Page[experiment.Experiment]{}, err
	}
	found, err := s.read().ExperimentsBySeq(ctx, chosen.seqs)
	bySeq := map[int64]experiment.Experiment{}
	for _, row := range found {
		bySeq[row.Seq] = experimentOf(row)
	}
	return pageOf(chosen, bySeq), trouble("read experiments", err)
}

// ArchiveExperiment implements experiment.Store.
func (s *experiments) ArchiveExperiment(ctx context.Context, id string, isArchived bool) error {
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

// DeletedExperiment implements experiment.Store.
func (s *experiments) DeletedExperiment(ctx context.Context, id string) (experiment.Experiment, error) {
	row, err := s.read().ExperimentOfWhatStayed(ctx, id)
	e := experiment.Experiment{ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: timeOf(row.CreatedAt), Archived: true}
	return e, missing("experiment", id, err)
}

// DeletedExperiments implements experiment.Store.
func (s *Store) DeletedExperiments(ctx context.Context, most int) (list []experiment.Deleted, total int, err error) {
	err = s.look(ctx, func(q *query.Queries) error {
		rows, err := q.DeletedExperiments(ctx, int64(most))
		if err != nil {
			return trouble("read deleted experiments", err)
		}
		for _, row := range rows {
			list = append(list, experiment.Deleted{
				Experiment: experiment.Experiment{
					ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: timeOf(row.CreatedAt), Archived: row.StorageState == archived,
				},
				DeletedAt: timeOf(row.DeletedAt), Runs: int(row.Runs),
			})
		}
		n, err := q.CountDeletedExperiments(ctx)
		total = int(n)
		return trouble("count deleted experiments", err)
	})
	return list, total, err
}

// DeleteExperiment implements experiment.Store.
func (s *experiments) DeleteExperiment(ctx context.Context, id string) error {
	return s.write(ctx, func(q *query.Queries) error {
		row, err := q.Experiment(ctx, id)
		if err != nil {
			return missing("experiment", id, err)
		}
		err = q.InsertDeletedExperiment(ctx, query.InsertDeletedExperimentParams{
			ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: row.CreatedAt, StorageState: row.StorageState,
			DeletedAt: micros(time.Now()),
		})
		if err != nil {
			return trouble("keep the deleted experiment", err)
		}
		_, err = q.DeleteExperiment(ctx, id)
		return trouble("delete experiment", err)
	})
}

// RestoreExperiment implements experiment.Store.
func (s *experiments) RestoreExperiment(ctx context.Context, idOrName string) (restored experiment.Experiment, err error) {
	err = s.write(ctx, func(q *query.Queries) error {
		row, err := q.DeletedExperiment(ctx, idOrName)
		if err != nil {
			return missing("deleted experiment", idOrName, err)
		}
		err = q.InsertExperiment(ctx, query.InsertExperimentParams{
			ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: row.CreatedAt, StorageState: row.StorageState,
		})
		if err != nil {
			return s.taken(err, "experiments.name", "an experiment named %q was created since; delete that one first", row.Name)
		}
		restored = experiment.Experiment{
			ID: row.ID, Name: row.Name, Description: row.Description, CreatedAt: timeOf(row.CreatedAt), Archived: row.StorageState == archived,
		}
		return trouble("restore experiment", q.RemoveDeletedExperiment(ctx, row.ID))
	})
	return restored, err
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
func pageOf[T any](chosen rows, bySeq map[int64]T) listing.Page[T] {
	p := listing.Page[T]{Total: chosen.total, Next: chosen.next}
	for _, seq := range chosen.seqs {
		if item, ok := bySeq[seq]; ok {
			p.Items = append(p.Items, item)
		}
	}
	return p
}
