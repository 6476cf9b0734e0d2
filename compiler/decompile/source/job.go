package source

import (
	"reflect"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/sdk/train/option"
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
	embedded                  bool
	roles                     []string // the fields of roles; nil where tasks have names of the user's, or there are none
}

var jobKinds = []jobKind{
	{command: "mpijob", function: "MPIJob", goType: "MPI"},
	{command: "pytorchjob", function: "PyTorchJob", goType: "PyTorch"},
	{command: "xgboostjob", function: "XGBoostJob", goType: "XGBoost"},
	{command: "paddlejob", function: "PaddleJob", goType: "Paddle"},
	{command: "jaxjob", function: "JAXJob", goType: "JAX"},
	{command: "tfjob", function: "TFJob", goType: "TF", embedded: true, roles: []string{"ps", "chief", "evaluator", "worker"}},
	{command: "mxjob", function: "MXJob", goType: "MX", embedded: true, roles: []string{"server", "scheduler"}},
	{command: "trainjob", function: "TrainJob", goType: "TrainSpec"},
	{command: "volcanojob", function: "VolcanoJob", goType: "Volcano", embedded: true},
	{command: "job", function: "Job", goType: "Single"},
}

// jobValue is an argument of the launcher: the value of a field, with a key where the field is a map, and a role where
// the field is one of a role's.
type jobValue struct {
	flag *jobFlag
	role string
	key  string
	text graph.Text
}

// jobFlag is one of the launcher's flags.
type jobFlag struct {
	*option.Option
	goType string // of the field's values
}

// jobFlags are in the order in which package train writes them.
var jobFlags = func() (flags []jobFlag) {
	for i := range option.Table {
		if o := &option.Table[i]; o.Flag != "" && o.Flag != "name" {
			flags = append(flags, jobFlag{o, goType(o)})
		}
	}
	return flags
}()

// goType is the type of an option's values: int where the field is a dsl.Value[int], or a list or map of such.
func goType(o *option.Option) string {
	of := reflect.ValueOf(train.Spec{})
	if o.Role {
		of = reflect.ValueOf(train.Task{})
	}
	field, ok := option.FieldOf(of, o.Field)
	if !ok {
		return ""
	}
	t := field.Type()
	if t.Kind() == reflect.Map || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	return name[strings.LastIndex(name, "/")+1:]
}

// prefix is how arguments of the flag begin.
func (f *jobFlag) prefix() string { return "--" + f.Flag + "=" }

// secret tells whether values are entries of secrets.
func (f *jobFlag) secret() bool { return f.Flag == "env-secret" }

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
	command := &jobFlag{&option.Option{Field: "Command"}, "string"}
	j.values = slices.Insert(j.values, 1, jobValue{flag: command, text: c.Args[len(c.Args)-1]})
	if constantOf(c.Image) != train.LauncherImage {
		j.values = append(j.values, jobValue{flag: &jobFlag{&option.Option{Field: "LauncherImage"}, "string"}, text: c.Image})
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
			if text, ok := cut(arg, f.prefix()); ok && !j.elsewhere(f) {
				v.flag, v.text, at = f, text, k
			} else if f.Always && f.Of(j.command) && (k > at || last.flag != f) {
				return false // it is written always
			}
		}
		if v.flag == nil || !j.take(&v, last) {
			return false
		}
		if v.flag.Role { // the flags of the next role come after those of this one
			at = slices.IndexFunc(jobFlags, func(f jobFlag) bool { return f.Role })
		}
		if !v.flag.Always || constantOrHole(v.text) != v.flag.Unset {
			j.values = append(j.values, v)
		}
		last = v
	}
	return len(j.values) > 0 && j.values[0].flag.Field == "Image"
}

// elsewhere tells whether a flag is that of a field of Git's where code comes by rsync, or the other way round.
func (j *job) elsewhere(f *jobFlag) bool {
	rsync := slices.ContainsFunc(j.values, func(v jobValue) bool { return v.flag.Flag == "sync-mode" && constantOf(v.text) == "rsync" })
	return rsync && strings.HasPrefix(f.Field, "Git.") || !rsync && strings.HasPrefix(f.Field, "Rsync.")
}

// take reads the role and the key of a value, and says whether it may stand behind the last one.
func (j *job) take(v *jobValue, last jobValue) bool {
	if v.flag.Role {
		var ok bool
		if v.role, v.text, ok = cutKey(v.text); !ok || !j.roleInOrder(v.role, v.flag, last) {
			return false
		}
	}
	if v.flag.Form.Keyed() {
		var ok bool
		if v.key, v.text, ok = cutKey(v.text); !ok {
			return false
		}
	}
	if v.flag.secret() && !j.takesSecret(v) {
		return false
	}
	if last.flag == v.flag && last.role == v.role {
		return v.flag.Form.Many || v.flag.Form.Keyed() && last.key < v.key
	}
	return true
}

// takesSecret says whether a variable is NAME=SECRET/KEY, and has no other value.
func (j *job) takesSecret(v *jobValue) bool {
	secret, key, ok := strings.Cut(constantOf(v.text), "/")
	return ok && secret != "" && key != "" && !strings.Contains(key, "/") &&
		!slices.ContainsFunc(j.values, func(other jobValue) bool {
			return other.flag.Field == v.flag.Field && other.flag != v.flag && other.key == v.key
		})
}

func (j *job) roleInOrder(role string, f *jobFlag, last jobValue) bool {
	if last.flag != nil && last.flag.Role && last.role == role {
		return slices.IndexFunc(jobFlags, func(o jobFlag) bool { return o.Flag == last.flag.Flag }) <=
			slices.IndexFunc(jobFlags, func(o jobFlag) bool { return o.Flag == f.Flag })
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
