package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// conn passes statements and their arguments on in the form that every database takes.
type conn struct {
	db   query.DBTX
	text func(string) string
}

func (d Driver) conn(db query.DBTX) conn {
	c := conn{db: db, text: d.Text}
	if c.text == nil {
		c.text = func(statement string) string { return statement }
	}
	return c
}

func (c conn) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return c.db.ExecContext(ctx, c.text(statement), plain(args)...)
}

func (c conn) PrepareContext(ctx context.Context, statement string) (*sql.Stmt, error) {
	return c.db.PrepareContext(ctx, c.text(statement))
}

func (c conn) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return c.db.QueryContext(ctx, c.text(statement), plain(args)...)
}

func (c conn) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	return c.db.QueryRowContext(ctx, c.text(statement), plain(args)...)
}

// plain gives arguments in the types that both databases keep alike: truth as 0 and 1, and text without what is none.
func plain(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		switch v := arg.(type) {
		case bool:
			args[i] = int64(0)
			if v {
				args[i] = int64(1)
			}
		case string:
			args[i] = strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
	return args
}
