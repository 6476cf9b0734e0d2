package dsl

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Container is a program to run in one container.
type Container struct {
	// Image is required.
	Image Value[string]
	// Command is the program, Args what it is given; without Command the image's own is run. Each element arrives
	// as one argument, whatever characters it holds: no shell reads it, and Kubernetes sees no variables in it. EnvOf
	// is for when it should.
	Command, Args []Value[string]
	Env           Env
	WorkingDir    Value[string]
	// Source, if set, is a script. Command is its interpreter, whose arguments are the script's file and then Args.
	Source Value[string]
	// Artifacts are files to keep after the step.
	Artifacts []Artifact
	// ImagePullPolicy is Always, IfNotPresent or Never. Default: the cluster's.
	ImagePullPolicy string
	// Kind is the step's kind in drawings. Default: Container.
	Kind string

	function string // of Func, which has no image and no command of its own
}

// Env is a set of environment variables.
type Env map[string]Value[string]

// Artifact is a file or folder of the container to keep after the step.
type Artifact struct {
	Name string
	Path string // absolute, in the container
	// Optional allows the program not to write it.
	Optional bool
}

// Step is a recorded step.
type Step struct {
	pipeline *Pipeline
	node     *node
	box      *graph.Container // what options for containers set: the node's own, or that of a sidecar
	beside   string           // the name of the sidecar
	// ownMounts is set for a sidecar that sees only what it mounts itself.
	ownMounts bool
}

// Handle is an argument of After: a *Step, or a Value or File that is an output of one.
type Handle interface{ ended() []*node }

func (s *Step) ended() []*node {
	if s == nil || s.node == nil {
		return nil
	}
	return []*node{s.node}
}

func (v Value[T]) ended() []*node { return v.recorded().producers() }

// After makes the step wait until the others have succeeded. A step always waits for the steps whose outputs it uses.
func After(others ...Handle) StepOption {
	return stepOption(func(s *Step) {
		for i, other := range others {
			var nodes []*node
			if other != nil {
				nodes = other.ended()
			}
			if len(nodes) == 0 {
				s.Fault("After: argument %d must be a step or an output of a step", i+1)
			}
			for _, n := range nodes {
				if !s.pipeline.has(n) {
					s.Fault("After: %s is a step of another pipeline", n.Name)
				} else if err := s.node.wait(n); err != nil {
					s.Fault("After: %v", err)
				}
			}
		}
	})
}

var (
	stepName  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	groupName = regexp.MustCompile(`^(condition|for-loop|branch)-[0-9]+$`)
	envName   = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)
	fileName  = regexp.MustCompile(`^[-_a-zA-Z0-9]+$`)
)

// hostImage is the image of the embedded cluster that has this machine's files.
const hostImage = "host"

// stepNameMax leaves room in a pod's name for what Argo and the operators add.
const stepNameMax = 50

// Run adds a step that runs a container. The name is unique in the pipeline: lower-case letters, digits and
// dashes, beginning with a letter, at most 50 characters.
func Run(p *Pipeline, name string, c Container, opts ...StepOption) *Step {
	if p == nil {
		return &Step{}
	}
	s := p.begin(name, c.Kind)
	p.fill(s, c, opts)
	return s
}

// begin records an empty step and checks its name.
func (p *Pipeline) begin(name, kind string) *Step {
	if kind == "" {
		kind = "Container"
	}
	box := &graph.Container{}
	s := &Step{pipeline: p, node: p.add(graph.Node{Name: name, Kind: kind, At: caller(), Container: box}), box: box}
	first, twice := p.names[name]
	switch {
	case twice:
		s.Fault("the name is used twice, first at %s", place(first))
		return s
	case !stepName.MatchString(name) || len(name) > stepNameMax:
		p.fault(s.node.At, "", "step %q: the name must hold only lower-case letters, digits and -, begin with a letter, end with a letter or digit, and have at most %d characters", name, stepNameMax)
	case groupName.MatchString(name):
		s.Fault("names like condition-1 and for-loop-1 are those of conditions and loops: choose another")
	}
	p.names[name] = s.node.At
	return s
}

// fill records what the step runs.
func (p *Pipeline) fill(s *Step, c Container, opts []StepOption) {
	s.apply(p.defaults)
	s.contain(c)
	for _, a := range c.Artifacts {
		s.checkFile("artifact", a.Name, a.Path)
		if slices.ContainsFunc(s.box.Artifacts, func(b graph.Artifact) bool { return a.Name == b.Name }) {
			s.Fault("artifact %s is declared twice", a.Name)
		}
		s.box.Artifacts = append(s.box.Artifacts, graph.Artifact{Name: a.Name, Path: a.Path, Optional: a.Optional})
	}
	s.apply(opts)
	s.checkPatch()
}

// contain records a container, the step's own or one beside it.
func (s *Step) contain(c Container) {
	g := s.box
	what := ""
	if s.beside != "" {
		what = s.beside + " "
	}
	if g.Func = c.function; g.Func != "" {
		c.Image = s.pipeline.program
	}
	if g.Func != "" && !c.Image.IsSet() {
		c.Image = Lit(hostImage)
	}
	if !c.Image.IsSet() {
		s.Fault("%sImage is not set: it is the container image to run, as in dsl.Lit(\"alpine:3.22\")", what)
	} else if c.Image.String() == "" { // a parameter may be empty: the run sets it
		s.Fault("%sImage is empty", what)
	}
	g.Image = s.pipeline.use(s.node, what+"Image", c.Image)
	g.ImagePullPolicy = c.ImagePullPolicy
	if !slices.Contains([]string{"", "Always", "IfNotPresent", "Never"}, c.ImagePullPolicy) {
		s.Fault("%sImagePullPolicy is %q: it must be Always, IfNotPresent or Never", what, c.ImagePullPolicy)
	}
	g.Command = s.list(what+"Command", c.Command)
	g.Args = s.list(what+"Args", c.Args)
	g.WorkingDir = s.pipeline.use(s.node, what+"WorkingDir", c.WorkingDir)
	g.Source = s.pipeline.use(s.node, what+"Source", c.Source)
	switch {
	case c.Source.IsSet() && s.beside != "":
		s.Fault("container %s: only the step's own container has a Source", s.beside)
	case c.Source.IsSet() && len(c.Command) == 0:
		s.Fault("Source needs a Command, its interpreter, as in dsl.Args(\"python3\")")
	case c.Source.IsSet() && c.Source.String() == "":
		s.Fault("Source is empty: is a //go:embed missing before the variable?")
	}
	if len(c.Command) > 0 && c.Command[0].IsSet() && c.Command[0].String() == "" {
		s.Fault("%sCommand[0], the program to run, is empty", what)
	}
	s.variables(c.Env)
}

// variables sets environment variables, or replaces those of the same names.
func (s *Step) variables(env Env) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		v := s.env(name, env[name])
		i, found := slices.BinarySearchFunc(s.box.Env, name, func(e graph.EnvVar, name string) int { return strings.Compare(e.Name, name) })
		if found {
			s.box.Env[i] = v
		} else {
			s.box.Env = slices.Insert(s.box.Env, i, v)
		}
	}
}

func (s *Step) list(what string, values []Value[string]) []graph.Text {
	texts := make([]graph.Text, 0, len(values))
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", what, i)
		if !v.IsSet() {
			s.Fault("%s is not set", at)
		}
		texts = append(texts, s.pipeline.useArg(s.node, at, v))
	}
	return texts
}

func (s *Step) env(name string, v Value[string]) graph.EnvVar {
	what := "Env " + name
	if !envName.MatchString(name) {
		s.Fault("Env %q is not a name for an environment variable: use letters, digits and _", name)
	}
	if !v.IsSet() {
		s.Fault("%s is not set: use dsl.Lit(\"\") for an empty value", what)
		return graph.EnvVar{Name: name}
	}
	if r := v.recorded().single(); r != nil && r.source != nil {
		e := *r.source
		e.Name = name
		return e
	}
	return graph.EnvVar{Name: name, Value: s.pipeline.useArg(s.node, what, v)}
}

func (s *Step) checkName(kind, name string) {
	if !fileName.MatchString(name) {
		s.Fault("%s %q: the name must hold only letters, digits, - and _", kind, name)
	}
}

func (s *Step) checkFile(kind, name, file string) {
	s.checkName(kind, name)
	if !path.IsAbs(file) || path.Clean(file) == "/" || strings.Contains(file, "{{") || strings.Contains(file, "$") || checkText(file) != nil {
		s.Fault("%s %s: its path %q must be an absolute path in the container", kind, name, file)
	}
}

// Name returns the step's name.
func (s *Step) Name() string {
	if s == nil || s.node == nil {
		return ""
	}
	return s.node.Name
}

// Fault records a mistake at the place where the step was added, for packages that build steps.
func (s *Step) Fault(format string, args ...any) {
	if s != nil && s.node != nil {
		s.pipeline.fault(s.node.At, s.node.Name, format, args...)
	}
}

// OutputOption configures an output.
type OutputOption func(*graph.Output)

// Default sets the output's value, as text, for a program that writes no file. Without it a missing file is an error.
func Default(v string) OutputOption { return func(o *graph.Output) { o.Default = &v } }

// Output declares that the step writes a value into a file, and returns the value. A string is the file's text; other types are JSON.
func Output[T any](s *Step, name, file string, opts ...OutputOption) Value[T] {
	if s == nil || s.node == nil || s.node.Container == nil {
		return valueOf[T](faulty(caller(), "output %s belongs to no step that runs a container", name))
	}
	s.checkFile("output", name, file)
	if s.box.Resource != nil {
		s.Fault("output %s: the step writes no files: use dsl.FieldOutput", name)
	}
	if err := travels[T](); err != nil {
		s.Fault("output %s: %v", name, err)
	}
	o := graph.Output{Name: name, Type: typeOf[T](), Path: file}
	for _, opt := range opts {
		opt(&o)
	}
	if o.Default != nil {
		s.pipeline.checkConstant(s.node, "the default of output "+name, *o.Default, false)
	}
	s.declareOutput(o)
	return valueOf[T](s.output(name))
}

func (s *Step) declareOutput(o graph.Output) {
	outputs := &s.node.Container.Outputs
	if slices.ContainsFunc(*outputs, func(other graph.Output) bool { return other.Name == o.Name }) {
		s.Fault("output %s is declared twice", o.Name)
	}
	*outputs = append(*outputs, o)
}

func (s *Step) output(name string) text {
	return reference(ref{
		Ref:      graph.Ref{Step: s.node.Name, Output: name},
		pipeline: s.pipeline,
		producer: s.node,
		scope:    s.node.scope,
	})
}
