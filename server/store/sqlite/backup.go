package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

// sidecars are the files that SQLite keeps beside a database in WAL mode.
var sidecars = []string{"-wal", "-shm"}

// Backup writes all that the store in file holds at this moment to another file, which must not exist. The store
// may be in use; the backup blocks no writer.
func Backup(ctx context.Context, file, to string) error {
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("there is no store to back up: %w", err)
	}
	return whole(to, func(part string) error {
		from, err := plain(file)
		if err != nil {
			return fmt.Errorf("open store %s: %w", file, err)
		}
		_, err = from.ExecContext(ctx, "VACUUM INTO ?", part) // the file is empty, which SQLite takes for a new one
		if err = errors.Join(err, from.Close()); err != nil {
			return fmt.Errorf("back up %s: %w", file, err)
		}
		return nil
	})
}

// Make writes a backup of a store that is kept elsewhere: fill puts its rows into the tables, in whatever order.
func Make(ctx context.Context, to string, fill func(context.Context, *sql.Tx) error) error {
	return whole(to, func(part string) error {
		if err := upToDate(ctx, part); err != nil {
			return err
		}
		db, err := plain(part)
		if err != nil {
			return err
		}
		defer db.Close() //nolint:errcheck // what was committed is checked when the backup is restored
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
		if err := fill(ctx, tx); err != nil {
			return err
		}
		return errors.Join(tx.Commit(), db.Close())
	})
}

// Examine checks a backup and lets look see a copy of it that is up to date.
func Examine(ctx context.Context, backup string, look func(context.Context, *sql.DB) error) (err error) {
	dir, err := os.MkdirTemp("", "argosy-restore-")
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "argosy.db")
	if err := copyFile(backup, file); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := upToDate(ctx, file); err != nil {
		return fmt.Errorf("%s cannot be restored: %w", backup, err)
	}
	db, err := plain(file)
	if err != nil {
		return err
	}
	return errors.Join(look(ctx, db), db.Close())
}

// whole makes a file that is there with all that write puts into it, or not at all. One that is there already is refused.
func whole(to string, write func(part string) error) (err error) {
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already; a backup does not replace another", to)
	}
	part := to + ".part"
	if err := clearAway(part); err != nil { // of a backup that was cut off
		return fmt.Errorf("backup: %w", err)
	}
	if err := private(part); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = clearAway(part)
		}
	}()
	if err := write(part); err != nil {
		return err
	}
	if err := synced(part); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := os.Rename(part, to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// upToDate checks the file of a store and migrates it; what SQLite kept beside it is then in it.
func upToDate(ctx context.Context, file string) error {
	db, err := sql.Open(driver, dsn(file, true))
	if err != nil {
		return err
	}
	return errors.Join(prepare(ctx, db, true), db.Close())
}

func beginEpoch(ctx context.Context, file string) error {
	db, err := plain(file)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, sqlstore.NewEpoch())
	return errors.Join(err, db.Close())
}

// plain opens a file as it is, without the store's checks and rules.
func plain(file string) (*sql.DB, error) {
	key, value := pragma("busy_timeout", "10000")
	return sql.Open(driver, (&url.URL{Scheme: "file", OmitHost: true, Path: file, RawQuery: url.Values{key: {value}}.Encode()}).String())
}

// Restore replaces the store in file, which no process may use meanwhile, by a backup. The backup is checked, and
// brought up to date, before anything is replaced; what was there is kept under the name that is returned, if there was
// anything.
func Restore(ctx context.Context, backup, file string) (kept string, err error) {
	part := file + ".restore"
	if err := clearAway(part); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			_ = clearAway(part)
		}
	}()
	if err := copyFile(backup, part); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	if err := upToDate(ctx, part); err != nil {
		return "", fmt.Errorf("%s cannot be restored: %w", backup, err)
	}
	if err := beginEpoch(ctx, part); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	if err := synced(part); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	if _, err := os.Stat(file); err == nil {
		kept = file + ".before-restore-" + time.Now().UTC().Format("20060102T150405.000")
		for _, end := range append([]string{""}, sidecars...) {
			if err := os.Rename(file+end, kept+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("restore: %w", err)
			}
		}
	}
	if err := os.Rename(part, file); err != nil {
		return kept, fmt.Errorf("restore: %w", err)
	}
	return kept, nil
}

func clearAway(file string) error {
	var failed error
	for _, end := range append([]string{""}, sidecars...) {
		if err := os.Remove(file + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func synced(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
