// Package version knows what was built.
package version

import "runtime/debug"

// Version is the release; the build sets it, and a plain `go build` leaves "dev".
var Version = "dev"

// Commit is the revision the binary was built from, as far as the build recorded it.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
