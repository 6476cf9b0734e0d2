package dsl

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// File is an artifact: a file or folder that a step writes, or data from elsewhere. K is the kind of its content: one of the kinds here or
// a type of your own. Files of different kinds do not mix.
//
// Where a File stands in Command, Args or Env it is put into the container, and its path there takes its place.
type File[K any] struct{ text *text }

// The kinds of files that Kubeflow Pipelines knows.
type (
	Dataset struct{}
	Model   struct{}
	Metrics struct{} // JSON that Kubeflow Pipelines shows; its output is called mlpipeline-metrics unless tagged
	HTML    struct{}
)

// AnyFile is a File of any kind.
type AnyFile interface {
	AnyValue
	isFile()
}

// IsSet reports whether the file differs from the zero File.
func (f File[K]) IsSet() bool { return f.text != nil }

func (f File[K]) recorded() text {
	if f.text == nil {
		return text{}
	}
	return *f.text
}

func (f File[K]) kind() graph.Type { return kindOf(reflect.TypeFor[K]()) }
func (f File[K]) isFile()          {}
func (f File[K]) ended() []*node   { return f.recorded().producers() }
func (f *File[K]) set(t text)      { f.text = &t }

// kindOf names a kind: Model, and ModelList for a folder of models.
func kindOf(t reflect.Type) graph.Type {
	switch {
	case t.Kind() == reflect.Slice && t.Name() == "":
		return kindOf(t.Elem()) + "List"
	case t.Name() == "":
		return "Artifact"
	}
	return graph.Type(t.Name())
}

// OutputFile declares that the step writes a file or folder, and returns it.
func OutputFile[K any](s *Step, name, file string) File[K] {
	var f File[K]
	if s == nil || s.node == nil || s.node.Container == nil {
		f.set(faulty(caller(), "output %s belongs to no step that runs a container", name))
		return f
	}
	f.set(s.keep(name, file, f.kind()))
	return f
}

// keep records an artifact and returns the reference to it.
func (s *Step) keep(name, file string, kind graph.Type) text {
	s.checkFile("output", name, file)
	if slices.ContainsFunc(s.node.Container.Artifacts, func(a graph.Artifact) bool { return a.Name == name }) {
		s.Fault("artifact %s is declared twice", name)
	}
	s.node.Container.Artifacts = append(s.node.Container.Artifacts, graph.Artifact{Name: name, Path: file, Kind: kind})
	t := s.output(name)
	t.single().File = true
	return t
}

// imported is data from elsewhere.
type imported struct{ key, http, git, revision, raw Value[string] }

// Import returns existing data as a file, such as FromHTTP(dsl.Lit("https://example.com/data.csv")). Every step that uses it downloads it.
func Import[K any](p *Pipeline, from Source) File[K] {
	var f File[K]
	f.set(reference(ref{Ref: graph.Ref{File: true}, pipeline: p, imported: from.imported, imports: true}))
	return f
}

// Source is the location of data to import.
type Source struct{ imported *imported }

// FromKey is a file or folder in the cluster's artifact repository.
func FromKey(key Value[string]) Source { return Source{&imported{key: key}} }

// FromHTTP is a file behind a URL.
func FromHTTP(url Value[string]) Source { return Source{&imported{http: url}} }

// FromGit is a repository, at a branch, tag or commit: the repository's default unless set.
func FromGit(url, revision Value[string]) Source {
	return Source{&imported{git: url, revision: revision}}
}

// FromText is a file with this text.
func FromText(contents Value[string]) Source { return Source{&imported{raw: contents}} }

// plain turns an import into plain data.
func (p *Pipeline) plain(n *node, what string, i *imported) *graph.Import {
	if i == nil || !i.key.IsSet() && !i.http.IsSet() && !i.git.IsSet() && !i.raw.IsSet() {
		p.fault(n.At, n.stepName(), "%s: it is not said where the imported file comes from", what)
		return nil
	}
	text := func(part string, v Value[string]) graph.Text {
		if v.IsSet() && v.String() == "" && v.recorded().single() == nil {
			p.fault(n.At, n.stepName(), "%s: %s of the imported file is empty", what, part)
		}
		return p.use(n, what+": "+part, v)
	}
	if url, known := Known(i.http); known && url != "" && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		p.fault(n.At, n.stepName(), "%s: %q is not the URL of a file: it must begin with http:// or https://", what, url)
	}
	return &graph.Import{
		Key: text("the key", i.key), HTTP: text("the URL", i.http), Git: text("the repository", i.git),
		Revision: p.use(n, what+": the revision", i.revision), Raw: p.use(n, what+": the text", i.raw),
	}
}

// place puts a file into the container of node n, at a path of its own where none is given, and returns the path.
func (p *Pipeline) place(n *node, what string, r *ref, at string) (string, bool) {
	if n.Container == nil {
		p.fault(n.At, n.stepName(), "%s is a file: only steps read files", what)
		return "", false
	}
	f := graph.File{}
	if !r.imports {
		if !p.checkRef(n, what, r) {
			return "", false
		}
		own := r.Ref
		f.From = graph.Text{{Ref: &own}}
	} else if f.Import = p.plain(n, what, r.imported); f.Import == nil {
		return "", false
	}
	if at == "" {
		i := slices.IndexFunc(n.Container.Files, func(o graph.File) bool {
			return reflect.DeepEqual(o.From, f.From) && reflect.DeepEqual(o.Import, f.Import)
		})
		if i >= 0 {
			return n.Container.Files[i].Path, true
		}
		at = fmt.Sprintf("/tmp/inputs/%d", len(n.Container.Files)+1)
		if r.label != "" {
			at += "-" + r.label
		} else if r.Step != "" {
			at += "-" + r.Output
		} else if r.Input != "" {
			at += "-" + r.Input
		}
	}
	f.Path = at
	n.Container.Files = append(n.Container.Files, f)
	return at, true
}

// At puts a file into the step's container at an absolute path.
func At(at string, f AnyFile) StepOption {
	return stepOption(func(s *Step) {
		what := "At " + at
		switch {
		case s.beside != "":
			s.Fault("%s: files are of the whole step: they cannot be put into container %s alone", what, s.beside)
			return
		case f == nil || !f.IsSet():
			s.Fault("%s: the file is not set", what)
			return
		case !path.IsAbs(at) || path.Clean(at) == "/" || strings.Contains(at, "{{") || checkText(at) != nil:
			s.Fault("%s: it must be an absolute path in the container", what)
		case slices.ContainsFunc(s.node.Container.Files, func(o graph.File) bool { return o.Path == at }):
			s.Fault("%s: there is a file already", what)
		}
		s.pipeline.report(s.node, what, f.recorded())
		r := f.recorded().single()
		if r == nil {
			return
		}
		own := graph.Text{{Ref: &r.Ref}}
		if i := slices.IndexFunc(s.node.Container.Files, func(o graph.File) bool { return !r.imports && reflect.DeepEqual(o.From, own) }); i >= 0 {
			s.Fault("%s: the file is at %s already, since Command, Args or Env use it", what, s.node.Container.Files[i].Path)
			return
		}
		s.pipeline.place(s.node, what, r, at)
	})
}

// report notes the mistakes made on the way to a value.
func (p *Pipeline) report(n *node, what string, t text) {
	for _, f := range t.faults {
		p.fault(f.At, n.stepName(), "%s: %s", what, f.Message)
	}
}

// Script is a container that runs a script: an interpreter of the image, such as python3, and the script's text, which go:embed often
// supplies. Args follow the script's name.
func Script(image Value[string], interpreter, source string, args ...any) Container {
	return Container{Image: image, Command: Args(interpreter), Source: Lit(source), Args: Args(args...)}
}
