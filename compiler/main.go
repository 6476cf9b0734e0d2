package compiler

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// Main is the main function of a program of pipelines: it compiles them as the command line says, and exits.
//
//	-o FILE          where to write: .tar.gz, .tgz, .zip, .yaml; - for YAML on standard output; or a folder,
//	                 which gets NAME.tar.gz for each pipeline
//	--pipeline NAME  which of several pipelines
//
// The exit code is 0, 1 for faults in a pipeline, 2 for a wrong command line.
func Main(pipelines ...func() *dsl.Pipeline) {
	os.Exit(run(os.Args, os.Stdout, os.Stderr, pipelines))
}

func run(args []string, stdout, stderr io.Writer, pipelines []func() *dsl.Pipeline) int {
	flags := flag.NewFlagSet(filepath.Base(args[0]), flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "", "`file` to write, ending in .tar.gz, .tgz, .zip or .yaml; - for YAML on standard output; or a folder, for all pipelines")
	name := flags.String("pipeline", "", "`name` of the pipeline to compile, where there are several")
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if *out == "" {
		fmt.Fprintln(stderr, "say where to write the pipeline: -o pipeline.tar.gz")
		return 2
	}
	if err := compileTo(*out, *name, stdout, pipelines); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// compileTo compiles the chosen pipelines and, if all are right, writes them.
func compileTo(out, name string, stdout io.Writer, pipelines []func() *dsl.Pipeline) error {
	recorded, err := record(pipelines)
	if err != nil {
		return err
	}
	isFolder := folder(out)
	chosen, err := choose(recorded, name, isFolder)
	if err != nil {
		return err
	}
	workflows, err := compileAll(chosen)
	if err != nil {
		return err
	}
	if out == "-" {
		_, err := stdout.Write(workflows[0])
		return err
	}
	if isFolder {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	for i, p := range chosen {
		file := out
		if isFolder {
			file = filepath.Join(out, sanitize(p.Name())+".tar.gz")
		}
		data, err := Pack(file, workflows[i])
		if err != nil {
			return err
		}
		if err := writeFile(file, data); err != nil {
			return fmt.Errorf("writing the package: %w", err)
		}
	}
	return nil
}

func record(pipelines []func() *dsl.Pipeline) ([]*dsl.Pipeline, error) {
	var recorded []*dsl.Pipeline
	for i, f := range pipelines {
		if f == nil {
			return nil, fmt.Errorf("compiler.Main: function %d is nil", i+1)
		}
		p := f()
		if p == nil {
			return nil, fmt.Errorf("compiler.Main: function %d returned no pipeline: it must return what dsl.New made", i+1)
		}
		recorded = append(recorded, p)
	}
	return recorded, nil
}

// folder says whether out is a folder, or is written like one.
func folder(out string) bool {
	if strings.HasSuffix(out, "/") || strings.HasSuffix(out, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(out)
	return err == nil && info.IsDir()
}

// choose returns the pipeline with the given name, or all if they may be several.
func choose(pipelines []*dsl.Pipeline, name string, several bool) ([]*dsl.Pipeline, error) {
	var names []string
	files := map[string]string{}
	for _, p := range pipelines {
		if p.Name() == name && name != "" {
			return []*dsl.Pipeline{p}, nil
		}
		names = append(names, p.Name())
		if other, twice := files[sanitize(p.Name())]; twice && several && name == "" {
			return nil, fmt.Errorf("pipelines %q and %q would be written to the same file: rename one, or choose one with --pipeline", other, p.Name())
		}
		files[sanitize(p.Name())] = p.Name()
	}
	list := strings.Join(names, ", ")
	switch {
	case len(pipelines) == 0:
		return nil, errors.New("the program has no pipelines: pass their functions to compiler.Main")
	case name != "":
		return nil, fmt.Errorf("there is no pipeline %q: the program has %s", name, list)
	case len(pipelines) > 1 && !several:
		return nil, fmt.Errorf("the program has several pipelines: choose one with --pipeline, or give a folder with -o DIR/ for all: %s", list)
	}
	return pipelines, nil
}

// compileAll compiles every pipeline and returns the faults of all together.
func compileAll(pipelines []*dsl.Pipeline) ([][]byte, error) {
	workflows := make([][]byte, len(pipelines))
	errs := make([]error, len(pipelines))
	for i, p := range pipelines {
		workflows[i], errs[i] = Compile(p)
	}
	return workflows, errors.Join(errs...)
}
