package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Table is a table of the store.
type Table struct {
	Name    string
	Columns []string
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Tables lists the tables of a store's file, each after those that it refers to; without run_counts, which triggers fill
// when runs come in.
func Tables(ctx context.Context, db querier) ([]Table, error) {
	names, err := texts(ctx, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite|_%' ESCAPE '|' AND name NOT IN ('goose_db_version', 'run_counts') ORDER BY name")
	if err != nil {
		return nil, err
	}
	var tables []Table
	listed := func(name string) bool {
		return slices.ContainsFunc(tables, func(t Table) bool { return t.Name == name })
	}
	for len(tables) < len(names) {
		before := len(tables)
		for _, name := range names {
			if listed(name) {
				continue
			}
			needed, err := texts(ctx, db, `SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)`, name)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(needed, func(n string) bool { return n != name && !listed(n) }) {
				continue
			}
			columns, err := texts(ctx, db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", name)
			if err != nil {
				return nil, err
			}
			tables = append(tables, Table{name, columns})
		}
		if len(tables) == before {
			return nil, fmt.Errorf("the tables %v refer to each other in a circle", names)
		}
	}
	return tables, nil
}

// Version is the number of the newest migration of a store's file.
func Version(ctx context.Context, db querier) (string, error) {
	found, err := texts(ctx, db, "SELECT CAST(MAX(version_id) AS TEXT) FROM goose_db_version WHERE is_applied")
	if err == nil && len(found) != 1 {
		err = errors.New("it has no schema")
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// texts gives the first column of the rows of an answer.
func texts(ctx context.Context, db querier, question string, args ...any) (found []string, err error) {
	rows, err := db.QueryContext(ctx, question, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}
