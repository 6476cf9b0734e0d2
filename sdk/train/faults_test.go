package train_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

var (
	image   = dsl.Lit("img:1")
	command = dsl.Lit("python train.py")
)

// faults are those of a pipeline, each as "step: message"; all must name the line above their call of here.
func faults(t *testing.T, build func(*dsl.Pipeline)) (got []string) {
	t.Helper()
	p := dsl.New("wrong")
	build(p)
	_, err := p.Graph()
	var all dsl.Faults
	if !errors.As(err, &all) {
		return nil
	}
	for _, f := range all {
		require.Equal(t, "faults_test.go", filepath.Base(f.At.File), "the user's file, not the SDK's: %v", f)
		require.Contains(t, f.Error(), fmt.Sprintf("faults_test.go:%d: ", f.At.Line))
		got = append(got, f.Step+": "+f.Message)
	}
	return got
}

// The mistakes of each kind, all at once.
func TestFaults(t *testing.T) {
	t.Parallel()
	ok := train.Spec{Image: image, Command: command}
	for name, tc := range map[string]struct {
		build func(*dsl.Pipeline)
		want  []string
	}{
		"unset": {func(p *dsl.Pipeline) { train.PyTorchJob(p, "fit", train.PyTorch{}) }, []string{"fit: Image is not set", "fit: Command is not set"}},
		"sweep": {func(p *dsl.Pipeline) {
			a, b := train.Vary("a", 1, 2, 1), train.Vary("a", true)
			train.Sweep(p, train.Matrix{Axes: []train.AnyAxis{a, b}}, func(c train.Cell) {
				job := ok
				job.Workers, job.CPU = a.Of(c), train.Vary("cpu", "1").Of(c)
				train.MPIJob(p, "fit", train.MPI(job))
			})
		}, []string{
			": Sweep: a has the value 1 twice", ": Sweep: an axis cannot have the name a, which is taken", ": Sweep: cpu is not among the Axes of its Matrix",
		}},
		"nothing to sweep": {func(p *dsl.Pipeline) {
			train.Sweep(p, train.Matrix{}, func(train.Cell) {})
			train.Sweep(p, train.Matrix{}, nil)
			train.Sweep(p, train.Matrix{Axes: []train.AnyAxis{train.Vary("a", []int{1})}}, func(train.Cell) { train.MPIJob(p, "fit", train.MPI(ok)) })
			train.Sweep(nil, train.Matrix{}, nil)
		}, []string{
			": Sweep has nothing to measure: Axes need values, and Repeats must be at least 1", ": Sweep has no function",
			": Sweep: a: a value must be a text, a number or a bool, not []int", ": Sweep: no step uses a: give it the axis's Of(cell)",
		}},
		"roles": {func(p *dsl.Pipeline) {
			job := train.TF{Spec: ok, PS: train.Role{Replicas: dsl.Lit(-1), CPU: dsl.Lit("many")}, Worker: train.Role{Replicas: dsl.Lit(2)}}
			job.Topology = train.Topology{Affinity: [][]string{{"ps", "server"}}}
			train.TFJob(p, "tf", job)
		}, []string{
			`tf: Topology: a TFJob has no role "server": it has ps, chief, evaluator, worker`, "tf: ps Replicas: must be at least 0, not -1",
			`tf: ps CPU: "many" is not a quantity: write it as 500m, 2, 512Mi or 10Gi`, "tf: worker Replicas is set: the number of workers is Workers",
		}},
		"tasks": {func(p *dsl.Pipeline) {
			train.VolcanoJob(p, "vc", train.Volcano{Spec: ok, Tasks: []train.Task{{Name: "a b"}, {Name: "w"}, {Name: "w"}}})
		}, []string{`vc: Tasks: "a b" is not the name of a role: use lower-case letters, digits and -`, "vc: Tasks: the name w is used twice"}},
		"kinds": {func(p *dsl.Pipeline) {
			job := ok
			job.Workers, job.Slots, job.CleanPodPolicy = dsl.Lit(2), dsl.Lit(2), train.CleanAll
			job.Topology.Order = []string{"main"}
			train.Job(p, "one", train.Single(job))
		}, []string{
			"one: Workers: a Job does not have it: it has one pod", "one: Slots: a Job does not have it: each of its pods is one process, as far as its operator knows",
			"one: Topology.Order: a Job does not have it: no scheduler learns of it", "one: CleanPodPolicy: a Job does not have it: it keeps its ended pods until it goes itself",
		}},
		"restarts": {func(p *dsl.Pipeline) {
			job := ok
			job.RestartPolicy = train.RestartOnFailure
			train.TFJob(p, "never", train.TF{Spec: job})
			job.Retries = dsl.Lit(0)
			train.JAXJob(p, "none", train.JAX(job))
			job.Retries = dsl.Param(p, "retries", 1)
			train.PyTorchJob(p, "some", train.PyTorch(job))
		}, []string{
			"never: RestartPolicy: OnFailure restarts a failed pod as often as the retries allow, and there are none: allow at least 1 retry, or leave the restart policy at Never",
			"none: RestartPolicy: OnFailure restarts a failed pod as often as the retries allow, and there are none: allow at least 1 retry, or leave the restart policy at Never",
		}},
		"places": {func(p *dsl.Pipeline) {
			job := ok
			job.Network, job.Queue, job.ImagePullPolicy = dsl.Param(p, "network", train.Network("VPN")), dsl.Lit("My Queue"), "always"
			job.NodeSelector = map[string]dsl.Value[string]{"a b": dsl.Lit("x"), "gpu": {}}
			job.Tolerations = []train.Toleration{{Key: "", Effect: "Never"}}
			job.Devices = map[string]dsl.Value[int]{"amd.com/gpu": dsl.Lit(-1), "x/y/z": {}}
			train.JAXJob(p, "jax", train.JAX(job))
		}, []string{
			"jax: Devices amd.com/gpu: must be at least 0, not -1", `jax: Devices: "x/y/z" is not a resource such as example.com/gpu`, "jax: Devices x/y/z is not set",
			`jax: ImagePullPolicy: "always" is not one of Always, IfNotPresent and Never`,
			`jax: NodeSelector: "a b" is not a Kubernetes name such as example.com/key`, `jax: NodeSelector gpu is not set: use dsl.Lit("") for an empty value`,
			`jax: Tolerations: ":Never": "" is not the key of a taint, such as example.com/key`,
			`jax: Network: "VPN" is not one of CNI, Host and ENI`, `jax: Queue: "My Queue" is not the name of an object: use lower-case letters, digits, . and -`,
		}},
		"code and metrics": {func(p *dsl.Pipeline) {
			job := ok
			job.Git, job.Rsync = train.Git{Repo: dsl.Lit("https://h/r.git")}, train.Rsync{Source: dsl.Lit("rsync://h/m")}
			job.Metrics = []train.Metric{{Name: "x", Pattern: "("}, {NameFrom: dsl.Param(p, "m", "y"), Pattern: "x"}}
			train.XGBoostJob(p, "xgb", train.XGBoost(job))
		}, []string{
			"xgb: Git and Rsync are both set: code comes from one of them", "xgb: Metrics: x: Pattern: error parsing regexp: missing closing ): `(`",
			"xgb: Metrics: a metric has a Pattern and NameFrom, which may bring its own: set Name",
		}},
		"nothing": {func(p *dsl.Pipeline) {
			size := train.PaddleJob(p, "first", train.Paddle(ok)).WorldSize
			job := ok
			job.Workers, job.TTL = size, dsl.Param(p, "ttl", time.Hour) // another step's output, a parameter
			train.MXJob(p, "second", train.MX{Spec: job})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, faults(t, tc.build))
		})
	}
}

// A fault names the line of the step.
func TestFaultsNameTheLine(t *testing.T) {
	t.Parallel()
	p := dsl.New("wrong")
	_, _, line, _ := runtime.Caller(0)
	train.MPIJob(p, "mpi", train.MPI{Image: image}) // one line on
	_, err := p.Graph()
	require.EqualError(t, err, fmt.Sprintf("faults_test.go:%d: step mpi: Command is not set", line+1))
}
