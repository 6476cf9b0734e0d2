package compiler

import (
	"strings"

	"gopkg.in/yaml.v3"
)

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

// text is a string from the user, of whatever characters.
type text string

// MarshalYAML puts quotes around texts of several lines that begin with white space: the YAML library would write
// them as blocks that no YAML reader takes.
func (t text) MarshalYAML() (any, error) {
	if strings.Contains(string(t), "\n") && strings.ContainsAny(string(t[:1]), " \t\n") {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(t), Style: yaml.DoubleQuotedStyle}, nil
	}
	return string(t), nil
}

// parameters is the shape of inputs, outputs and arguments.
type parameters struct {
	Parameters []parameter `yaml:"parameters,omitempty"`
	Artifacts  []artifact  `yaml:"artifacts,omitempty"`
}

type parameter struct {
	Name        string     `yaml:"name"`
	Description text       `yaml:"description,omitempty"`
	Value       *text      `yaml:"value,omitempty"`
	ValueFrom   *valueFrom `yaml:"valueFrom,omitempty"`
}

type valueFrom struct {
	Path       text   `yaml:"path,omitempty"`
	Expression string `yaml:"expression,omitempty"`
	Parameter  string `yaml:"parameter,omitempty"`
	Default    *text  `yaml:"default,omitempty"`
}

type artifact struct {
	Name     string `yaml:"name"`
	Path     text   `yaml:"path"`
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
	Image           text     `yaml:"image"`
	ImagePullPolicy string   `yaml:"imagePullPolicy,omitempty"`
	Command         []text   `yaml:"command,omitempty"`
	Args            []text   `yaml:"args,omitempty"`
	WorkingDir      text     `yaml:"workingDir,omitempty"`
	Env             []envVar `yaml:"env,omitempty"`
}

type envVar struct {
	Name      string     `yaml:"name"`
	Value     text       `yaml:"value,omitempty"`
	ValueFrom *envSource `yaml:"valueFrom,omitempty"`
}

type envSource struct {
	FieldRef fieldRef `yaml:"fieldRef"`
}

type fieldRef struct {
	FieldPath text `yaml:"fieldPath"`
}

type dag struct {
	Tasks []task `yaml:"tasks"`
}

type task struct {
	Name         string       `yaml:"name"`
	Template     string       `yaml:"template"`
	Dependencies []string     `yaml:"dependencies,omitempty"`
	When         text         `yaml:"when,omitempty"`
	WithItems    []*yaml.Node `yaml:"withItems,omitempty"`
	WithParam    text         `yaml:"withParam,omitempty"`
	Arguments    parameters   `yaml:"arguments,omitempty"`
}
