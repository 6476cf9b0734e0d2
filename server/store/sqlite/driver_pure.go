//go:build !cgo

package sqlite

import (
	"errors"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite translated to Go: builds for any system without its C compiler.
const driver = "sqlite"

// pragma is the name and value of a connection's setting in a data source name.
func pragma(name, value string) (key, text string) { return "_pragma", name + "(" + value + ")" }

// tune adds what this driver can do beyond SQLite's own settings: nothing.
func tune(url.Values) {}

// brokenUnique tells whether err says that a UNIQUE rule was broken.
func brokenUnique(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
}
