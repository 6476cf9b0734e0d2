// Package sqlite opens the store on one SQLite file.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the file, makes it when it is not there, checks it and brings its schema up to date.
// A file that a newer Argosy wrote is refused.
func Open(ctx context.Context, file string) (*sqlstore.Store, error) {
	if err := private(file); err != nil {
		return nil, err
	}
	suspect, err := toBeChecked(file)
	if err != nil {
		return nil, err
	}
	writes, err := sql.Open(driver, dsn(file, true))
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", file, err)
	}
	writes.SetMaxOpenConns(1) // SQLite has one writer, and waiting for it in Go is fair
	if err := prepare(ctx, writes, suspect); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", file, err), writes.Close())
	}
	reads, err := sql.Open(driver, dsn(file, false))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", file, err), writes.Close())
	}
	reads.SetMaxOpenConns(max(4, runtime.NumCPU()))
	reads.SetMaxIdleConns(max(4, runtime.NumCPU())) // each has its statements and pages at hand
	return sqlstore.New(sqlstore.Driver{Name: "SQLite", Folder: filepath.Dir(file), Hints: true, Explain: "EXPLAIN QUERY PLAN ", Taken: taken, Snapshot: sql.TxOptions{ReadOnly: true}}, reads, writes), nil
}

// private makes the file, when it is new, readable by its owner alone: manifests may hold secrets.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	return f.Close()
}

// quicklyRead is the size up to which a file is read as a whole at each start, in bytes. A larger one would make each start wait.
const quicklyRead = 64 << 20

// toBeChecked tells whether Open reads a whole file for damage. It reads a large file only when its last user did not close it: SQLite's
// log then lies beside it. Any other damage is an error when SQLite reads the page.
func toBeChecked(file string) (bool, error) {
	main, err := os.Stat(file)
	if err != nil {
		return false, fmt.Errorf("open store: %w", err)
	}
	log, err := os.Stat(file + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("open store: %w", err)
	}
	return main.Size() <= quicklyRead || err == nil && log.Size() > 0, nil
}

// dsn names the file with the pragmas of each of its connections.
func dsn(file string, write bool) string {
	p := url.Values{}
	set := func(name, value string) { p.Add(pragma(name, value)) }
	set("busy_timeout", "10000") // another process, such as a backup, may hold the file for a moment
	set("foreign_keys", "on")
	tune(p)
	if write {
		set("cache_size", "-8000")        // KiB
		set("auto_vacuum", "incremental") // takes effect on a new file only, before anything is written
		set("journal_mode", "WAL")        // readers never wait for the writer
		set("synchronous", "FULL")        // what was accepted survives a power cut
		p.Set("_txlock", "immediate")     // take the write lock at once: upgrading later may fail
	} else {
		set("cache_size", "-3000") // of each: what they leave out, the system has
		set("query_only", "on")
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: file, RawQuery: p.Encode()}).String()
}

// prepare checks the file, all of it or its schema, and migrates it.
func prepare(ctx context.Context, db *sql.DB, whole bool) error {
	check := "SELECT 'ok' FROM (SELECT count(*) FROM sqlite_schema)"
	if whole {
		check = "PRAGMA quick_check(1)"
	}
	var verdict string
	if err := db.QueryRowContext(ctx, check).Scan(&verdict); err != nil {
		return fmt.Errorf("the file is not a readable SQLite database: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("the file is damaged (%s); restore it from a backup", verdict)
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return sqlstore.Migrate(ctx, goose.DialectSQLite3, db, dir)
}

// taken tells whether err says that a UNIQUE rule over column was broken.
func taken(err error, column string) bool {
	return brokenUnique(err) && strings.Contains(err.Error(), column)
}
