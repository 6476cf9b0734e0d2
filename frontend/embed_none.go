//go:build !ui

// Package frontend holds the built web UI. Without the build tag "ui" it is empty, so that Go code builds without Node.
package frontend

import "io/fs"

// Dist gives the files of the UI with index.html at the root; nil when the binary was built without it.
func Dist() fs.FS { return nil }
