package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// files says how a container is given its files. Those that stand in its texts where the DSL itself would put them are
// given there, by their paths; for all others there is an option.
func (w *writer) files(c *graph.Container) (inline map[string]string, options []string) {
	inline = map[string]string{}
	for i, f := range c.Files {
		if f.Path == ownPath(i, f) {
			inline[f.Path] = w.file(f)
		}
	}
	var seen []string // in the order in which the DSL would come across them
	texts := slices.Concat(c.Command, c.Args)
	for _, e := range c.Env {
		texts = append(texts, e.Value)
	}
	for _, t := range texts {
		for _, p := range cutFiles(t, inline) {
			if p.file != "" && !slices.Contains(seen, p.path) {
				seen = append(seen, p.path)
			}
		}
	}
	for i, path := range seen {
		if i >= len(c.Files) || c.Files[i].Path != path {
			inline, seen = map[string]string{}, nil
			break
		}
	}
	for _, path := range slices.Sorted(maps.Keys(inline)) {
		if !slices.Contains(seen, path) {
			delete(inline, path)
		}
	}
	for _, f := range c.Files {
		if inline[f.Path] == "" {
			options = append(options, fmt.Sprintf("dsl.At(%q, %s)", f.Path, w.file(f)))
		}
	}
	return inline, options
}

// ownPath is the path that the DSL chooses for the file of this number.
func ownPath(i int, f graph.File) string {
	path := fmt.Sprintf("/tmp/inputs/%d", i+1)
	if refs := f.From.Refs(); len(refs) == 1 {
		path += "-" + refs[0].Output + refs[0].Input
	}
	return path
}

func (w *writer) file(f graph.File) string {
	if f.Import != nil {
		return w.imported(f.Import, "any")
	}
	code, _ := w.ref(*f.From[0].Ref)
	return code
}

func (w *writer) imported(i *graph.Import, kind string) string {
	from := ""
	switch {
	case len(i.HTTP) > 0:
		from = "dsl.FromHTTP(" + w.value(i.HTTP) + ")"
	case len(i.Git) > 0:
		revision := "dsl.Value[string]{}"
		if len(i.Revision) > 0 {
			revision = w.value(i.Revision)
		}
		from = "dsl.FromGit(" + w.value(i.Git) + ", " + revision + ")"
	case len(i.Key) > 0:
		from = "dsl.FromKey(" + w.value(i.Key) + ")"
	default:
		from = "dsl.FromText(" + w.value(i.Raw) + ")"
	}
	return "dsl.Import[" + kind + "](p, " + from + ")"
}

// piece is a part of a text: one of the graph, or a file in its place.
type piece struct {
	graph.Part
	file, path string
}

// cutFiles finds the paths of files in a text.
func cutFiles(t graph.Text, inline map[string]string) []piece {
	var out []piece
	for _, p := range t {
		if p.Ref != nil {
			out = append(out, piece{Part: p})
			continue
		}
		rest := p.Text
		for {
			at, path := firstPath(rest, inline)
			if at < 0 {
				break
			}
			if at > 0 {
				out = append(out, piece{Part: graph.Part{Text: rest[:at]}})
			}
			out = append(out, piece{file: inline[path], path: path})
			rest = rest[at+len(path):]
		}
		if rest != "" || len(t) == 1 && len(out) == 0 {
			out = append(out, piece{Part: graph.Part{Text: rest}})
		}
	}
	return out
}

// firstPath finds the first path of a file in a text, the longest where several begin.
func firstPath(text string, inline map[string]string) (int, string) {
	best, found := -1, ""
	for path := range inline {
		i := strings.Index(text, path)
		if i >= 0 && (best < 0 || i < best || i == best && len(path) > len(found)) {
			best, found = i, path
		}
	}
	return best, found
}

func hasFile(pieces []piece) bool {
	return slices.ContainsFunc(pieces, func(p piece) bool { return p.file != "" })
}

// wordWith is a text as an argument of dsl.Args, with its files.
func (w *writer) wordWith(t graph.Text, inline map[string]string) string {
	if pieces := cutFiles(t, inline); hasFile(pieces) {
		return w.join(pieces, false)
	}
	return w.word(t)
}

// join writes pieces, at least one of them a file. A file alone is not text.
func (w *writer) join(pieces []piece, text bool) string {
	if len(pieces) == 1 && !text {
		return pieces[0].file
	}
	var layout strings.Builder
	var args []string
	for _, p := range pieces {
		switch {
		case p.file != "":
			args = append(args, p.file)
		case p.Ref != nil:
			code, _ := w.ref(*p.Ref)
			args = append(args, code)
		default:
			layout.WriteString(strings.ReplaceAll(p.Text, "%", "%%"))
			continue
		}
		layout.WriteString("%v")
	}
	return "dsl.Sprintf(" + literal(layout.String()) + ", " + strings.Join(args, ", ") + ")"
}
