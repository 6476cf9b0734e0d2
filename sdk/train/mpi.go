package train

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// LauncherImage is the container image of the launcher.
const LauncherImage = "argosyml/argosy-launcher:dev"

// MPI says what an MPIJob is. Only Image and Command are required. Fields that are empty when the pipeline runs
// count as not set.
type MPI struct {
	// Image is the container image of the launcher of the MPI job and of its workers.
	Image dsl.Value[string]
	// Command is run by sh -c in the job's launcher pod, once all workers can be reached. It usually begins with mpirun.
	Command dsl.Value[string]

	// Workers is the number of pods that compute: 1 unless set.
	Workers dsl.Value[int]
	// Slots is the number of processes that mpirun starts on each worker: as many as the worker has GPUs, or 1.
	Slots dsl.Value[int]
	// GPUs is the number of GPUs of each worker: none unless set.
	GPUs dsl.Value[int]
	// CPU, Memory and SharedMemory are Kubernetes quantities, such as 500m and 10Gi, for each worker. SharedMemory
	// is the size of /dev/shm.
	CPU, Memory, SharedMemory dsl.Value[string]

	// Data mounts volume claims into every pod, each written claim:/path.
	Data []dsl.Value[string]
	// Env is set in every pod and, through mpirun, in every process.
	Env dsl.Env
	// Annotations and Labels are put on every pod.
	Annotations, Labels map[string]dsl.Value[string]

	// Git, if its Repo is set, is cloned into code/<name of the repository> under WorkingDir in every pod.
	Git Git
	// WorkingDir is where Command runs: /root unless set.
	WorkingDir dsl.Value[string]

	// Metrics are read from what the job prints, as in "images/sec: 189.6" or "loss=0.25".
	Metrics []Metric

	// PendingTimeout fails the step when the job has not started by then, RunningTimeout when it has not ended.
	PendingTimeout, RunningTimeout dsl.Value[time.Duration]
	// CleanPodPolicy says which pods of the job go when it has ended: CleanRunning unless set.
	CleanPodPolicy CleanPodPolicy
	// Retries is how often the job's command is started again when it fails: never unless set.
	Retries dsl.Value[int]
}

// Git is code to fetch before the job starts.
type Git struct {
	// Repo is the URL of the repository.
	Repo dsl.Value[string]
	// Branch is the one to check out: the repository's default unless set.
	Branch dsl.Value[string]
	// Revision is the commit or tag to check out: the newest of the branch unless set.
	Revision dsl.Value[string]
}

// CleanPodPolicy says which pods of an ended job are deleted.
type CleanPodPolicy string

// The clean pod policies.
const (
	CleanRunning CleanPodPolicy = "Running" // those still running, so that the others' logs stay
	CleanAll     CleanPodPolicy = "All"
	CleanNone    CleanPodPolicy = "None"
)

// MPIOutputs are the outputs of an MPIJob.
type MPIOutputs struct {
	*dsl.Step
	// JobName is the name of the MPIJob in the cluster.
	JobName dsl.Value[string]
	// WorldSize is the number of processes that were seen to take part.
	WorldSize dsl.Value[int]
}

// MPIJob adds a step that runs an MPI job on several workers.
func MPIJob(p *dsl.Pipeline, name string, job MPI, opts ...dsl.StepOption) MPIOutputs {
	step := dsl.Run(p, name, dsl.Container{
		Kind:            "MPIJob",
		Image:           dsl.Lit(LauncherImage),
		ImagePullPolicy: "IfNotPresent",
		Command:         dsl.Args("argosy-launcher"),
		Args:            job.args(name),
		Env: dsl.Env{
			"POD_NAME":      dsl.FieldRef("metadata.name"),
			"POD_NAMESPACE": dsl.FieldRef("metadata.namespace"),
			"NODE_ID":       dsl.FieldRef("metadata.annotations['workflows.argoproj.io/node-id']"),
			"WORKFLOW_NAME": dsl.Argo("workflow.name"),
		},
		Artifacts: []dsl.Artifact{{Name: "mlpipeline-metrics", Path: "/mlpipeline-metrics.json", Optional: true}},
	}, opts...)
	job.check(step)
	return MPIOutputs{
		Step:      step,
		JobName:   dsl.Output[string](step, "job-name", "/tmp/argosy/job-name", dsl.Default("")),
		WorldSize: dsl.Output[int](step, "world-size", "/tmp/argosy/world-size", dsl.Default("")),
	}
}

// args are the launcher's arguments. Each value is one argument, so nothing in it can become another.
func (job MPI) args(name string) []dsl.Value[string] {
	a := arguments{dsl.Lit("mpijob")}
	a.flag("Name", "--name=", dsl.Lit(name))
	a.flag("Image", "--image=", job.Image)
	a.flag("Workers", "--workers=", or(job.Workers, 1))
	a.flag("Slots", "--slots=", job.Slots)
	a.flag("GPUs", "--gpus=", or(job.GPUs, 0))
	a.flag("CPU", "--cpu=", job.CPU)
	a.flag("Memory", "--memory=", job.Memory)
	a.optional("SharedMemory", "--shm=", job.SharedMemory)
	a.pairs("Env", "--env=", job.Env)
	for _, data := range job.Data {
		a.flag("Data", "--data=", data)
	}
	a.pairs("Annotations", "--annotation=", job.Annotations)
	a.pairs("Labels", "--label=", job.Labels)
	if job.Git.Repo.IsSet() {
		a.flag("Git", "--sync-mode=", dsl.Lit("git"))
		a.flag("Git.Repo", "--sync-source=", job.Git.Repo)
		a.optional("Git.Branch", "--git-branch=", job.Git.Branch)
		a.optional("Git.Revision", "--git-revision=", job.Git.Revision)
	}
	a.optional("WorkingDir", "--working-dir=", job.WorkingDir)
	for _, m := range job.Metrics {
		a.flag("Metrics", "--metric=", m.rule())
	}
	a.optional("PendingTimeout", "--pending-timeout=", job.PendingTimeout)
	a.optional("RunningTimeout", "--running-timeout=", job.RunningTimeout)
	if job.CleanPodPolicy != "" {
		a.flag("CleanPodPolicy", "--clean-pod-policy=", dsl.Lit(string(job.CleanPodPolicy)))
	}
	a.optional("Retries", "--retries=", job.Retries)
	return append(a, dsl.Lit("--"), dsl.Named(or(job.Command, ""), "Command"))
}

// arguments is a command line under construction.
type arguments []dsl.Value[string]

// flag adds the value of a field, or nothing after the = where it is not set.
func (a *arguments) flag(field, flag string, v dsl.AnyValue) {
	if !v.IsSet() {
		v = dsl.Lit("")
	}
	*a = append(*a, dsl.Named(dsl.Sprintf("%s%v", flag, v), field))
}

func (a *arguments) optional(field, flag string, v dsl.AnyValue) {
	if v.IsSet() {
		a.flag(field, flag, v)
	}
}

func (a *arguments) pairs(field, flag string, m map[string]dsl.Value[string]) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		a.flag(field+" "+key, flag+key+"=", m[key])
	}
}

// or returns v, or the constant where v is not set.
func or[T any](v dsl.Value[T], constant T) dsl.Value[T] {
	if v.IsSet() {
		return v
	}
	return dsl.Lit(constant)
}

// atLeast reports a whole number that is known already and too small.
func atLeast(step *dsl.Step, field string, v dsl.Value[int], smallest int) {
	if known, ok := dsl.Known(v); ok {
		if n, err := strconv.Atoi(known); err == nil && n < smallest {
			step.Fault("%s is %d: it must be at least %d", field, n, smallest)
		}
	}
}
