// Package version knows what was built.
package version

import "runtime/debug"

// Version is the release; the build sets it, and a plain `go build` leaves "dev".
var Version = "dev"

// commit is set by builds that do not record it by themselves (-buildvcs=false).
var commit string

// Commit is the revision the binary was built from, as far as the build recorded it.
func Commit() string {
	if commit != "" {
		return commit
	}
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
