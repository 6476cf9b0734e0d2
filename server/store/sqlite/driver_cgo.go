//go:build cgo

package sqlite

import (
	"errors"
	"net/url"

	"github.com/mattn/go-sqlite3"
)

// SQLite itself, compiled from C: the fast way, and the one that releases for Linux take.
const driver = "sqlite3"

// pragma is the name and value of a connection's setting in a data source name.
func pragma(name, value string) (key, text string) { return "_" + name, value }

// tune adds what this driver can do beyond SQLite's own settings: each connection keeps the statements that it prepared last,
// which is half of the work of those that find a row.
func tune(dsn url.Values) { dsn.Set("_stmt_cache_size", "64") }

// brokenUnique tells whether err says that a UNIQUE rule was broken.
func brokenUnique(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrConstraintUnique
}
