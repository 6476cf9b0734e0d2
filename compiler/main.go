package compiler

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// The exit codes of Main. They are those of the argosy command.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitRefused     = 3
	exitEnvironment = 4
)

// Main is the main function of a program of pipelines: it compiles them as the command line says, and exits.
//
//	-o FILE              where to write: .tar.gz, .tgz, .zip, .yaml; - for YAML on standard output; or a folder,
//	                     which gets NAME.tar.gz for each pipeline
//	--pipeline NAME      which of several pipelines
//	--param NAME=VALUE   another default of a parameter, and the value in the run of --submit; may be repeated
//	--image IMAGE        the container image, made by argosy image, in which the program's functions run
//	--submit             start a run on the server of --server, $ARGOSY_URL or ~/.config/argosy/config.json
//	--experiment NAME    the experiment of that run; made if there is none
//	--graph FORM         draw it instead: svg, dot or mermaid, to -o FILE or standard output
//	--validate           check all pipelines, also that each compiles to the same bytes twice
//	--dry-run            say what would be written or started, and do nothing
//
// The exit code is 0, 1 for faults in a pipeline, 2 for a wrong command line or parameter, 3 when the server refuses a name or
// state, 4 when no server answers.
func Main(pipelines ...func() *dsl.Pipeline) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Stdout, os.Stderr, pipelines)
	stop()
	os.Exit(code)
}

// options are what a command line asks for.
type options struct {
	out, pipeline      string
	graph              string
	submit             bool
	server, experiment string
	validate, dryRun   bool
	changes
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, pipelines []func() *dsl.Pipeline) int {
	if len(args) > 1 && args[1] == funcCommand {
		return runFunc(ctx, args[2:], stderr, pipelines)
	}
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	err = o.do(ctx, stdout, pipelines)
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	return code(err)
}

// wrongUse is a fault of the command line that shows only when the pipelines are known.
type wrongUse struct{ error }

// code is the exit code of a command that ended with err.
func code(err error) int {
	switch wrong := (wrongUse{}); {
	case err == nil:
		return exitOK
	case errors.As(err, &wrong), client.IsInvalid(err):
		return exitUsage
	case client.IsNotFound(err), client.IsConflict(err):
		return exitRefused
	case client.IsUnreachable(err):
		return exitEnvironment
	}
	return exitFailure
}

// parse reads a command line. Help, where asked for, goes to help.
func parse(args []string, help io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet(filepath.Base(args[0]), flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.out, "o", "", "`file` to write, ending in .tar.gz, .tgz, .zip or .yaml; - for YAML on standard output; or a folder, for all pipelines")
	flags.StringVar(&o.pipeline, "pipeline", "", "`name` of the pipeline to compile, where there are several")
	flags.Var(&o.params, "param", "another default of a parameter, as `name=value`; also its value in the run of --submit; may be repeated")
	flags.StringVar(&o.image, "image", "", "container `image`, made by argosy image, in which the program's functions run")
	flags.BoolVar(&o.submit, "submit", false, "start a run of the pipeline")
	flags.StringVar(&o.server, "server", "", "`URL` of the server to start it on (default $ARGOSY_URL, else that of ~/.config/argosy/config.json, else "+client.DefaultURL+")")
	flags.StringVar(&o.experiment, "experiment", "", "`name` of the run's experiment; made if there is none")
	flags.StringVar(&o.graph, "graph", "", "draw the pipeline as `svg, dot or mermaid`")
	flags.BoolVar(&o.validate, "validate", false, "check all pipelines, also that each compiles to the same bytes twice")
	flags.BoolVar(&o.dryRun, "dry-run", false, "say what would be written or started, and do nothing")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(help)
		flags.Usage()
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w (-h tells the flags)", err)
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.graph != "" && !slices.Contains(graphForms, o.graph):
		return nil, fmt.Errorf("--graph %s: want one of %s", o.graph, strings.Join(graphForms, ", "))
	case o.graph != "" && o.submit:
		return nil, errors.New("--graph draws and --submit starts: choose one")
	case !o.submit && (o.server != "" || o.experiment != ""):
		return nil, errors.New("--server and --experiment are for --submit")
	case o.out == "" && !o.submit && !o.validate && o.graph == "":
		return nil, errors.New("say where to write the pipeline: -o pipeline.tar.gz (or --submit, --graph svg, --validate)")
	}
	return o, nil
}

// do compiles the chosen pipelines and, if all are right, does with them what is asked for.
func (o *options) do(ctx context.Context, stdout io.Writer, pipelines []func() *dsl.Pipeline) error {
	recorded, err := record(pipelines)
	if err != nil {
		return err
	}
	// Checking is for all pipelines; a folder and nothing else takes all of them too.
	several := !o.submit && (o.out == "" && o.graph == "" || o.graph == "" && folder(o.out))
	chosen, err := choose(recorded, o.pipeline, several)
	if err != nil {
		return err
	}
	compiled, err := compileAll(chosen, o.changes)
	if err != nil {
		return err
	}
	if o.validate {
		if err := checkSame(pipelines, compiled, o.changes); err != nil {
			return err
		}
	}
	switch {
	case o.graph != "":
		return o.drawGraph(stdout, compiled[0])
	case o.out != "":
		if err := o.write(stdout, compiled); err != nil {
			return err
		}
	}
	if o.submit {
		return o.start(ctx, stdout, compiled[0])
	}
	if o.validate && o.out == "" {
		for _, c := range compiled {
			fmt.Fprintf(stdout, "pipeline %s is valid: %s, %d bytes of YAML\n", c.graph.Name, count(steps(c.graph.Nodes)+steps(c.graph.Exit), "step"), len(c.workflow))
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
		return nil, wrongUse{fmt.Errorf("there is no pipeline %q: the program has %s", name, list)}
	case len(pipelines) > 1 && !several:
		return nil, wrongUse{fmt.Errorf("the program has several pipelines: choose one with --pipeline, or give a folder with -o DIR/ for all: %s", list)}
	}
	return pipelines, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
