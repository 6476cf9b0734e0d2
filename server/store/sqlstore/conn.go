package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/store/columns"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// conn passes statements and their arguments on in the form that every database takes.
type conn struct {
	db     query.DBTX
	text   func(string) string
	hints  bool                               // a statement may name the index that it is to use
	seen   func(statement string, args []any) // told of every query, if it is set
	read   func(Plan)                         // told of what is read by column, if it is set
	repeat bool                               // queries whose connection broke are asked again: there is no transaction that they belong to
}

const repeats = 3 // after a restart of the database, several connections of the pool may be broken

func (d Driver) conn(db query.DBTX) conn {
	c := conn{db: db, text: d.Text, hints: d.Hints}
	if c.text == nil {
		c.text = func(statement string) string { return statement }
	}
	return c
}

func (c conn) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return c.db.ExecContext(ctx, c.text(statement), Plain(args)...)
}

func (c conn) PrepareContext(ctx context.Context, statement string) (*sql.Stmt, error) {
	return c.db.PrepareContext(ctx, c.text(statement))
}

func (c conn) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	c.tell(statement, args)
	statement, args = c.text(statement), Plain(args)
	rows, err := c.db.QueryContext(ctx, statement, args...)
	for n := 0; c.repeat && n < repeats && unreachable(err); n++ {
		rows, err = c.db.QueryContext(ctx, statement, args...)
	}
	return rows, err
}

func (c conn) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	c.tell(statement, args)
	statement, args = c.text(statement), Plain(args)
	row := c.db.QueryRowContext(ctx, statement, args...)
	for n := 0; c.repeat && n < repeats && unreachable(row.Err()); n++ {
		row = c.db.QueryRowContext(ctx, statement, args...)
	}
	return row
}

func (c conn) tell(statement string, args []any) {
	if c.seen != nil {
		c.seen(statement, args)
	}
}

// tellColumns tells of a query of columns what it reads.
func (c conn) tellColumns(q columns.Query, t *columns.Table) {
	if c.read != nil {
		c.read(Plan{"columns", t.Explain(q)})
	}
}

// hint is what follows a table's name to have an index of it used.
func (c conn) hint(index string) string {
	switch {
	case !c.hints || index == "":
		return ""
	}
	return " INDEXED BY " + index
}

// Plain converts arguments to types that both databases store alike: booleans as 0 and 1, and text as valid UTF-8.
func Plain(args []any) []any {
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
