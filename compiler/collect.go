package compiler

import (
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Argo makes lists of the values that the passes of a loop give, and none of their files. So each pass writes its file to
// a key of the artifact repository that ends with the places of the items, and who reads the list is given the folder.

// isFolder says whether a reference is to files out of a loop.
func isFolder(r graph.Ref) bool { return r.File && r.Collected > 0 }

// folder returns the key of the files that a reference collects; with nothing collected, that of the one file. It begins
// with the run, and inside of a sub-pipeline with the call.
func (l *lowering) folder(r graph.Ref) graph.Text {
	key := graph.Text{
		{Text: "artifacts/"},
		{Ref: &graph.Ref{Variable: "workflow.name"}},
		{Text: "/collected/"},
		{Ref: &graph.Ref{Variable: "workflow.uid"}},
		{Text: "/"},
	}
	if l.sub {
		key = append(key, graph.Part{Ref: &graph.Ref{Call: true}}, graph.Part{Text: "/"})
	}
	key = append(key, graph.Part{Text: r.Step + "-" + r.Output})
	for _, loop := range slices.Backward(l.loops[r.Step][r.Collected:]) {
		key = append(key, graph.Part{Text: "/"}, graph.Part{Ref: &graph.Ref{Loop: loop, Index: true}})
	}
	return key
}

// keepFor notes that a file is collected: every step that may be the one to leave it writes it to its place.
func (l *lowering) keepFor(r graph.Ref) {
	r.Collected = 0
	var leaves func(graph.Ref)
	leaves = func(leaf graph.Ref) {
		if m, merged := l.merges[leaf]; merged {
			for _, from := range m.From {
				if from != nil {
					leaves(*from)
				}
			}
			return
		}
		if !slices.Contains(l.kept[leaf], r) {
			l.kept[leaf] = append(l.kept[leaf], r)
		}
	}
	leaves(r)
}

// artifacts returns what a step leaves. What is collected goes to its place as it is, since folders are not unpacked.
func (l *lowering) artifacts(n graph.Node) []artifact {
	var out []artifact
	names := map[string]bool{}
	for _, a := range n.Container.Artifacts {
		names[a.Name] = true
	}
	for _, a := range n.Container.Artifacts {
		plain := artifact{Name: a.Name, Path: text(a.Path), Optional: a.Optional}
		places := l.kept[graph.Ref{Step: n.Name, Output: a.Name, File: true}]
		if len(places) == 0 {
			out = append(out, plain)
		}
		for i, r := range places {
			kept := plain
			if i > 0 {
				kept.Name = free(a.Name, names)
			}
			kept.S3, kept.Archive = &s3File{render(l.folder(r), l.source)}, &archive{None: &struct{}{}}
			out = append(out, kept)
		}
	}
	return out
}

// collected returns a folder of collected files as an input.
func (l *lowering) collected(name string, r graph.Ref, where func(graph.Ref) source) artifact {
	return artifact{Name: name, S3: &s3File{render(l.folder(r), where)}, Archive: &archive{None: &struct{}{}}}
}

// keeps says whether something that a step leaves is collected. It must then leave it in each run.
func (l *lowering) keeps(n graph.Node) bool {
	return slices.ContainsFunc(n.Container.Artifacts, func(a graph.Artifact) bool {
		return len(l.kept[graph.Ref{Step: n.Name, Output: a.Name, File: true}]) > 0
	})
}

// index is the source of the place of an item, inside of its loop: Argo calls the pass LOOP(PLACE:ITEM).
func index() source {
	return source{expression: `sprig.trunc(-5, "0000" + split(split(tasks.name, "(")[1], ":")[0])`}
}

// word is the source of a word for a call of a sub-pipeline, inside of it. The name of its node is another for each, but
// may hold any text.
func word() source { return source{expression: `sprig.trunc(16, sprig.sha256sum(node.name))`} }

// references returns what a node refers to, with the keys of collected files for the files.
func (l *lowering) references(n graph.Node) []graph.Ref {
	own := references(n)
	if !slices.ContainsFunc(own, isFolder) && (n.Container == nil || !l.keeps(n)) {
		return own
	}
	var refs []graph.Ref
	add := func(r graph.Ref) {
		if !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	for _, r := range own {
		if !isFolder(r) {
			add(r)
			continue
		}
		for _, in := range l.folder(r).Refs() {
			add(in)
		}
	}
	if n.Container == nil {
		return refs
	}
	for _, a := range n.Container.Artifacts {
		for _, r := range l.kept[graph.Ref{Step: n.Name, Output: a.Name, File: true}] {
			for _, in := range l.folder(r).Refs() {
				add(in)
			}
		}
	}
	return refs
}
