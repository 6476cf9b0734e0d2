package sqlite

import (
	"context"
	"errors"
)

// Contents is how much a store holds.
type Contents struct {
	Pipelines   int64 `json:"pipelines"`
	Experiments int64 `json:"experiments"`
	Runs        int64 `json:"runs"`
	Jobs        int64 `json:"jobs"`
}

// Count counts what a store's file holds.
func Count(ctx context.Context, file string) (c Contents, err error) {
	const question = `SELECT (SELECT COUNT(*) FROM pipelines), (SELECT COUNT(*) FROM experiments), (SELECT COUNT(*) FROM runs), (SELECT COUNT(*) FROM schedules)`
	db, err := plain(file)
	if err != nil {
		return c, err
	}
	err = db.QueryRowContext(ctx, question).Scan(&c.Pipelines, &c.Experiments, &c.Runs, &c.Jobs)
	return c, errors.Join(err, db.Close())
}

// Holds tells whether a store's file has a pipeline, experiment, run or job of an id.
func Holds(ctx context.Context, file, id string) (holds bool, err error) {
	const question = `SELECT EXISTS (SELECT 1 FROM pipelines WHERE id = ?1) OR EXISTS (SELECT 1 FROM experiments WHERE id = ?1)
OR EXISTS (SELECT 1 FROM runs WHERE id = ?1) OR EXISTS (SELECT 1 FROM schedules WHERE id = ?1)`
	db, err := plain(file)
	if err != nil {
		return false, err
	}
	err = db.QueryRowContext(ctx, question, id).Scan(&holds)
	return holds, errors.Join(err, db.Close())
}
