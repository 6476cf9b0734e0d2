// Package postgres opens the store on a PostgreSQL database.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	oldest         = 130000 // the oldest server that is known to do: PostgreSQL 13
	connectTimeout = 10 * time.Second
	lockTimeout    = 15 * time.Second // longer than a server takes to notice that the machine of its client is gone
)

// Open connects to the database that address names (postgres://...; PostgreSQL's own variables, such as PGPASSWORD, fill in
// what it leaves out) and brings its schema up to date. One process at a time may have it open; see lock.
func Open(ctx context.Context, address string) (*sqlstore.Store, error) {
	return open(ctx, address, lockTimeout)
}

func open(ctx context.Context, address string, patience time.Duration) (*sqlstore.Store, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	writes := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(lock(patience)))
	writes.SetMaxOpenConns(1) // it has the lock, and one writer is what the store promises its transactions
	if err := prepare(ctx, writes); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", place(config), reason(err)), writes.Close())
	}
	readOnly := config.Copy() // the other still makes connections
	readOnly.RuntimeParams["default_transaction_read_only"] = "on"
	readOnly.RuntimeParams["plan_cache_mode"] = "force_custom_plan" // for any value, lists would look through half of the runs for the few of a rare one
	reads := stdlib.OpenDB(*readOnly)
	reads.SetMaxOpenConns(max(4, runtime.NumCPU()))
	reads.SetMaxIdleConns(max(4, runtime.NumCPU()))
	return sqlstore.New(sqlstore.Driver{
		Name: "PostgreSQL", Text: text, Explain: "EXPLAIN ", Taken: taken, InUse: inUse,
		Snapshot: sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		Write:    sql.TxOptions{Isolation: sql.LevelSerializable}, // others may write as well, such as a person with psql
	}, reads, writes), nil
}

// parse reads an address. What is wrong with one is not quoted: it may hold a password.
func parse(address string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address of the PostgreSQL store cannot be read; write it like " +
			"postgres://user:password@host:5432/database?sslmode=verify-full, with special characters of the password as %XX (a slash is %2F)")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		host, _ := os.Hostname() // it is only shown to people
		config.RuntimeParams["application_name"] = fmt.Sprintf("argosy, process %d on %s", os.Getpid(), host)
	}
	return config, nil
}

// place names the database without what is secret.
func place(c *pgx.ConnConfig) string {
	return fmt.Sprintf("PostgreSQL database %q at %s:%d", c.Database, c.Host, c.Port)
}

// Describe names the database at an address without what is secret.
func Describe(address string) string {
	config, err := parse(address)
	if err != nil {
		return "PostgreSQL"
	}
	return place(config)
}

// reason gives the error of a connection that could not be made in one line; a database is tried with TLS and without.
func reason(err error) error {
	var e *pgconn.ConnectError
	if !errors.As(err, &e) {
		return err
	}
	lines := strings.Split(e.Unwrap().Error(), "\n")
	slices.Sort(lines)
	return errors.New(strings.Join(slices.Compact(lines), "; "))
}

// prepare checks the database and migrates it.
func prepare(ctx context.Context, db *sql.DB) error {
	var version int
	var name, encoding string
	const ask = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('server_encoding')"
	if err := db.QueryRowContext(ctx, ask).Scan(&version, &name, &encoding); err != nil {
		return err
	}
	if version < oldest {
		return fmt.Errorf("it is PostgreSQL %s; at least version %d is needed", name, oldest/10000)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("its encoding is %s; make one with UTF8 (createdb -E UTF8 -T template0)", encoding)
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return sqlstore.Migrate(ctx, goose.DialectPostgres, db, dir)
}

// taken tells whether err says that a UNIQUE rule over column was broken; PostgreSQL names rules table_columns_key.
func taken(err error, column string) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "23505" {
		return false
	}
	table, name, _ := strings.Cut(column, ".")
	return e.TableName == table && strings.HasSuffix(e.ConstraintName, "_"+name+"_key")
}
