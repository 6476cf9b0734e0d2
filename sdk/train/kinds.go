package train

import "github.com/argosy-ml/argosy/sdk/dsl"

type (
	// MPI is an MPIJob: mpirun, in the job's launcher pod, starts processes on the workers by ssh.
	MPI Spec
	// PyTorch is a PyTorchJob: a master, which is rank 0, and workers, who find it by MASTER_ADDR, RANK and WORLD_SIZE.
	PyTorch Spec
	// XGBoost is an XGBoostJob: a master, which runs the tracker, and workers.
	XGBoost Spec
	// Paddle is a PaddleJob: workers that meet at PADDLE_MASTER.
	Paddle Spec
	// JAX is a JAXJob: workers; the first is the coordinator.
	JAX Spec
	// TrainSpec is a TrainJob of Kubeflow Trainer: as many nodes as Workers says. Runtime describes their pods.
	TrainSpec Spec
	// Single is a Job: one pod.
	Single Spec
)

// TF is a TFJob: workers, and what else TF_CONFIG tells of. It ends with its chief, or its first worker.
type TF struct {
	Spec
	// PS are parameter servers, Chief leads the workers, Evaluator computes metrics beside them: none of each unless
	// its Replicas is set.
	PS, Chief, Evaluator Role
	// Worker says how workers differ from the other roles; Workers is their number.
	Worker Role
}

// MX is an MXJob, for clusters that still have this kind: workers, servers and a scheduler.
type MX struct {
	Spec
	// Server and Scheduler are one each unless Replicas is set.
	Server, Scheduler Role
}

// Volcano is a Job of Volcano's: tasks of any names, whose pods find each other by /etc/volcano and by VC_ variables.
type Volcano struct {
	Spec
	// Tasks are the job's groups of pods; without any there is one, worker, of as many pods as Workers says.
	Tasks []Task
}

// Task is a group of pods of a Volcano job.
type Task struct {
	// Name is unique in the job: lower-case letters, digits and dashes.
	Name string
	Role
	// Ends makes the job complete when the pods of this task are, whatever the others do.
	Ends bool
}

// kind is a kind of job; package option has what jobs of each can be given.
type kind struct {
	command, name string
	roles         []string // for Topology; nil when they have names of the user's
}

// MPIJob adds a step that runs an MPI job on several workers.
func MPIJob(p *dsl.Pipeline, name string, job MPI, opts ...dsl.StepOption) Outputs {
	return add(p, name, kind{command: "mpijob", name: "MPIJob"}, Spec(job), nil, opts)
}

// PyTorchJob adds a step that runs PyTorch on a master and workers.
func PyTorchJob(p *dsl.Pipeline, name string, job PyTorch, opts ...dsl.StepOption) Outputs {
	k := kind{command: "pytorchjob", name: "PyTorchJob", roles: []string{"master", "worker"}}
	return add(p, name, k, Spec(job), nil, opts)
}

// XGBoostJob adds a step that runs XGBoost on a master and workers.
func XGBoostJob(p *dsl.Pipeline, name string, job XGBoost, opts ...dsl.StepOption) Outputs {
	k := kind{command: "xgboostjob", name: "XGBoostJob", roles: []string{"master", "worker"}}
	return add(p, name, k, Spec(job), nil, opts)
}

// PaddleJob adds a step that runs PaddlePaddle on several workers.
func PaddleJob(p *dsl.Pipeline, name string, job Paddle, opts ...dsl.StepOption) Outputs {
	return add(p, name, kind{command: "paddlejob", name: "PaddleJob", roles: []string{"worker"}}, Spec(job), nil, opts)
}

// JAXJob adds a step that runs JAX on several workers.
func JAXJob(p *dsl.Pipeline, name string, job JAX, opts ...dsl.StepOption) Outputs {
	return add(p, name, kind{command: "jaxjob", name: "JAXJob", roles: []string{"worker"}}, Spec(job), nil, opts)
}

// TFJob adds a step that runs TensorFlow, or any program that reads TF_CONFIG, on workers and parameter servers.
func TFJob(p *dsl.Pipeline, name string, job TF, opts ...dsl.StepOption) Outputs {
	k := kind{command: "tfjob", name: "TFJob", roles: []string{"ps", "chief", "evaluator", "worker"}}
	return add(p, name, k, job.Spec, []Task{{Name: "ps", Role: job.PS}, {Name: "chief", Role: job.Chief}, {Name: "evaluator", Role: job.Evaluator}, {Name: "worker", Role: job.Worker}}, opts)
}

// MXJob adds a step that runs MXNet on workers, servers and a scheduler.
func MXJob(p *dsl.Pipeline, name string, job MX, opts ...dsl.StepOption) Outputs {
	k := kind{command: "mxjob", name: "MXJob", roles: []string{"server", "scheduler", "worker"}}
	return add(p, name, k, job.Spec, []Task{{Name: "server", Role: job.Server}, {Name: "scheduler", Role: job.Scheduler}}, opts)
}

// TrainJob adds a step that runs a TrainJob of Kubeflow Trainer on several nodes, in pods that the cluster's runtime describes.
func TrainJob(p *dsl.Pipeline, name string, job TrainSpec, opts ...dsl.StepOption) Outputs {
	return add(p, name, kind{command: "trainjob", name: "TrainJob", roles: []string{"node"}}, Spec(job), nil, opts)
}

// VolcanoJob adds a step that runs a Job of Volcano's.
func VolcanoJob(p *dsl.Pipeline, name string, job Volcano, opts ...dsl.StepOption) Outputs {
	return add(p, name, kind{command: "volcanojob", name: "VolcanoJob"}, job.Spec, job.Tasks, opts)
}

// Job adds a step that runs one pod. Beside a container step it has what the other kinds have: metrics, code, retries
// of its own, timeouts for waiting and running.
func Job(p *dsl.Pipeline, name string, job Single, opts ...dsl.StepOption) Outputs {
	return add(p, name, kind{command: "job", name: "Job"}, Spec(job), nil, opts)
}

// add records a step that runs the launcher.
func add(p *dsl.Pipeline, name string, k kind, job Spec, roles []Task, opts []dsl.StepOption) Outputs {
	step := dsl.Run(p, name, dsl.Container{
		Kind:            k.name,
		Image:           or(job.LauncherImage, LauncherImage),
		ImagePullPolicy: "IfNotPresent",
		Command:         dsl.Args("argosy-launcher"),
		Args:            job.args(name, k, roles),
		Env: dsl.Env{
			"POD_NAME":      dsl.FieldRef("metadata.name"),
			"POD_NAMESPACE": dsl.FieldRef("metadata.namespace"),
			"NODE_ID":       dsl.FieldRef("metadata.annotations['workflows.argoproj.io/node-id']"),
			"WORKFLOW_NAME": dsl.Argo("workflow.name"),
		},
		Artifacts: []dsl.Artifact{{Name: "mlpipeline-metrics", Path: "/mlpipeline-metrics.json", Optional: true}},
	}, opts...)
	job.check(step, k)
	checkRoles(step, k, roles)
	return Outputs{
		Step:        step,
		JobName:     dsl.Output[string](step, "job-name", "/tmp/argosy/job-name", dsl.Default("")),
		WorldSize:   dsl.Output[int](step, "world-size", "/tmp/argosy/world-size", dsl.Default("")),
		Environment: dsl.Output[string](step, "environment", "/tmp/argosy/environment", dsl.Default("")),
	}
}
