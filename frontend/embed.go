//go:build ui

// Package frontend holds the built web UI. Without the build tag "ui" it is empty, so that Go code builds without Node.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Dist gives the files of the UI with index.html at the root; nil when the binary was built without it.
func Dist() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // the name is a constant
		panic(err)
	}
	return files
}
