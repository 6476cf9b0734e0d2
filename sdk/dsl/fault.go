package dsl

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Fault is one mistake in a pipeline.
type Fault struct {
	At      graph.Position
	Step    string // empty where the mistake belongs to no step
	Message string
}

// Error returns "main.go:12: step train: Image is not set". The file is relative to the working directory where
// it lies below it.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.At.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", relative(f.At.File), f.At.Line)
	}
	if f.Step != "" {
		fmt.Fprintf(&b, "step %s: ", f.Step)
	}
	b.WriteString(f.Message)
	return b.String()
}

// Faults are all the mistakes of a pipeline, in the order of its source.
type Faults []*Fault

// Error returns one fault per line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As access to each fault.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// sorted returns the faults by place and without repetitions: a value that is wrong is reported once, however
// often it is used.
func (fs Faults) sorted() Faults {
	fs = slices.Clone(fs)
	slices.SortStableFunc(fs, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
	return slices.CompactFunc(fs, func(a, b *Fault) bool { return *a == *b })
}

var errNilPipeline = errors.New("the pipeline is nil: its function must return what dsl.New made")

// sdkFolder is the source folder of the packages that record steps, with a slash at its end.
var sdkFolder = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(path.Dir(filepath.ToSlash(file))) + "/"
}()

// caller returns the place of the innermost call that is not in the SDK itself. Files tell, and functions don't:
// where one of the SDK's is inlined, what is in it counts as its caller's.
func caller() graph.Position {
	const some = 12 // most often enough
	for skip := 2; ; skip += some {
		pcs := make([]uintptr, some)
		found := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:found])
		for more := found > 0; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); frame.File != "" && !ours(filepath.ToSlash(frame.File)) {
				return graph.Position{File: frame.File, Line: frame.Line}
			}
		}
		if found < some {
			return graph.Position{}
		}
	}
}

// ours says whether a file is one of the SDK itself.
func ours(file string) bool {
	below, inSDK := strings.CutPrefix(file, sdkFolder)
	return inSDK && (strings.HasPrefix(below, "dsl/") || strings.HasPrefix(below, "train/")) && !strings.HasSuffix(below, "_test.go")
}

// relative is a file as the user names it where the program runs. Programs that are built with -trimpath know only which
// module it is of, and the module is the one around the working folder.
func relative(file string) string {
	wd, err := os.Getwd()
	if err != nil {
		return file
	}
	whole := file
	if !filepath.IsAbs(file) {
		module, root := moduleAround(wd)
		below, own := strings.CutPrefix(filepath.ToSlash(file), module+"/")
		if module == "" || !own {
			return file
		}
		whole = filepath.Join(root, filepath.FromSlash(below))
	}
	rel, err := filepath.Rel(wd, whole)
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return rel
}

// moduleAround returns the path and the folder of the module that a folder is in; nothing where it is in none.
func moduleAround(folder string) (module, root string) {
	for {
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil {
			for line := range strings.Lines(string(text)) {
				if name, found := strings.CutPrefix(line, "module "); found {
					return strings.Trim(strings.TrimSpace(name), `"`), folder
				}
			}
			return "", ""
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", ""
		}
		folder = above
	}
}
