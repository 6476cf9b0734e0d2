package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/columns"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// runSchema is what runs are filtered and sorted by, beside parameters, labels and metrics.
var runSchema = columns.Schema{
	Ints:  []string{"created_at", "scheduled_at", "started_at", "finished_at"},
	Words: []string{"status", "storage_state", "experiment_id", "pipeline_id", "schedule_id", run.ShownStatus},
	Texts: []string{"id", "name", "description"},
}

// shownAt is the place of the shown status among the words; those before it are columns of the table.
const shownAt = 5

const (
	atOnce       = 2000            // runs that are read at once
	followEvery  = time.Second     // how often Follow looks for changes
	tolerateDead = 4 * atOnce      // places in columns, beside half as many as there are runs
	readingRuns  = "read all runs" // what went wrong, if something did
)

// runColumns is the index of runs by column. It follows the store's clock: what changed since it looked is read before it is
// asked, so that writers need not know of it.
type runColumns struct {
	turn  chan struct{} // held by the one who fills it
	table *columns.Table
	seen  int64 // revision
}

func newRunColumns() *runColumns { return &runColumns{turn: make(chan struct{}, 1)} }

// runColumns gives the columns as the store is now, or was a moment later.
func (s *runIndex) runColumns(ctx context.Context) (*columns.Table, error) {
	select {
	case s.columns.turn <- struct{}{}:
		defer func() { <-s.columns.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.columns.table != nil {
		behind, err := s.catchUp(ctx)
		if err != nil || !behind {
			return s.columns.table, err
		}
	}
	table, seen, err := s.allColumns(ctx)
	if err != nil {
		return nil, err
	}
	if old := s.columns.table; old != nil {
		err = old.Take(table)
	} else {
		s.columns.table = table
	}
	s.columns.seen = seen
	if err == nil {
		_, err = s.catchUp(ctx)
	}
	return s.columns.table, err
}

// Fields implements run.Store.
func (s *runIndex) Fields(ctx context.Context) (run.Fields, error) {
	table, err := s.runColumns(ctx)
	if err != nil {
		return run.Fields{}, err
	}
	fields := run.Fields{Parameters: table.Names(parameterPrefix), Labels: table.Names(labelPrefix)}
	for _, name := range table.Names(metricPrefix) {
		if metric, ok := run.MetricOfFigure(name); ok {
			fields.Curves = append(fields.Curves, metric)
		} else {
			fields.Metrics = append(fields.Metrics, name)
		}
	}
	slices.Sort(fields.Curves)
	fields.Curves = slices.Compact(fields.Curves) // each has several figures
	return fields, nil
}

// Follow keeps the columns up to date until ctx ends, so that lists find little to do. What goes wrong it tells, once, and tries
// again: lists that need the columns fail meanwhile, or fill them themselves.
func (s *runIndex) Follow(ctx context.Context, tell func(error)) {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	told := ""
	for {
		err := s.follow(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			told = ""
		case err.Error() != told:
			told = err.Error()
			tell(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *runIndex) follow(ctx context.Context) error {
	table, err := s.runColumns(ctx)
	if err != nil {
		return err
	}
	if rows, dead, _ := table.Size(); dead > rows/2+tolerateDead {
		return s.compact(ctx)
	}
	return nil
}

// compact reads all runs again, while lists use the existing columns.
func (s *runIndex) compact(ctx context.Context) error {
	table, seen, err := s.allColumns(ctx)
	if err != nil {
		return err
	}
	select {
	case s.columns.turn <- struct{}{}:
		defer func() { <-s.columns.turn }()
	case <-ctx.Done():
		return errors.Join(ctx.Err(), table.Close())
	}
	s.columns.seen = seen
	return s.columns.table.Take(table)
}

// allColumns makes the columns of all runs. Those that change meanwhile have revisions after the one that it gives.
func (s *runIndex) allColumns(ctx context.Context) (table *columns.Table, seen int64, err error) {
	now, err := s.read().Now(ctx)
	if err != nil {
		return nil, 0, trouble(readingRuns, err)
	}
	if table, err = columns.New(s.driver.Folder, runSchema); err != nil {
		return nil, 0, trouble(readingRuns, err)
	}
	for after := int64(0); ; {
		rows, err := s.readColumns(ctx, s.driver.conn(s.reads), condition{"seq > ?", []any{after}}, nil)
		if err == nil {
			err = trouble(readingRuns, table.Put(rows...))
		}
		if err != nil {
			return nil, 0, errors.Join(err, table.Close())
		}
		if len(rows) < atOnce {
			return table, now.Revision, nil
		}
		after = rows[len(rows)-1].Key
	}
}

// catchUp reads what changed. It is behind when it does not know any more what was removed.
func (s *runIndex) catchUp(ctx context.Context) (behind bool, err error) {
	tx, err := s.reads.BeginTx(ctx, &s.driver.Snapshot)
	if err != nil {
		return false, trouble("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to keep
	db := s.driver.conn(tx)
	var now int64
	if err := db.QueryRowContext(ctx, "SELECT revision FROM clock WHERE id = 1").Scan(&now); err != nil {
		return false, trouble("read the clock", err)
	}
	c := s.columns
	if now <= c.seen {
		return false, nil
	}
	if now-c.seen >= run.KeptRemovals {
		return true, nil
	}
	gone := map[string]bool{}
	err = each(ctx, db, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		gone[id] = true
		return err
	}, "SELECT run_id FROM removals WHERE revision > ? AND revision <= ? AND node_id = ''", c.seen, now)
	if err != nil {
		return false, err
	}
	if err := c.table.Remove("id", gone); err != nil {
		return false, trouble(readingRuns, err)
	}
	for revision, seq := c.seen, int64(1)<<62; ; {
		var keys []any
		err = each(ctx, db, func(r *sql.Rows) error {
			err := r.Scan(&seq, &revision)
			keys = append(keys, seq)
			return err
		}, "SELECT seq, revision FROM runs WHERE revision >= ? AND (revision > ? OR seq > ?) ORDER BY revision, seq LIMIT ?", revision, revision, seq, atOnce)
		if err != nil {
			return false, err
		}
		if len(keys) == 0 {
			break
		}
		in := " IN (?" + strings.Repeat(", ?", len(keys)-1) + ")"
		rows, err := s.readColumns(ctx, db, condition{"seq" + in, keys}, &condition{"run" + in, keys})
		if err == nil {
			err = trouble(readingRuns, c.table.Put(rows...))
		}
		if err != nil {
			return false, err
		}
	}
	c.seen = now
	return false, nil
}

// readColumns reads runs, at most atOnce, in the order of their numbers; beside finds what lies beside them, and nil all that
// does so from the first to the last.
func (s *runIndex) readColumns(ctx context.Context, db conn, which condition, beside *condition) ([]columns.Row, error) {
	var rows []columns.Row
	at := map[int64]int{}
	err := each(ctx, db, func(r *sql.Rows) error {
		row := columns.Row{Ints: make([]int64, 4), Words: make([]string, 6), Texts: make([]string, 3)}
		err := r.Scan(&row.Key, &row.Ints[0], &row.Ints[1], &row.Ints[2], &row.Ints[3], &row.Words[0], &row.Words[1], &row.Words[2], &row.Words[3], &row.Words[4],
			&row.Texts[0], &row.Texts[1], &row.Texts[2])
		row.Words[shownAt] = row.Words[0]
		at[row.Key] = len(rows)
		rows = append(rows, row)
		return err
	}, fmt.Sprintf("SELECT seq, %s, %s, %s FROM runs WHERE %s ORDER BY seq LIMIT ?", strings.Join(runSchema.Ints, ", "),
		strings.Join(runSchema.Words[:shownAt], ", "), strings.Join(runSchema.Texts, ", "), which.sql), append(slices.Clip(which.args), atOnce)...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if err := showWaiting(ctx, query.New(db), rows); err != nil {
		return nil, err
	}
	if beside == nil {
		beside = &condition{"run BETWEEN ? AND ?", []any{rows[0].Key, rows[len(rows)-1].Key}}
	}
	for _, tags := range []struct{ prefix, from, order string }{{parameterPrefix, "run_parameters", "position"}, {labelPrefix, "run_labels", "name"}} {
		err := each(ctx, db, func(r *sql.Rows) error {
			var key int64
			var tag columns.Tag
			err := r.Scan(&key, &tag.Column, &tag.Text)
			if i, ok := at[key]; ok {
				if value, ok := numberIn(tag.Text); ok && tags.prefix == parameterPrefix {
					rows[i].Numbers = append(rows[i].Numbers, columns.Named{Column: sizePrefix + tag.Column, Value: value})
				}
				tag.Column = tags.prefix + tag.Column
				rows[i].Tags = append(rows[i].Tags, tag)
			}
			return err
		}, fmt.Sprintf("SELECT run, name, value FROM %s WHERE %s ORDER BY run, %s", tags.from, beside.sql, tags.order), beside.args...)
		if err != nil {
			return nil, err
		}
	}
	err = each(ctx, db, func(r *sql.Rows) error {
		var key int64
		var n columns.Named
		err := r.Scan(&key, &n.Column, &n.Value)
		if i, ok := at[key]; ok {
			n.Column = metricPrefix + n.Column
			rows[i].Numbers = append(rows[i].Numbers, n)
		}
		return err
	}, "SELECT run, name, value FROM run_metrics WHERE leads = 1 AND "+beside.sql+" ORDER BY run, seq", beside.args...)
	if err != nil {
		return nil, err
	}
	return rows, readFigures(ctx, db, rows, at, *beside)
}

// readFigures adds the figures of the runs' curves to their rows.
func readFigures(ctx context.Context, db conn, rows []columns.Row, at map[int64]int, beside condition) error {
	curves := map[int64][]run.Curve{}
	err := each(ctx, db, func(r *sql.Rows) error {
		var key int64
		var s query.Series
		err := r.Scan(&key, &s.Name, &s.Least, &s.Greatest, &s.Latest, &s.Newest)
		curves[key] = run.JoinCurves(curves[key], curveOf(s.Name, "", s.Least, s.Greatest, s.Latest, s.Newest))
		return err
	}, "SELECT run, name, least, greatest, latest, newest FROM series WHERE "+beside.sql+" ORDER BY run, seq", beside.args...)
	for key, of := range curves {
		i, ok := at[key]
		if !ok {
			continue
		}
		for _, c := range of {
			for name, value := range c.Figures() {
				if !math.IsNaN(value) {
					rows[i].Numbers = append(rows[i].Numbers, columns.Named{Column: metricPrefix + name, Value: value})
				}
			}
		}
	}
	return err
}

// showWaiting gives the runs that wait their shown status. A change of a step is one of its run, so that catchUp reads it again.
func showWaiting(ctx context.Context, q *query.Queries, rows []columns.Row) error {
	runs := make(map[int64]*run.Run, len(rows))
	for _, row := range rows {
		runs[row.Key] = &run.Run{Status: row.Words[0]}
	}
	err := addWaits(ctx, q, runs)
	for _, row := range rows {
		if runs[row.Key].Waits != nil {
			row.Words[shownAt] = run.Waiting
		}
	}
	return err
}

// each gives every row of an answer to f.
func each(ctx context.Context, db conn, f func(*sql.Rows) error, statement string, args ...any) error {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return trouble(readingRuns, err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := f(rows); err != nil {
			return trouble(readingRuns, err)
		}
	}
	return trouble(readingRuns, rows.Err())
}
