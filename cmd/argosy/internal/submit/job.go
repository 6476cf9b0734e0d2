// Package submit makes a pipeline of one step out of a command line of `arena submit`.
//
// Flags fill in the structs of sdk/train, so a job that was submitted and a job that was written in Go take the same road:
// the DSL checks it, the compiler writes it, the launcher runs it.
package submit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/compiler"
	launcher "github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
	"github.com/argosy-ml/argosy/sdk/train"
)

// Kind is a kind of job that can be submitted.
type Kind struct {
	Name    string
	Aliases []string // Arena's other names
	Short   string

	flags func(*Job, *binder) // beside those of all kinds
	add   func(*Job, *dsl.Pipeline) train.Outputs
}

// Kinds are all kinds, by the names of Arena and of the launcher.
var Kinds = []*Kind{
	{
		Name: "mpijob", Aliases: []string{"mpi", "horovodjob", "hj"}, Short: "Run an MPIJob: mpirun starts processes on the workers",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.MPIJob(p, j.Name, train.MPI(j.spec)) },
	},
	{
		Name: "tfjob", Aliases: []string{"tf"}, Short: "Run a TFJob: workers, parameter servers, a chief, an evaluator", flags: (*Job).tfFlags,
		add: func(j *Job, p *dsl.Pipeline) train.Outputs {
			return train.TFJob(p, j.Name, train.TF{Spec: j.spec, PS: j.ps, Chief: j.chief, Evaluator: j.evaluator, Worker: j.worker})
		},
	},
	{
		Name: "pytorchjob", Aliases: []string{"pytorch"}, Short: "Run a PyTorchJob: a master and workers", flags: (*Job).pytorchFlags,
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.PyTorchJob(p, j.Name, train.PyTorch(j.spec)) },
	},
	{
		Name: "xgboostjob", Short: "Run an XGBoostJob: a master and workers",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.XGBoostJob(p, j.Name, train.XGBoost(j.spec)) },
	},
	{
		Name: "paddlejob", Short: "Run a PaddleJob: workers",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.PaddleJob(p, j.Name, train.Paddle(j.spec)) },
	},
	{
		Name: "jaxjob", Short: "Run a JAXJob: workers",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.JAXJob(p, j.Name, train.JAX(j.spec)) },
	},
	{
		Name: "mxjob", Short: "Run an MXJob: workers, servers and a scheduler", flags: (*Job).mxFlags,
		add: func(j *Job, p *dsl.Pipeline) train.Outputs {
			return train.MXJob(p, j.Name, train.MX{Spec: j.spec, Server: j.ps})
		},
	},
	{
		Name: "trainjob", Short: "Run a TrainJob of Kubeflow Trainer: nodes as a runtime of the cluster describes them",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.TrainJob(p, j.Name, train.TrainSpec(j.spec)) },
	},
	{
		Name: "volcanojob", Aliases: []string{"vj"}, Short: "Run a Volcano Job: workers that are scheduled together",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs {
			return train.VolcanoJob(p, j.Name, train.Volcano{Spec: j.spec})
		},
	},
	{
		Name: "job", Short: "Run one pod",
		add: func(j *Job, p *dsl.Pipeline) train.Outputs { return train.Job(p, j.Name, train.Single(j.spec)) },
	},
}

// KindNamed finds a kind by its name or by another name of Arena's.
func KindNamed(name string) (*Kind, error) {
	var names []string
	for _, k := range Kinds {
		if k.Name == name || slices.Contains(k.Aliases, name) {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, exit.Usagef("there is no kind of job %q: use one of %s", name, strings.Join(names, ", "))
}

// Job is a job as flags describe it.
type Job struct {
	// Name is that of the step and of its pipeline.
	Name string

	kind                         *Kind
	spec                         train.Spec
	ps, chief, evaluator, worker train.Role
	syncMode                     string
	syncSource, syncImage        string
	hostNetwork                  bool
}

// New is a job of a kind, without anything set.
func New(kind *Kind) *Job { return &Job{kind: kind} }

// DefaultMetric is the metric of a job whose command line names none.
const DefaultMetric = "images/sec"

// Pipeline is the pipeline of one step that runs the job. Words are the command, which the shell of the job's pods reads.
func (j *Job) Pipeline(words []string) (*graph.Pipeline, error) {
	if err := j.settle(words); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	p := dsl.New(j.Name)
	j.kind.add(j, p)
	g, err := p.Graph()
	if faults := (dsl.Faults{}); errors.As(err, &faults) {
		lines := make([]string, len(faults)) // the lines of this program mean nothing to its users
		for i, f := range faults {
			lines[i] = f.Message
		}
		return nil, exit.Usagef("%s", strings.Join(lines, "\n"))
	}
	if err != nil {
		return nil, err
	}
	return g, exit.With(exit.Usage, launchable(g))
}

// Workflow is the pipeline as an Argo Workflow in YAML.
func (j *Job) Workflow(words []string) ([]byte, error) {
	g, err := j.Pipeline(words)
	if err != nil {
		return nil, err
	}
	return compiler.CompileGraph(g)
}

// launchable has the launcher read what it will be given, so that what only the launcher refuses is refused at once.
func launchable(g *graph.Pipeline) error {
	var args []string
	for _, a := range g.Nodes[0].Container.Args {
		text, _ := a.Constant()
		args = append(args, text)
	}
	_, err := launcher.Parse(args)
	return err
}

// settle makes fields out of flags that depend on each other.
func (j *Job) settle(words []string) error {
	command := strings.Join(words, " ")
	if strings.TrimSpace(command) == "" {
		return fmt.Errorf("say what the job runs, in quotes behind the flags: argosy submit %s --image IMAGE \"COMMAND\"", j.kind.Name)
	}
	j.spec.Command = dsl.Lit(command)
	if !j.spec.Image.IsSet() {
		return errors.New("say in which image the job runs: --image IMAGE")
	}
	if j.Name == "" {
		j.Name = j.kind.Name
	}
	j.settleNetwork()
	if j.spec.Metrics == nil {
		j.spec.Metrics = []train.Metric{{Name: DefaultMetric}}
	}
	j.spec.Metrics = slices.DeleteFunc(j.spec.Metrics, func(m train.Metric) bool { return m.Name == "" }) // --metric= stands for none
	return j.settleCode()
}

// eni is the annotation that asks for an elastic network interface. Arena uses it before --hostNetwork.
const eni = "k8s.aliyun.com/eni"

func (j *Job) settleNetwork() {
	if v, ok := j.spec.Annotations[eni]; ok && v.String() == "true" {
		delete(j.spec.Annotations, eni) // the network brings it
		j.spec.Network = dsl.Lit(train.ENI)
	}
	if j.hostNetwork && !j.spec.Network.IsSet() {
		j.spec.Network = dsl.Lit(train.Host)
	}
}

// settleCode reads where code comes from. Branch and commit are variables of the environment with Arena.
func (j *Job) settleCode() error {
	source := j.syncSource != ""
	switch mode := j.syncMode; {
	case mode == "hdfs":
		return errors.New("--sync-mode hdfs: no image of Argosy has Hadoop's client: copy the code in the command, or use git or rsync")
	case mode != "" && mode != "git" && mode != "rsync":
		return fmt.Errorf("--sync-mode %s: want git or rsync", mode)
	case mode != "" && !source:
		return fmt.Errorf("--sync-mode %s needs --sync-source, the place to fetch code from", mode)
	case !source && j.syncImage != "":
		return errors.New("--sync-image needs --sync-source, the place to fetch code from")
	case !source:
	case mode == "rsync":
		j.spec.Rsync = train.Rsync{Source: dsl.Lit(j.syncSource), Image: given(j.syncImage)}
	default:
		j.spec.Git = train.Git{Repo: dsl.Lit(j.syncSource), Image: given(j.syncImage), Branch: j.takeEnv("GIT_SYNC_BRANCH"), Revision: j.takeEnv("GIT_SYNC_REV")}
	}
	return nil
}

// given is a text that is set unless it is empty.
func given(text string) dsl.Value[string] {
	if text == "" {
		return dsl.Value[string]{}
	}
	return dsl.Lit(text)
}

func (j *Job) takeEnv(name string) dsl.Value[string] {
	v := j.spec.Env[name]
	delete(j.spec.Env, name)
	return v
}

// Bind has a command line fill in the job. Names are written as now, --sync-mode, or as in Arena's early releases, --syncMode.
func (j *Job) Bind(f *pflag.FlagSet) {
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName { return pflag.NormalizedName(dashed(name)) })
	b := &binder{f}
	j.fieldFlags(b)
	j.otherFlags(b)
	b.leftOut()
	if j.kind.flags != nil {
		j.kind.flags(j, b)
	}
}
