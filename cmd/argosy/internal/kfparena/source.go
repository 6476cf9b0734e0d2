package kfparena

import (
	"errors"
	"slices"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/compiler/decompile/source"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Source gives a Go program with the pipelines of a file, and notes about what is not quite as with arena. Its error is a Fault or
// Faults for what is not read.
func Source(file string, data []byte) (program []byte, notes []string, err error) {
	graphs, notes, err := Read(file, data)
	if err != nil {
		return nil, nil, err
	}
	program, err = source.Program(graphs...)
	return program, notes, err
}

// Read gives the pipelines of a file as graphs that compile.
func Read(file string, data []byte) (graphs []*graph.Pipeline, notes []string, err error) {
	r := &reader{file: file}
	pipelines, err := r.read(data)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pipelines {
		recorded, err := r.record(p)
		if err != nil {
			return nil, nil, err
		}
		// What is written is what comes back from the package, as with argosy import arena.
		manifest, err := compiler.CompileGraph(recorded)
		if err != nil {
			return nil, nil, errors.Join(&Fault{file, p.line, "the pipeline " + p.name + " does not compile"}, err)
		}
		g, err := decompile.Raise(manifest)
		if err != nil {
			return nil, nil, errors.Join(&Fault{file, p.line, "the pipeline " + p.name + " cannot be written in Go"}, err)
		}
		graphs = append(graphs, g)
	}
	slices.SortStableFunc(r.notes, func(a, b *Fault) int { return a.Line - b.Line })
	for _, n := range r.notes {
		notes = append(notes, n.Error())
	}
	return graphs, notes, nil
}
