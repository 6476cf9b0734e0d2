package compiler

// The part of Argo's Workflow that pipelines need, in the order in which it is written. The names are Argo's.

type workflow struct {
	APIVersion string       `yaml:"apiVersion"`
	Kind       string       `yaml:"kind"`
	Metadata   metadata     `yaml:"metadata"`
	Spec       workflowSpec `yaml:"spec"`
}

type metadata struct {
	GenerateName string            `yaml:"generateName"`
	Annotations  map[string]string `yaml:"annotations"`
}

type workflowSpec struct {
	Entrypoint         string     `yaml:"entrypoint"`
	OnExit             string     `yaml:"onExit,omitempty"`
	ServiceAccountName string     `yaml:"serviceAccountName"`
	Arguments          parameters `yaml:"arguments,omitempty"`
	Templates          []template `yaml:"templates"`
}

// parameters is the shape of inputs, outputs and arguments.
type parameters struct {
	Parameters []parameter `yaml:"parameters,omitempty"`
	Artifacts  []artifact  `yaml:"artifacts,omitempty"`
}

type parameter struct {
	Name        string     `yaml:"name"`
	Description string     `yaml:"description,omitempty"`
	Value       *string    `yaml:"value,omitempty"`
	ValueFrom   *valueFrom `yaml:"valueFrom,omitempty"`
}

type valueFrom struct {
	Path      string  `yaml:"path,omitempty"`
	Parameter string  `yaml:"parameter,omitempty"`
	Default   *string `yaml:"default,omitempty"`
}

type artifact struct {
	Name     string `yaml:"name"`
	Path     string `yaml:"path"`
	Optional bool   `yaml:"optional,omitempty"`
}

type template struct {
	Name      string     `yaml:"name"`
	Inputs    parameters `yaml:"inputs,omitempty"`
	Outputs   parameters `yaml:"outputs,omitempty"`
	Container *container `yaml:"container,omitempty"`
	DAG       *dag       `yaml:"dag,omitempty"`
}

type container struct {
	Image           string   `yaml:"image"`
	ImagePullPolicy string   `yaml:"imagePullPolicy,omitempty"`
	Command         []string `yaml:"command,omitempty"`
	Args            []string `yaml:"args,omitempty"`
	WorkingDir      string   `yaml:"workingDir,omitempty"`
	Env             []envVar `yaml:"env,omitempty"`
}

type envVar struct {
	Name      string     `yaml:"name"`
	Value     string     `yaml:"value,omitempty"`
	ValueFrom *envSource `yaml:"valueFrom,omitempty"`
}

type envSource struct {
	FieldRef fieldRef `yaml:"fieldRef"`
}

type fieldRef struct {
	FieldPath string `yaml:"fieldPath"`
}

type dag struct {
	Tasks []task `yaml:"tasks"`
}

type task struct {
	Name         string     `yaml:"name"`
	Template     string     `yaml:"template"`
	Dependencies []string   `yaml:"dependencies,omitempty"`
	When         string     `yaml:"when,omitempty"`
	WithItems    []any      `yaml:"withItems,omitempty"`
	WithParam    string     `yaml:"withParam,omitempty"`
	Arguments    parameters `yaml:"arguments,omitempty"`
}
