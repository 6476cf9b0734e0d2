// Package decompile turns a Workflow, such as the Python SDK of Kubeflow Pipelines or this module's compiler writes, or
// Argo's users write by hand, into Go source that compiles back to a workflow that does the same.
//
// It goes two ways in one: Raise makes of the workflow the graph that a program of the DSL would record, and package
// source writes that program.
package decompile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/argosy-ml/argosy/compiler/decompile/source"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Fault is something of a workflow that cannot be written with the DSL.
type Fault struct {
	Line, Column int
	Path         string // as in spec.templates[train].hostAliases
	Message      string
}

func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Path, f.Message) }

// Faults are all of a workflow's, in the order of its lines.
type Faults []*Fault

func (fs Faults) Error() string {
	texts := make([]string, len(fs))
	for i, f := range fs {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "\n")
}

// Source is the program for one workflow: a package main whose main calls compiler.Main. The error is Faults where the
// workflow holds what cannot be expressed.
func Source(manifest []byte) ([]byte, error) {
	g, err := Raise(manifest)
	if err != nil {
		return nil, err
	}
	return source.Program(g)
}

// Raise makes the graph that compiles to the workflow. Its error is Faults where no graph does.
func Raise(manifest []byte) (*graph.Pipeline, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(manifest)).Decode(&document); err != nil {
		return nil, fmt.Errorf("it is not valid YAML: %w", err)
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not a Workflow, which is a mapping with apiVersion, kind, metadata and spec")
	}
	if err := tame(&document); err != nil {
		return nil, err
	}
	r := newRaiser()
	r.workflow(&object{node: document.Content[0], all: &r.reader})
	r.settlePasting()
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b *Fault) int { return a.Line - b.Line })
		return nil, Faults(slices.CompactFunc(r.faults, func(a, b *Fault) bool { return *a == *b }))
	}
	r.settle()
	if err := r.g.Check(); err != nil { // what the DSL would refuse to record
		return nil, Faults{{Line: document.Content[0].Line, Column: document.Content[0].Column, Path: "spec", Message: err.Error()}}
	}
	return &r.g, nil
}
