package decompile

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

var typeName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9]*$`)

// fileName is what the DSL takes for the name of an output.
var fileName = regexp.MustCompile(`^[-_a-zA-Z0-9]+$`)

// scriptFile is where the compiler puts a script that is given arguments.
const scriptFile = "/tmp/argosy/script"

// filesOf reads the artifacts that are put into a step's container.
func (r steps) filesOf(c *graph.Container, t *object, s *scope) {
	for _, a := range t.object("inputs").list("artifacts") {
		name, at := a.text("name"), a.text("path")
		f := s.files[name]
		switch {
		case !absolute(at):
			a.fault("its path is %q: the DSL puts it at an absolute path in the container", at)
			continue
		case name == "script" && at == scriptFile && f.imported != nil && isScript(c, f.imported):
			c.Source = f.imported.Raw
			c.Command = c.Command[:len(c.Command)-1]
			continue
		}
		out := graph.File{Path: at, Import: f.imported}
		if f.ref != nil {
			out.From = graph.Text{{Ref: f.ref}}
		}
		if out.Import == nil && slices.ContainsFunc(c.Files, func(o graph.File) bool { return o.Import == nil && reflect.DeepEqual(o.From, out.From) }) {
			a.fault("the same artifact at two paths cannot be expressed in the DSL")
		}
		c.Files = append(c.Files, out)
	}
}

// absolute says whether a path is one in a container.
func absolute(file string) bool {
	return strings.HasPrefix(file, "/") && strings.Trim(file, "/") != "" && !strings.ContainsAny(file, "{$")
}

// isScript says whether a container runs the script as the compiler has it run.
func isScript(c *graph.Container, i *graph.Import) bool {
	if len(i.Raw) == 0 || len(c.Command) < 2 || len(c.Args) == 0 {
		return false
	}
	last, ok := c.Command[len(c.Command)-1].Constant()
	return ok && last == scriptFile
}

// located reads where an artifact lies that no step leaves, if it is said.
func (r steps) located(s *scope, a *object) (file, bool) {
	var out *graph.Import
	here := s.within(a)
	here.env = map[string]bool{} // Argo hands the place to its executor in a variable
	asItIs := unpackedNever(a)
	if o := a.object("http"); o != nil {
		out = &graph.Import{HTTP: r.text(here, o.text("url"))}
		if !asItIs {
			o.fault("the file would be unpacked if it is an archive, and the DSL leaves it as it is: add archive: {none: {}} where that is right")
		}
		o.finish()
	}
	if o := a.object("git"); o != nil {
		out = &graph.Import{Git: r.text(here, o.text("repo")), Revision: r.optional(here, o, "revision")}
		o.finish()
	}
	if o := a.object("raw"); o != nil {
		out = &graph.Import{Raw: r.text(here, o.text("data"))}
		o.finish()
	}
	if o := a.object("s3"); o != nil {
		before := len(r.pasted)
		key := r.text(here, o.text("key"))
		o.finish()
		if ref, ok := r.folder(key); ok && asItIs {
			r.pasted = r.pasted[:before] // the compiler's own
			return file{ref: &ref}, true
		}
		out = &graph.Import{Key: key}
		if asItIs {
			o.fault("archive: none cannot be expressed in the DSL for a file of the cluster's artifact repository")
		}
	}
	return file{imported: out}, out != nil
}

// unpackedNever says whether an artifact is left as it is.
func unpackedNever(a *object) bool {
	o := a.object("archive")
	if o == nil {
		return false
	}
	_, none := field(o.node, "none")
	o.read = append(o.read, "none")
	o.finish()
	return none
}
