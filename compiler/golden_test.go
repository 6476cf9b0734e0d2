package compiler_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldens are pipelines whose workflows are kept in testdata under the same names.
var goldens = map[string]func() *dsl.Pipeline{
	"hello":     hello,
	"values":    values,
	"component": component,
	"if":        conditions,
	"each":      each,
	"exit":      exit,
	"mpi":       mpi,
	"mpi-bare":  mpiBare,
	"escapes":   escapes,
	"options":   options,
	"settings":  settings,
	"jobs":      jobs,
	"sweep":     sweep,
	"files":     files,
	"branches":  branches,
	"subs":      subs,
	"scripts":   scripts,
	"functions": functions,
	"collected": collected,
	"shared":    shared,
	"managed":   managed,
	"pasted":    pasted,
}

var alpine = dsl.Lit("alpine:3.22")

func hello() *dsl.Pipeline {
	p := dsl.New("hello", dsl.Description("says hello"))
	dsl.Run(p, "greet", dsl.Container{Image: alpine, Command: dsl.Args("echo", "hello, world")})
	return p
}

// values uses each kind of value in each place.
func values() *dsl.Pipeline {
	p := dsl.New("Values, of every kind", dsl.Description("a < b & c"))
	text := dsl.Param(p, "text", "some text", dsl.Help("any text"))
	number := dsl.Param(p, "number", 64)
	rate := dsl.Param(p, "learning-rate", 1e-4)
	flag := dsl.Param(p, "verbose", true)
	list := dsl.Param(p, "list", []string{"a", "b"})
	object := dsl.Param(p, "object", map[string]int{"b": 2, "a": 1})
	limit := dsl.Param(p, "limit", 90*time.Minute)

	first := dsl.Run(p, "first", dsl.Container{
		Image:           dsl.Sprintf("registry.example.com/%v:%s", text, "v1"),
		ImagePullPolicy: "Always",
		Command:         dsl.Args("python", "-c", "print(1)\nprint(2)\n"),
		Args:            dsl.Args("--number", number, rate, flag, list, object, limit, 1, 0.5, true, []int{1, 2}),
		WorkingDir:      dsl.Lit("/work"),
		Env: dsl.Env{
			"TEXT":     text,
			"EMPTY":    dsl.Lit(""),
			"POD":      dsl.FieldRef("metadata.name"),
			"WORKFLOW": dsl.Argo("workflow.name"),
		},
		Artifacts: []dsl.Artifact{
			{Name: "model", Path: "/out/model"},
			{Name: "mlpipeline-metrics", Path: "/mlpipeline-metrics.json", Optional: true},
		},
	})
	loss := dsl.Output[float64](first, "loss", "/out/loss")
	name := dsl.Output[string](first, "name", "/out/name", dsl.Default("none"))
	dsl.Run(p, "second", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Sprintf("%v/%v/%v", name, loss, number))})
	dsl.Run(p, "third", dsl.Container{Image: alpine, Args: dsl.Args("after both")}, dsl.After(first, name))
	return p
}

type fitIn struct {
	Data  dsl.Value[string]
	Rate  dsl.Value[float64]
	Extra dsl.Value[string] `dsl:",optional"`
}

type fitOut struct {
	*dsl.Step
	BestModel dsl.Value[string]
	Loss      dsl.Value[float64] `dsl:"final-loss"`
}

var fit = dsl.Define("fit", func(in fitIn, out fitOut) dsl.Container {
	return dsl.Container{
		Image:   dsl.Lit("python:3.13"),
		Command: dsl.Args("fit", "--data", in.Data, "--rate", in.Rate, "--model", dsl.Path(out.BestModel), "--loss", dsl.Path(out.Loss)),
	}
})

func component() *dsl.Pipeline {
	p := dsl.New("component")
	one := fit.Add(p, fitIn{Data: dsl.Lit("s3://data"), Rate: dsl.Param(p, "rate", 0.1)})
	two := fit.Add(p, fitIn{Data: one.BestModel, Rate: dsl.Lit(0.01)})
	fit.Add(p, fitIn{Data: dsl.Lit("s3://other"), Rate: two.Loss}, dsl.After(one))
	return p
}

func conditions() *dsl.Pipeline {
	p := dsl.New("if")
	mode := dsl.Param(p, "mode", "full")
	fitted := fit.Add(p, fitIn{Data: dsl.Lit("s3://data"), Rate: dsl.Lit(0.1)})
	p.If(dsl.Lt(fitted.Loss, 0.001), func() {
		dsl.Run(p, "deploy", dsl.Container{Image: alpine, Args: dsl.Args(fitted.BestModel)})
		p.If(dsl.Eq(mode, `it's "full"`), func() {
			dsl.Run(p, "announce", dsl.Container{Image: alpine, Args: dsl.Args(mode, fitted.Loss)})
		})
	})
	p.If(dsl.Ne(dsl.Param(p, "dry", false), true), func() {
		dsl.Run(p, "clean", dsl.Container{Image: alpine})
	})
	return p
}

func each() *dsl.Pipeline {
	p := dsl.New("each")
	rates := dsl.Param(p, "rates", []float64{1e-2, 1e-3})
	losses := dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.Value[[]float64] {
		inner := dsl.Each(p, dsl.Lit([]string{"a", "b \"quoted\"", "007"}), func(data dsl.Value[string]) fitOut {
			return fit.Add(p, fitIn{Data: data, Rate: rate})
		})
		dsl.Run(p, "peek", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Collect(inner.BestModel))})
		return dsl.Collect(inner.Loss)
	})
	all := dsl.Collect(losses)
	pick := dsl.Run(p, "pick", dsl.Container{Image: alpine, Args: dsl.Args("pick", all)})
	names := dsl.Output[[]string](pick, "names", "/tmp/names")
	dsl.Each(p, names, func(name dsl.Value[string]) *dsl.Step {
		return dsl.Run(p, "report", dsl.Container{Image: alpine, Args: dsl.Args(name)})
	})
	dsl.Each(p, dsl.Lit([]int{1, 9007199254740993}), func(n dsl.Value[int]) *dsl.Step {
		return dsl.Run(p, "count", dsl.Container{Image: alpine, Args: dsl.Args(n)}, dsl.After(pick))
	})
	type point struct {
		X    float64
		Tags []string
	}
	dsl.Each(p, dsl.Lit([]point{{1e-7, []string{"yes"}}, {X: 2}}), func(pt dsl.Value[point]) *dsl.Step {
		return dsl.Run(p, "place", dsl.Container{Image: alpine, Args: dsl.Args(pt)})
	})
	return p
}

func exit() *dsl.Pipeline {
	p := dsl.New("exit")
	channel := dsl.Param(p, "channel", "#training")
	dsl.Run(p, "work", dsl.Container{Image: alpine, Args: dsl.Args(channel)})
	p.OnExit(func() {
		note := dsl.Run(p, "note", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Argo("workflow.status"), channel)})
		p.If(dsl.Eq(dsl.Argo("workflow.status"), "Failed"), func() {
			dsl.Run(p, "page", dsl.Container{Image: alpine}, dsl.After(note))
		})
	})
	return p
}

// mpi sets every field of an MPIJob.
func mpi() *dsl.Pipeline {
	p := dsl.New("mpi")
	batch := dsl.Param(p, "batch_size", 64)
	job := train.MPIJob(p, "all-reduce", train.MPI{
		Image:            dsl.Param(p, "image", "horovod:1"),
		Command:          dsl.Sprintf("mpirun python train.py --batch_size %v --note 'a b'", batch),
		Workers:          dsl.Param(p, "workers", 2),
		Slots:            dsl.Lit(4),
		GPUs:             dsl.Lit(4),
		GPUTopology:      dsl.Param(p, "linked", true),
		CPU:              dsl.Param(p, "cpu_limit", "2"),
		Memory:           dsl.Param(p, "memory_limit", "10Gi"),
		SharedMemory:     dsl.Lit("2Gi"),
		Data:             []dsl.Value[string]{dsl.Param(p, "data", "user-susan:/training"), dsl.Lit("models:/models")},
		MountsOnLauncher: dsl.Lit(false),
		SSHPort:          dsl.Lit(2222),
		LauncherImage:    dsl.Param(p, "launcher", "registry:5000/argosy-launcher:1"),
		Env:              dsl.Env{"NCCL_DEBUG": dsl.Lit("INFO"), "TOKEN": dsl.Secret("login", "token"), "GREETING": dsl.Lit("hello, \"world\" $HOME")},
		Annotations:      map[string]dsl.Value[string]{"k8s.aliyun.com/eni": dsl.Lit("true")},
		Labels:           map[string]dsl.Value[string]{"team": dsl.Param(p, "team", "vision")},
		Git:              train.Git{Repo: dsl.Lit("https://example.com/code.git"), Branch: dsl.Lit("main"), Revision: dsl.Param(p, "revision", ""), Image: dsl.Lit("git-sync:4")},
		WorkingDir:       dsl.Lit("/workspace"),
		PendingTimeout:   dsl.Lit(6 * time.Hour),
		RunningTimeout:   dsl.Param(p, "timeout", 240*time.Hour),
		CleanPodPolicy:   train.CleanAll,
		Retries:          dsl.Lit(3),
		Metrics: []train.Metric{
			{Name: "images/sec"},
			{Name: "Train-accuracy", Format: train.Percentage},
			{Name: "loss", Reduce: train.Max},
			{NameFrom: dsl.Param(p, "metric", "speed:RAW:mean")},
		},
	})
	dsl.Run(p, "report", dsl.Container{Image: alpine, Args: dsl.Args(job.JobName, job.WorldSize)})
	return p
}

// mpiBare sets what is required and nothing else.
func mpiBare() *dsl.Pipeline {
	p := dsl.New("mpi-bare")
	train.MPIJob(p, "all-reduce", train.MPI{Image: dsl.Lit("horovod:1"), Command: dsl.Lit("mpirun hostname")})
	return p
}

// escapes holds texts that are something else in YAML, JSON or a shell.
func escapes() *dsl.Pipeline {
	p := dsl.New("日本語")
	v := dsl.Param(p, "yes", "no")
	dsl.Run(p, "odd", dsl.Container{Image: alpine, Args: dsl.Args(
		"yes", "null", "~", "0x1F", "1_000", "1:30", "2026-11-20", "<<", "=", "- a", "a: b", "# c", " lead", "trail ", "", "tab\t", "\r\n", "\n", "\n\ta\n", " a\nb", "a\n  b\n\n",
		"$(rm -rf /)", "`id`", "{}", "}}", "a{b", "'", `"`, `\`, "é\u2028", "!tag", "&anchor", "*alias", "%directive", "@at",
		"{{.Names}}", "{{workflow.name}}", "a{{{{b", "$${{(x)}}", dsl.Sprintf("{%v}", v), dsl.Sprintf("${%v{", v), dsl.Sprintf("%v{{%v", v, v),
		dsl.Sprintf("'%v'", v), dsl.Sprintf("%d%%", 5))},
		dsl.Sidecar("beside", dsl.Container{Image: alpine, Env: dsl.Env{"A": dsl.Lit("{{ a }}")}}))
	return p
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for name, build := range goldens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := compiler.Compile(build())
			require.NoError(t, err)
			validate(t, got)

			file := filepath.Join("testdata", name+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(file, got, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got; rewrite with -update):\n%s", file, diff)
			}
		})
	}
}

func TestCompileGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, build := range goldens {
		first, err := compiler.Compile(build())
		require.NoError(t, err)
		for range 20 { // the order of maps changes from one time to the next
			again, err := compiler.Compile(build())
			require.NoError(t, err)
			require.Equal(t, string(first), string(again), name)
		}
	}
}
