package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

// Backup writes all that the store holds at this moment to a file, which must not exist. The file is that of a SQLite
// store, so that either database can be restored from it. The store may be in use; the backup blocks no writer.
func Backup(ctx context.Context, address, to string) error {
	config, err := parse(address)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("back up %s: %w", place(config), reason(err))
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	from, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("back up %s: %w", place(config), reason(err))
	}
	err = sqlite.Make(ctx, to, func(ctx context.Context, into *sql.Tx) error {
		if err := sameVersion(ctx, from, into); err != nil {
			return err
		}
		tables, err := sqlite.Tables(ctx, into)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if err := dump(ctx, from, into, t); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("back up %s: %w", place(config), reason(err))
	}
	return nil
}

// sameVersion refuses a store whose tables are not those of this program.
func sameVersion(ctx context.Context, from pgx.Tx, into *sql.Tx) error {
	want, err := sqlite.Version(ctx, into)
	if err != nil {
		return err
	}
	var there bool
	if err := from.QueryRow(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&there); err != nil {
		return err
	}
	if !there {
		return errors.New("there is no store to back up in it")
	}
	var have string
	if err := from.QueryRow(ctx, "SELECT MAX(version_id)::text FROM goose_db_version WHERE is_applied").Scan(&have); err != nil {
		return err
	}
	if have != want {
		return fmt.Errorf("it has schema %s, and this Argosy writes backups of schema %s: use the Argosy that its server runs", have, want)
	}
	return nil
}

// dump copies the rows of a table into a file.
func dump(ctx context.Context, from pgx.Tx, into *sql.Tx, t sqlite.Table) error {
	if _, err := into.ExecContext(ctx, "DELETE FROM "+t.Name); err != nil { // what its migrations put there
		return err
	}
	columns := quoted(t.Columns)
	insert, err := into.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", t.Name, columns, strings.Repeat(", ?", len(t.Columns)-1)))
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // it goes with its transaction
	rows, err := from.Query(ctx, fmt.Sprintf("SELECT %s FROM %s", columns, t.Name))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Restore fills an empty database from a backup, that of a SQLite store or of another database. The backup is checked, and
// brought up to date, first; all of it comes in, or nothing. A database in which there are pipelines, experiments, runs or
// jobs is refused.
func Restore(ctx context.Context, backup, address string) error {
	config, err := parse(address)
	if err != nil {
		return err
	}
	return sqlite.Examine(ctx, backup, func(ctx context.Context, from *sql.DB) error {
		if err := restore(ctx, from, address, config); err != nil {
			return fmt.Errorf("restore into %s: %w", place(config), reason(err))
		}
		return nil
	})
}

func restore(ctx context.Context, from *sql.DB, address string, config *pgx.ConnConfig) error {
	s, err := Open(ctx, address) // makes the tables
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what was committed is committed
	if err := takeLock(ctx, c, lockTimeout); err != nil {
		return err
	}
	tables, err := sqlite.Tables(ctx, from)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, c, func(into pgx.Tx) error {
		if err := clearOut(ctx, into, tables); err != nil {
			return err
		}
		for _, t := range tables {
			if err := load(ctx, from, into, t); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		_, err := into.Exec(ctx, sqlstore.NewEpoch())
		return err
	})
	if err != nil {
		return err
	}
	// Nothing is known yet of what values there are, and which pages all can see.
	if _, err := c.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return fmt.Errorf("tidy up, with all restored: %w", err)
	}
	return nil
}

// clearOut removes what a server makes by itself; it refuses to remove what people made.
func clearOut(ctx context.Context, into pgx.Tx, tables []sqlite.Table) error {
	const ask = `SELECT (SELECT COUNT(*) FROM runs) + (SELECT COUNT(*) FROM pipelines) + (SELECT COUNT(*) FROM schedules)
+ (SELECT COUNT(*) FROM experiments WHERE name <> 'Default')`
	var made int64
	if err := into.QueryRow(ctx, ask).Scan(&made); err != nil {
		return err
	}
	if made > 0 {
		return fmt.Errorf("it holds %d pipelines, experiments, runs and jobs, which restoring would remove: restore into an empty database (createdb)", made)
	}
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	_, err := into.Exec(ctx, "TRUNCATE "+strings.Join(names, ", "))
	return err
}

// load copies the rows of a table out of a file, and has the numbers that the database gives out go on behind them.
func load(ctx context.Context, from *sql.DB, into pgx.Tx, t sqlite.Table) error {
	rows, err := from.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s", quoted(t.Columns), t.Name)) //nolint:sqlclosecheck // it is
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	values, places := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		places[i] = &values[i]
	}
	_, err = into.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromFunc(func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		return sqlstore.Plain(values), nil
	}))
	if err != nil {
		return err
	}
	const counters = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'"
	var column string
	err = into.QueryRow(ctx, counters, t.Name).Scan(&column)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = into.Exec(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%s', '%s'), MAX(%s)) FROM %s HAVING MAX(%s) > 0", t.Name, column, column, t.Name, column))
	return err
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
