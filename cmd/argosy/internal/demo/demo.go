// Package demo runs a sample as a user would, all of it over REST: compile, upload, run, follow, report.
package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/samples"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

// Config says which sample and where.
type Config struct {
	Client *client.Client
	Screen *terminal.Screen
	Dir    string         // of the sample; its base name is the name of the pipeline
	Work   string         // folder for the package
	Shared string         // folder that pods see at the same path, for the git repository
	Nodes  []samples.Node // what the cluster offers; none leaves the pipeline's own limits
}

// demo is one run of the sample.
type demo struct {
	Config
	name   string
	phases []phase
}

type phase struct {
	name string
	took time.Duration
}

// ErrRunFailed says that the sample ran and did not succeed; why is on the screen by then.
var ErrRunFailed = errors.New("the demo's run did not succeed")

// Run performs the demo and reports it on the screen.
func Run(ctx context.Context, cfg Config) error {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return fmt.Errorf("demo %s: %w", cfg.Dir, err)
	}
	d := &demo{Config: cfg, name: filepath.Base(dir)}
	d.Screen.Printf("\n%s, from Go source to metrics", d.name)
	run, err := d.perform(ctx)
	if err != nil {
		return err
	}
	d.report(run)
	if run.Status != client.Succeeded {
		d.Screen.Printf("\n%s the run %s: %s", d.Screen.Mark(terminal.Bad), run.Name, strings.ToLower(run.Status))
		runview.Explain(ctx, d.Screen.Writer(), d.Client, run)
		return ErrRunFailed
	}
	return nil
}

func (d *demo) perform(ctx context.Context) (*client.Run, error) {
	var source string
	var pkg, workflow []byte
	var request client.NewRun
	var parameters []samples.Parameter
	var run *client.Run
	steps := []struct {
		name string
		do   func() (detail string, err error)
	}{
		{"repository", func() (detail string, err error) { source, detail, err = d.repository(); return detail, err }},
		{"compile", func() (detail string, err error) { pkg, workflow, detail, err = d.compile(ctx); return detail, err }},
		{"upload", func() (detail string, err error) {
			request, detail, err = d.upload(ctx, pkg, workflow)
			return detail, err
		}},
		{"size", func() (detail string, err error) {
			parameters, detail, err = samples.Size(workflow, d.Nodes, 0)
			return detail, err
		}},
		{"create run", func() (detail string, err error) {
			run, detail, err = d.create(ctx, request, parameters, source)
			return detail, err
		}},
	}
	for _, s := range steps {
		if err := d.phase(s.name, s.do); err != nil {
			return nil, err
		}
	}
	begin := time.Now()
	run, err := d.follow(ctx, run)
	d.phases = append(d.phases, phase{"run", time.Since(begin)})
	return run, err
}

// phase does one step and tells how long it took.
func (d *demo) phase(name string, do func() (string, error)) error {
	begin := time.Now()
	idle := d.Screen.Busy(name)
	detail, err := do()
	idle()
	took := time.Since(begin)
	d.phases = append(d.phases, phase{name, took})
	if err != nil {
		d.Screen.Printf("  %s %-10s", d.Screen.Mark(terminal.Bad), name)
		return fmt.Errorf("%s: %w", name, err)
	}
	d.Screen.Printf("  %s %-10s %6s  %s", d.Screen.Mark(terminal.Good), name, output.Duration(took), detail)
	return nil
}

// repository makes the git repository that the sample trains from, if the sample brings sources for one.
func (d *demo) repository() (source, detail string, err error) {
	files := filepath.Join(d.Dir, "benchmarks")
	if _, err := os.Stat(files); errors.Is(err, fs.ErrNotExist) {
		return "", "none: the sample has no folder benchmarks", nil
	}
	source = filepath.Join(d.Shared, "benchmarks.git")
	commit, changed, err := samples.Repository(os.DirFS(files), source, samples.Branch)
	detail = fmt.Sprintf("%s at %.8s", source, commit)
	if !changed {
		detail += ", as before"
	}
	return source, detail, err
}

func (d *demo) compile(ctx context.Context) (pkg, workflow []byte, detail string, err error) {
	pkg, workflow, detail, err = d.packed()
	if pkg != nil || err != nil {
		return pkg, workflow, detail, err
	}
	var out bytes.Buffer
	if err := compiler.CompileDir(ctx, d.Dir, "-", "", &out); err != nil {
		return nil, nil, "", err
	}
	if err := os.MkdirAll(d.Work, 0o700); err != nil {
		return nil, nil, "", err
	}
	file := filepath.Join(d.Work, d.name+".tar.gz")
	if pkg, err = compiler.Pack(file, out.Bytes()); err != nil {
		return nil, nil, "", err
	}
	if err := os.WriteFile(file, pkg, 0o644); err != nil {
		return nil, nil, "", err
	}
	return pkg, out.Bytes(), fmt.Sprintf("%s, %d bytes", file, len(pkg)), nil
}

// packed reads the package that lies beside the program, as in the archives of a release, whose users need no Go. It returns nil where
// there is none, and where a source file is newer than the package.
func (d *demo) packed() (pkg, workflow []byte, detail string, err error) {
	file := filepath.Join(d.Dir, d.name+".tar.gz")
	made, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, "", nil
	}
	if err != nil {
		return nil, nil, "", err
	}
	sources, err := filepath.Glob(filepath.Join(d.Dir, "*.go"))
	if err != nil {
		return nil, nil, "", err
	}
	for _, source := range sources {
		if info, err := os.Stat(source); err != nil || info.ModTime().After(made.ModTime()) {
			return nil, nil, "", err
		}
	}
	if pkg, err = os.ReadFile(file); err != nil {
		return nil, nil, "", err
	}
	workflow, err = pkgfile.Read(file, pkg)
	return pkg, workflow, file + ", compiled before", err
}

// upload finds the pipeline with this very workflow, or makes it: a new pipeline, or a new version of the old one.
func (d *demo) upload(ctx context.Context, pkg, workflow []byte) (request client.NewRun, detail string, err error) {
	file := client.FileName(d.name + ".tar.gz")
	p, err := d.Client.Pipelines.ByName(ctx, d.name)
	if client.IsNotFound(err) {
		p, err = d.Client.Pipelines.Upload(ctx, d.name, bytes.NewReader(pkg), file, client.Description("The demo of argosy up"))
		if err != nil {
			return request, "", err
		}
		return client.NewRun{PipelineID: p.ID}, "pipeline " + p.Name, nil
	}
	if err != nil {
		return request, "", err
	}
	request.PipelineID = p.ID
	current, err := d.Client.Pipelines.Template(ctx, p.ID)
	if err != nil {
		return request, "", err
	}
	if same(workflow, []byte(current)) {
		return request, fmt.Sprintf("pipeline %s has this workflow already", p.Name), nil
	}
	// Versions are named by their content, so that going back to an older source finds the older version.
	name := fmt.Sprintf("%s-%.6x", d.name, sha256.Sum256(workflow))
	v, err := d.Client.Versions.ByName(ctx, p.ID, name)
	if client.IsNotFound(err) {
		v, err = d.Client.Versions.Upload(ctx, p.ID, name, bytes.NewReader(pkg), file)
	}
	if err != nil {
		return request, "", err
	}
	request.VersionID = v.ID
	return request, fmt.Sprintf("pipeline %s, version %s", p.Name, v.Name), nil
}

func (d *demo) create(ctx context.Context, n client.NewRun, parameters []samples.Parameter, source string) (*client.Run, string, error) {
	e, err := d.Client.Experiments.Ensure(ctx, d.name)
	if err != nil {
		return nil, "", err
	}
	n.Name, n.ExperimentID = d.name, e.ID
	n.Description = "Started by argosy up --demo"
	for _, p := range parameters {
		n.Parameters = append(n.Parameters, client.Parameter(p))
	}
	if source != "" {
		n.Parameters = append(n.Parameters, client.Parameter{Name: "sync_source", Value: source})
	}
	run, err := d.Client.Runs.Create(ctx, n)
	if err != nil {
		return nil, "", err
	}
	return run, d.Client.RunURL(run.ID), nil
}

// follow shows the steps as they go, and the lines with a throughput in them.
func (d *demo) follow(ctx context.Context, run *client.Run) (*client.Run, error) {
	idle := d.Screen.Busy("running")
	defer idle()
	f := runview.Follower{
		Client: d.Client,
		Step:   func(n client.Node) { runview.StepLine(d.Screen, n) },
		Line: func(_ client.Node, line string) {
			if strings.Contains(line, "images/sec") {
				d.Screen.Printf("      %s", line)
			}
		},
		Lost: func(_ client.Node, err error) { d.Screen.Printf("      %v", err) },
	}
	run, err := f.Run(ctx, run.ID)
	if err != nil {
		return nil, fmt.Errorf("follow the run: %w", err)
	}
	return run, nil
}

func (d *demo) report(run *client.Run) {
	p := output.Printer{Out: d.Screen.Writer(), Format: output.Table, Color: d.Screen.HasColor()}
	p.Heading("Steps")
	runview.StepTable(p, run)
	p.Heading("Metrics")
	runview.MetricTable(p, run)
	for _, w := range run.Warnings {
		d.Screen.Printf("warning: %s", w)
	}
	var times []string
	for _, ph := range d.phases {
		times = append(times, ph.name+" "+output.Duration(ph.took))
	}
	p.Heading("Times")
	d.Screen.Printf("%s", strings.Join(times, " · "))
	d.Screen.Printf("\n%s", d.Client.RunURL(run.ID))
}

// same tells whether two manifests say the same, however they are written.
func same(a, b []byte) bool {
	var x, y any
	return yaml.Unmarshal(a, &x) == nil && yaml.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
