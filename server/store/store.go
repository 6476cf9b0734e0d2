// Package store opens the store in a file or in a PostgreSQL database.
package store

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

// Remote tells whether a store's place is the address of a PostgreSQL database; otherwise it is the name of a SQLite file.
func Remote(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Describe names a place without the password that an address may hold.
func Describe(place string) string {
	if Remote(place) {
		return postgres.Describe(place)
	}
	if absolute, err := filepath.Abs(place); err == nil {
		return absolute
	}
	return place
}

// Open opens the store at a place and brings its schema up to date.
func Open(ctx context.Context, place string) (*sqlstore.Store, error) {
	if Remote(place) {
		return postgres.Open(ctx, place)
	}
	return sqlite.Open(ctx, place)
}

// Backup writes what the store at a place holds at this moment to a file, which must not exist.
func Backup(ctx context.Context, place, to string) error {
	if Remote(place) {
		return postgres.Backup(ctx, place, to)
	}
	return sqlite.Backup(ctx, place, to)
}

// Contents is how much a store holds.
type Contents = sqlite.Contents

// Count counts what a backup holds.
func Count(ctx context.Context, backup string) (Contents, error) { return sqlite.Count(ctx, backup) }

// Holds tells whether a backup has a pipeline, experiment, run or job of an id.
func Holds(ctx context.Context, backup, id string) (bool, error) {
	return sqlite.Holds(ctx, backup, id)
}

// Restore writes a backup of either kind of store to a place. A store in a file is kept under the name that is returned; a PostgreSQL
// database must be empty.
func Restore(ctx context.Context, backup, place string) (kept string, err error) {
	if Remote(place) {
		return "", postgres.Restore(ctx, backup, place)
	}
	return sqlite.Restore(ctx, backup, place)
}
