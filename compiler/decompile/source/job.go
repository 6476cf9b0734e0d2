package source

import (
	"reflect"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
	"github.com/argosy-ml/argosy/sdk/train"
)

// job is a step of package train, read from the launcher's command line that the package wrote.
type job struct {
	jobKind
	values []jobValue
	roles  []string
	env    []graph.EnvVar // beside the launcher's own
}

// jobKind is a kind of jobs.
type jobKind struct {
	command, function, goType string
	embedded, single, slots   bool
	roles                     []string // the fields of roles; nil where tasks have names of the user's, or there are none
}

var jobKinds = []jobKind{
	{command: "mpijob", function: "MPIJob", goType: "MPI", slots: true},
	{command: "pytorchjob", function: "PyTorchJob", goType: "PyTorch", slots: true},
	{command: "xgboostjob", function: "XGBoostJob", goType: "XGBoost"},
	{command: "paddlejob", function: "PaddleJob", goType: "Paddle"},
	{command: "jaxjob", function: "JAXJob", goType: "JAX"},
	{command: "tfjob", function: "TFJob", goType: "TF", embedded: true, roles: []string{"ps", "chief", "evaluator", "worker"}},
	{command: "mxjob", function: "MXJob", goType: "MX", embedded: true, roles: []string{"server", "scheduler"}},
	{command: "volcanojob", function: "VolcanoJob", goType: "Volcano", embedded: true},
	{command: "job", function: "Job", goType: "Single", single: true},
}

// jobValue is an argument of the launcher: the value of a field, with a key where the field is a map, and a role where
// the field is one of a role's.
type jobValue struct {
	flag *jobFlag
	role string
	key  string
	text graph.Text
}

// jobFlag is one of the launcher's flags, in the order in which package train writes them.
type jobFlag struct {
	prefix, field, goType string
	always                bool   // also where the field is not set, with this value
	unset                 string // of always
	many, keyed, role     bool
}

// envSecret begins a variable whose value is an entry of a secret.
const envSecret = "--env-secret="

var jobFlags = []jobFlag{
	{prefix: "--image=", field: "Image", goType: "string", always: true},
	{prefix: "--workers=", field: "Workers", goType: "int", always: true, unset: "1"},
	{prefix: "--slots=", field: "Slots", goType: "int", always: true},
	{prefix: "--gpus=", field: "GPUs", goType: "int", always: true, unset: "0"},
	{prefix: "--gputopology=", field: "GPUTopology", goType: "bool"},
	{prefix: "--cpu=", field: "CPU", goType: "string", always: true},
	{prefix: "--memory=", field: "Memory", goType: "string", always: true},
	{prefix: "--shm=", field: "SharedMemory", goType: "string"},
	{prefix: "--device=", field: "Devices", goType: "int", keyed: true},
	{prefix: "--rdma=", field: "RDMA", goType: "bool"},
	{prefix: "--role-replicas=", field: "Replicas", goType: "int", role: true},
	{prefix: "--role-image=", field: "Image", goType: "string", role: true},
	{prefix: "--role-command=", field: "Command", goType: "string", role: true},
	{prefix: "--role-gpus=", field: "GPUs", goType: "int", role: true},
	{prefix: "--role-cpu=", field: "CPU", goType: "string", role: true},
	{prefix: "--role-memory=", field: "Memory", goType: "string", role: true},
	{prefix: "--role-selector=", field: "NodeSelector", goType: "string", role: true, keyed: true},
	{prefix: "--role-ends=", field: "Ends", role: true},
	{prefix: "--env=", field: "Env", goType: "string", keyed: true},
	{prefix: envSecret, field: "Env", goType: "string", keyed: true},
	{prefix: "--data=", field: "Data", goType: "string", many: true},
	{prefix: "--mounts-on-launcher=", field: "MountsOnLauncher", goType: "bool"},
	{prefix: "--annotation=", field: "Annotations", goType: "string", keyed: true},
	{prefix: "--label=", field: "Labels", goType: "string", keyed: true},
	{prefix: "--sync-mode=", field: "sync"},
	{prefix: "--sync-source=", field: "source", goType: "string"},
	{prefix: "--git-branch=", field: "Git.Branch", goType: "string"},
	{prefix: "--git-revision=", field: "Git.Revision", goType: "string"},
	{prefix: "--sync-image=", field: "image", goType: "string"},
	{prefix: "--working-dir=", field: "WorkingDir", goType: "string"},
	{prefix: "--shell=", field: "Shell", goType: "string"},
	{prefix: "--image-pull-policy=", field: "ImagePullPolicy"},
	{prefix: "--image-pull-secret=", field: "ImagePullSecrets", goType: "string", many: true},
	{prefix: "--service-account=", field: "ServiceAccount", goType: "string"},
	{prefix: "--selector=", field: "NodeSelector", goType: "string", keyed: true},
	{prefix: "--toleration=", field: "Tolerations", many: true},
	{prefix: "--network=", field: "Network", goType: "train.Network"},
	{prefix: "--ssh-port=", field: "SSHPort", goType: "int"},
	{prefix: "--host-ipc=", field: "HostIPC", goType: "bool"},
	{prefix: "--host-pid=", field: "HostPID", goType: "bool"},
	{prefix: "--gang=", field: "Gang", goType: "bool"},
	{prefix: "--queue=", field: "Queue", goType: "string"},
	{prefix: "--priority=", field: "Priority", goType: "string"},
	{prefix: "--scheduler=", field: "Scheduler", goType: "string"},
	{prefix: "--affinity=", field: "Topology.Affinity"},
	{prefix: "--anti-affinity=", field: "Topology.AntiAffinity"},
	{prefix: "--task-order=", field: "Topology.Order"},
	{prefix: "--tensorboard=", field: "TensorBoard.Enabled", goType: "bool"},
	{prefix: "--tensorboard-image=", field: "TensorBoard.Image", goType: "string"},
	{prefix: "--logdir=", field: "TensorBoard.LogDir", goType: "string"},
	{prefix: "--metric=", field: "Metrics", many: true},
	{prefix: "--pending-timeout=", field: "PendingTimeout", goType: "time.Duration"},
	{prefix: "--running-timeout=", field: "RunningTimeout", goType: "time.Duration"},
	{prefix: "--silence-timeout=", field: "SilenceTimeout", goType: "time.Duration"},
	{prefix: "--allow-fewer-ranks=", field: "AllowFewerRanks", goType: "bool"},
	{prefix: "--ttl-after-finished=", field: "TTL", goType: "time.Duration"},
	{prefix: "--clean-pod-policy=", field: "CleanPodPolicy"},
	{prefix: "--restart-policy=", field: "RestartPolicy"},
	{prefix: "--retries=", field: "Retries", goType: "int"},
}

// jobOf reads a step as a distributed job. It returns nil for other steps, and for jobs that package train would write differently.
func jobOf(n graph.Node) *job {
	c := n.Container
	env, ok := launcherEnv(c.Env)
	if !ok || c.ImagePullPolicy != "IfNotPresent" || len(c.WorkingDir)+len(c.Source) > 0 ||
		len(c.Command) != 1 || constantOf(c.Command[0]) != "argosy-launcher" || !launcherOutputs(c) || len(c.Args) < 5 {
		return nil
	}
	i := slices.IndexFunc(jobKinds, func(k jobKind) bool { return k.command == constantOf(c.Args[0]) })
	if name, isName := cut(c.Args[1], "--name="); i < 0 || !isName || constantOf(name) != n.Name {
		return nil
	}
	j := &job{jobKind: jobKinds[i], env: env}
	flags := c.Args[2 : len(c.Args)-2]
	if constantOf(c.Args[len(c.Args)-2]) != "--" || !j.read(flags) {
		return nil
	}
	command := &jobFlag{field: "Command", goType: "string"}
	j.values = slices.Insert(j.values, 1, jobValue{flag: command, text: c.Args[len(c.Args)-1]})
	if constantOf(c.Image) != train.LauncherImage {
		j.values = append(j.values, jobValue{flag: &jobFlag{field: "LauncherImage", goType: "string"}, text: c.Image})
	}
	return j
}

// read reads the flags, which must be in the order of package train.
func (j *job) read(args []graph.Text) bool {
	at := 0
	var last jobValue
	for _, arg := range args {
		v := jobValue{}
		for k := at; k < len(jobFlags) && v.flag == nil; k++ {
			f := &jobFlags[k]
			if text, ok := cut(arg, f.prefix); ok {
				v.flag, v.text, at = f, text, k
			} else if f.always && k > at && !j.lacks(f) || f.always && k == at && last.flag != f && !j.lacks(f) {
				return false // it is written always
			}
		}
		if v.flag == nil || !j.take(&v, last) {
			return false
		}
		if v.flag.role { // the flags of the next role come after those of this one
			at = slices.IndexFunc(jobFlags, func(f jobFlag) bool { return f.role })
		}
		if !v.flag.always || constantOrHole(v.text) != v.flag.unset {
			j.values = append(j.values, v)
		}
		last = v
	}
	return len(j.values) > 0 && j.values[0].flag.field == "Image"
}

// lacks says whether jobs of the kind have not a flag that others always have.
func (j *job) lacks(f *jobFlag) bool {
	return f.field == "Workers" && j.single || f.field == "Slots" && !j.slots
}

// take reads the role and the key of a value, and says whether it may stand behind the last one.
func (j *job) take(v *jobValue, last jobValue) bool {
	if v.flag.role {
		var ok bool
		if v.role, v.text, ok = cutKey(v.text); !ok || !j.roleInOrder(v.role, v.flag, last) {
			return false
		}
	}
	if v.flag.keyed {
		var ok bool
		if v.key, v.text, ok = cutKey(v.text); !ok {
			return false
		}
	}
	if v.flag.prefix == envSecret && !j.takesSecret(v) {
		return false
	}
	if last.flag == v.flag && last.role == v.role {
		return v.flag.many || v.flag.keyed && last.key < v.key
	}
	return true
}

// takesSecret says whether a variable is NAME=SECRET/KEY, and has no other value.
func (j *job) takesSecret(v *jobValue) bool {
	secret, key, ok := strings.Cut(constantOf(v.text), "/")
	return ok && secret != "" && key != "" && !strings.Contains(key, "/") &&
		!slices.ContainsFunc(j.values, func(other jobValue) bool {
			return other.flag.field == v.flag.field && other.flag != v.flag && other.key == v.key
		})
}

func (j *job) roleInOrder(role string, f *jobFlag, last jobValue) bool {
	if last.flag != nil && last.flag.role && last.role == role {
		return slices.IndexFunc(jobFlags, func(o jobFlag) bool { return o.prefix == last.flag.prefix }) <=
			slices.IndexFunc(jobFlags, func(o jobFlag) bool { return o.prefix == f.prefix })
	}
	if slices.Contains(j.roles, role) {
		return false
	}
	if known := j.jobKind.roles; known != nil {
		i := slices.Index(known, role)
		if i < 0 || len(j.roles) > 0 && i < slices.Index(known, j.roles[len(j.roles)-1]) {
			return false
		}
	} else if j.function != "VolcanoJob" {
		return false
	}
	j.roles = append(j.roles, role)
	return true
}

// cut takes a prefix from a text.
func cut(t graph.Text, prefix string) (graph.Text, bool) {
	if len(t) == 0 || t[0].Ref != nil {
		return nil, false
	}
	rest, ok := strings.CutPrefix(t[0].Text, prefix)
	if !ok {
		return nil, false
	}
	if rest == "" && len(t) > 1 {
		return t[1:], true
	}
	return append(graph.Text{{Text: rest}}, t[1:]...), true
}

// cutKey takes KEY= from a text.
func cutKey(t graph.Text) (string, graph.Text, bool) {
	if len(t) == 0 || t[0].Ref != nil {
		return "", nil, false
	}
	key, _, ok := strings.Cut(t[0].Text, "=")
	if !ok || key == "" {
		return "", nil, false
	}
	rest, _ := cut(t, key+"=")
	return key, rest, true
}

func constantOf(t graph.Text) string {
	s, _ := t.Constant()
	return s
}

// constantOrHole is the text of a constant, and of all else something that no constant is.
func constantOrHole(t graph.Text) string {
	if s, ok := t.Constant(); ok {
		return s
	}
	return "\x00"
}

// launcherEnv are the variables beside those of the launcher, which must be there.
func launcherEnv(env []graph.EnvVar) (others []graph.EnvVar, ok bool) {
	own := map[string]graph.EnvVar{
		"POD_NAME":      {FieldRef: "metadata.name"},
		"POD_NAMESPACE": {FieldRef: "metadata.namespace"},
		"NODE_ID":       {FieldRef: "metadata.annotations['workflows.argoproj.io/node-id']"},
		"WORKFLOW_NAME": {Value: graph.Text{{Ref: &graph.Ref{Variable: "workflow.name"}}}},
	}
	found := 0
	for _, e := range env {
		want, isOwn := own[e.Name]
		if want.Name = e.Name; isOwn && reflect.DeepEqual(e, want) {
			found++
			continue
		}
		others = append(others, e)
	}
	return others, found == len(own)
}

// launcherOutputs says whether a step leaves what the launcher does.
func launcherOutputs(c *graph.Container) bool {
	if len(c.Outputs) != 3 || len(c.Artifacts) != 1 {
		return false
	}
	for i, name := range []string{"job-name", "world-size", "environment"} {
		if o := c.Outputs[i]; o.Name != name || o.Path != "/tmp/argosy/"+name || o.Default == nil || *o.Default != "" {
			return false
		}
	}
	a := c.Artifacts[0]
	return a.Name == "mlpipeline-metrics" && a.Path == "/mlpipeline-metrics.json" && a.Optional
}
