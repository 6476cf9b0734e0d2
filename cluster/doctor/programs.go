package doctor

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// beside are the programs that belong in the folder of this one. Ours are built
// from the same module as this program, argoexec is Argo's own.
var beside = []struct {
	name string
	ours bool
}{{"argosy-controlplane", true}, {"argosy-podinit", true}, {"argoexec", false}}

// lookAtPrograms finds those that are missing or of another build.
func (f *Facts) lookAtPrograms() {
	self, err := os.Executable()
	if err != nil {
		return
	}
	own, known := debug.ReadBuildInfo()
	for _, p := range beside {
		path := filepath.Join(filepath.Dir(self), p.name)
		if unix.Access(path, unix.X_OK) != nil {
			f.MissingPrograms = append(f.MissingPrograms, path)
			continue
		}
		other, err := buildinfo.ReadFile(path)
		switch {
		case err != nil:
			f.OtherBuilds = append(f.OtherBuilds, fmt.Sprintf("%s (%v)", p.name, err))
		case known && p.ours:
			if why := differs(own, other); why != "" {
				f.OtherBuilds = append(f.OtherBuilds, fmt.Sprintf("%s (%s)", p.name, why))
			}
		}
	}
}

// differs says what two programs of one module were built from that is not the
// same: the compiler, or a library that both have.
func differs(a, b *debug.BuildInfo) string {
	if a.GoVersion != b.GoVersion {
		return fmt.Sprintf("%s there, %s here", b.GoVersion, a.GoVersion)
	}
	versions := map[string]string{}
	for _, d := range a.Deps {
		versions[d.Path] = d.Version
	}
	for _, d := range b.Deps {
		if v, both := versions[d.Path]; both && v != d.Version {
			return fmt.Sprintf("%s %s there, %s here", d.Path, d.Version, v)
		}
	}
	return ""
}
