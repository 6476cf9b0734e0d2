// Package store opens the store wherever it is kept.
package store

import (
	"context"
	"strings"

	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

// Remote tells whether a store's place is the address of a PostgreSQL database; otherwise it is the name of a SQLite file.
func Remote(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Open opens the store at a place and brings its schema up to date.
func Open(ctx context.Context, place string) (*sqlstore.Store, error) {
	if Remote(place) {
		return postgres.Open(ctx, place)
	}
	return sqlite.Open(ctx, place)
}

// Backup writes what the store at a place holds at this moment to a file, which must not be there yet.
func Backup(ctx context.Context, place, to string) error {
	if Remote(place) {
		return postgres.Backup(ctx, place, to)
	}
	return sqlite.Backup(ctx, place, to)
}

// Restore puts a backup of either kind of store at a place. The store that was there is kept under the name that is returned,
// if there was one; a PostgreSQL database must hold none.
func Restore(ctx context.Context, backup, place string) (kept string, err error) {
	if Remote(place) {
		return "", postgres.Restore(ctx, backup, place)
	}
	return sqlite.Restore(ctx, backup, place)
}
