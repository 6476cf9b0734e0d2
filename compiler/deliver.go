package compiler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/draw"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// graphForms are what --graph draws.
var graphForms = []string{"svg", "dot", "mermaid"}

// write packs the pipelines into the file or folder of -o.
func (o *options) write(stdout io.Writer, all []compiled) error {
	if o.out == "-" {
		_, err := stdout.Write(all[0].workflow)
		return err
	}
	isFolder := folder(o.out)
	if isFolder && !o.dryRun {
		if err := os.MkdirAll(o.out, 0o755); err != nil {
			return err
		}
	}
	for _, c := range all {
		file := o.out
		if isFolder {
			file = filepath.Join(o.out, sanitize(c.graph.Name)+".tar.gz")
		}
		data, err := Pack(file, c.workflow)
		if err != nil {
			return wrongUse{err}
		}
		if o.dryRun {
			fmt.Fprintf(stdout, "would write %s: pipeline %s, %s, %d bytes\n", file, c.graph.Name, count(steps(c.graph.Nodes)+steps(c.graph.Exit), "step"), len(data))
			continue
		}
		if err := writeFile(file, data); err != nil {
			return fmt.Errorf("writing the package: %w", err)
		}
	}
	return nil
}

// folder says whether out is a folder, or is written like one.
func folder(out string) bool {
	if strings.HasSuffix(out, "/") || strings.HasSuffix(out, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(out)
	return err == nil && info.IsDir()
}

// Draw returns a picture of a pipeline: svg, dot or mermaid.
func Draw(g *graph.Pipeline, form string) (string, error) {
	switch d := draw.Of(g); form {
	case "svg":
		return d.SVG(), nil
	case "dot":
		return d.DOT(), nil
	case "mermaid":
		return d.Mermaid(), nil
	}
	return "", fmt.Errorf("cannot draw %q: want one of %s", form, strings.Join(graphForms, ", "))
}

func (o *options) drawGraph(stdout io.Writer, c compiled) error {
	picture, err := Draw(c.graph, o.graph)
	if err != nil {
		return err
	}
	switch {
	case o.out == "" || o.out == "-":
		_, err = io.WriteString(stdout, picture)
	case o.dryRun:
		_, err = fmt.Fprintf(stdout, "would write %s: a picture of pipeline %s, %d bytes\n", o.out, c.graph.Name, len(picture))
	default:
		if err = writeFile(o.out, []byte(picture)); err != nil {
			err = fmt.Errorf("writing the picture: %w", err)
		}
	}
	return err
}

// start starts a run of the pipeline on a server.
func (o *options) start(ctx context.Context, stdout io.Writer, c compiled) error {
	connect := func() (*client.Client, error) { return client.FromEnv() }
	if o.server != "" {
		connect = func() (*client.Client, error) { return client.New(o.server) }
	}
	server, err := connect()
	if err != nil {
		return err
	}
	n := client.NewRun{
		Name:        client.RunName(c.graph.Name),
		Description: c.graph.Description,
		Manifest:    string(c.workflow),
	}
	for _, p := range o.params {
		n.Parameters = append(n.Parameters, client.Parameter{Name: p.name, Value: p.value})
	}
	if o.dryRun {
		fmt.Fprintf(stdout, "would start a run of pipeline %s on %s", c.graph.Name, server.URL())
		if o.experiment != "" {
			fmt.Fprintf(stdout, " in experiment %s", o.experiment)
		}
		fmt.Fprintln(stdout)
		for _, p := range c.graph.Params {
			fmt.Fprintf(stdout, "  %s = %s\n", p.Name, p.Default)
		}
		return nil
	}
	if o.experiment != "" {
		e, err := server.Experiments.Ensure(ctx, o.experiment)
		if err != nil {
			return fmt.Errorf("experiment %s: %w", o.experiment, err)
		}
		n.ExperimentID = e.ID
	}
	r, err := server.Runs.Create(ctx, n)
	if e := (*client.Error)(nil); errors.As(err, &e) && e.Details != "" && e.Details != e.Message {
		return fmt.Errorf("%w\n%s", err, e.Details)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "run %s %s\n%s\n", r.Name, r.ID, server.RunURL(r.ID))
	return err
}
