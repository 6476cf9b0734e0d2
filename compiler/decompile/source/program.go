// Package source writes the Go program that records a graph: what package dsl does, the other way round.
package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Program is a package main whose main calls compiler.Main with a function for each pipeline. The graphs must be such as
// the DSL can record.
func Program(pipelines ...*graph.Pipeline) ([]byte, error) {
	top := newNames(reserved)
	kinds := &kinds{names: top}
	var functions []string
	var body strings.Builder
	for _, g := range pipelines {
		name := top.exported(g.Name + " pipeline")
		functions = append(functions, name)
		fmt.Fprintf(&body, "\n// %s is the pipeline %s.\n", name, strings.Join(strings.Fields(g.Name), " "))
		body.WriteString(function(name, g, kinds))
	}
	for _, name := range kinds.own {
		fmt.Fprintf(&body, "\n// %s is a kind of file.\ntype %s struct{}\n", name, name)
	}
	text := body.String()
	packages, err := packagesIn(text)
	if err != nil {
		return nil, err
	}
	if packages["object"] {
		text += "\n// object is a JSON object as it is written.\ntype object struct{ json.RawMessage }\n"
		packages["json"] = true
	}
	var out bytes.Buffer
	out.WriteString("package main\n\nimport (\n")
	for _, p := range []struct{ name, path string }{
		{"json", "encoding/json"},
		{"time", "time"},
		{"", ""},
		{"compiler", modulePath + "/compiler"},
		{"dsl", modulePath + "/sdk/dsl"},
		{"train", modulePath + "/sdk/train"},
	} {
		switch {
		case p.name == "":
			out.WriteByte('\n')
		case packages[p.name] || p.name == "compiler":
			fmt.Fprintf(&out, "%q\n", p.path)
		}
	}
	out.WriteString(")\n")
	out.WriteString(text)
	fmt.Fprintf(&out, "\nfunc main() { compiler.Main(%s) }\n", strings.Join(functions, ", "))
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return nil, noGo(err)
	}
	return formatted, nil
}

const modulePath = "github.com/argosy-ml/argosy"

func noGo(err error) error {
	return fmt.Errorf("the generated source is not valid Go, which is a bug of this program: %w", err)
}

// packagesIn finds the names that a source uses, those of packages among them.
func packagesIn(text string) (map[string]bool, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", "package main\n"+text, parser.SkipObjectResolution)
	if err != nil {
		return nil, noGo(err)
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	return used, nil
}

// function writes the function that records a pipeline.
func function(name string, g *graph.Pipeline, kinds *kinds) string {
	w := newWriter(g, kinds)
	w.printf("func %s() *dsl.Pipeline {\np := dsl.New(%s)\n", name, strings.Join(append([]string{literal(g.Name)}, w.settings()...), ",\n"))
	w.parameters()
	for _, c := range g.Settings.Claims {
		options := ""
		if c.StorageClass != "" {
			options += fmt.Sprintf(", dsl.StorageClass(%q)", c.StorageClass)
		}
		if c.Mode == "ReadWriteMany" {
			options += ", dsl.ReadWriteMany()"
		}
		w.define(variable{claim: c.Name}, fmt.Sprintf("p.NewClaim(%q, %q%s)", c.Name, c.Size, options))
	}
	subPipelines{w}.all()
	w.printf("\n")
	w.nodes(g.Nodes)
	w.exit()
	w.printf("return p\n}\n")
	return w.b.String()
}

func (w *writer) settings() []string {
	s := w.g.Settings
	var options []string
	add := func(format string, args ...any) { options = append(options, fmt.Sprintf(format, args...)) }
	if w.g.Description != "" {
		add("dsl.Description(%s)", literal(w.g.Description))
	}
	if s.Pasted {
		add("dsl.PasteValues()")
	}
	if s.Parallelism > 0 {
		add("dsl.Parallelism(%d)", s.Parallelism)
	}
	if s.Timeout != "" {
		add("dsl.Timeout(dsl.Lit(%s))", duration(s.Timeout))
	}
	if s.TTL != nil {
		add("dsl.TTL(%s, %s)", duration(s.TTL.Success), duration(s.TTL.Failure))
	}
	if s.ServiceAccount != "" {
		add("dsl.ServiceAccount(dsl.Lit(%q))", s.ServiceAccount)
	}
	if len(s.ImagePullSecrets) > 0 {
		names := make([]string, len(s.ImagePullSecrets))
		for i, name := range s.ImagePullSecrets {
			names[i] = fmt.Sprintf("%q", name)
		}
		add("dsl.ImagePullSecrets(%s)", strings.Join(names, ", "))
	}
	if len(s.Labels) > 0 {
		add("dsl.Labels(%s)", w.pairs(s.Labels))
	}
	if len(s.Annotations) > 0 {
		add("dsl.Annotations(%s)", w.pairs(s.Annotations))
	}
	return options
}

// parameters declares the pipeline's parameters.
func (w *writer) parameters() {
	for _, p := range w.g.Params {
		kind := w.paramTypes[p.Name]
		call := fmt.Sprintf("dsl.Param(p, %q, %s", p.Name, constant(kind, p.Default))
		if p.Required {
			call = fmt.Sprintf("dsl.Required[%s](p, %q", kind, p.Name)
		}
		if p.Description != "" {
			call += fmt.Sprintf(", dsl.Help(%s)", literal(p.Description))
		}
		if len(p.Choices) > 0 {
			choices := make([]string, len(p.Choices))
			for i, c := range p.Choices {
				choices[i] = constant(kind, c)
			}
			call += ", dsl.Choices(" + strings.Join(choices, ", ") + ")"
		}
		for _, limit := range []struct{ option, value string }{{"Min", p.Min}, {"Max", p.Max}} {
			if limit.value != "" {
				call += fmt.Sprintf(", dsl.%s(%s)", limit.option, limit.value)
			}
		}
		w.define(variable{param: p.Name}, call+")")
	}
}

// exit writes the steps that run at the end.
func (w *writer) exit() {
	failures := 0
	for _, n := range w.g.Exit {
		if onFailure(n) {
			failures++
		}
	}
	linked := slices.ContainsFunc(w.g.Exit, func(n graph.Node) bool { return len(n.After) > 0 })
	if linked || failures == 0 {
		if len(w.g.Exit) > 0 {
			w.printf("p.OnExit(func() {\n")
			w.nodes(w.g.Exit)
			w.printf("})\n")
		}
		return
	}
	for i := 0; i < len(w.g.Exit); {
		n := w.g.Exit[i]
		if onFailure(n) {
			w.printf("p.OnFailure(func() {\n")
			w.nodes(n.If.Nodes)
			w.printf("})\n")
			i++
			continue
		}
		end := i
		for end < len(w.g.Exit) && !onFailure(w.g.Exit[end]) {
			end++
		}
		w.printf("p.OnExit(func() {\n")
		w.nodes(w.g.Exit[i:end])
		w.printf("})\n")
		i = end
	}
}

// onFailure says whether a node is what OnFailure records.
func onFailure(n graph.Node) bool {
	if n.If == nil || len(n.If.Else)+len(n.If.Outputs) > 0 {
		return false
	}
	c := n.If.Cond
	return c.Op == "!=" && c.Right == "Succeeded" && c.Type == graph.String && len(c.Left) == 1 && c.Left[0].Ref != nil && c.Left[0].Ref.Variable == "workflow.status"
}
