package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argosy-ml/argosy/server/store"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

// Contents gives all that the store at a place holds, table by table, row by row, whichever database it is.
func Contents(t testing.TB, place string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "contents.db")
	err := store.Backup(t.Context(), place, file)
	var all strings.Builder
	if err == nil {
		err = sqlite.Examine(t.Context(), file, func(ctx context.Context, db *sql.DB) error {
			tables, err := sqlite.Tables(ctx, db)
			for _, table := range tables {
				err = errors.Join(err, write(ctx, &all, db, table))
			}
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func write(ctx context.Context, w io.Writer, db *sql.DB, table sqlite.Table) error {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table.Name+" ORDER BY 1, 2")
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		values, into := make([]any, len(table.Columns)), make([]any, len(table.Columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %v\n", table.Name, values)
	}
	return rows.Err()
}
