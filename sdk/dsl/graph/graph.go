// Package graph holds a recorded pipeline as plain data: what package dsl
// records, what the compiler reads, what tests compare and pictures draw.
// Nothing in it points back at the program that recorded it.
package graph

// Pipeline is one recorded pipeline.
type Pipeline struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Params      []Param `json:"params,omitempty"`
	// Nodes are the steps and groups in the order they were written.
	Nodes []Node `json:"nodes"`
	// Exit holds the steps that run when the others have ended, however they ended.
	Exit []Node `json:"exit,omitempty"`

	Settings Settings `json:"settings,omitzero"`
}

// Type is the kind of value a parameter or an output holds, in the words of Kubeflow Pipelines.
type Type string

// The types of parameters and outputs. Lists and objects travel as JSON.
const (
	String  Type = "String"
	Integer Type = "Integer"
	Float   Type = "Float"
	Bool    Type = "Bool"
	List    Type = "JsonArray"
	Object  Type = "JsonObject"
)

// Param is an input of the pipeline, which the person who starts a run may set.
type Param struct {
	Name        string   `json:"name"`
	Type        Type     `json:"type"`
	Default     string   `json:"default"`
	Description string   `json:"description,omitempty"`
	At          Position `json:"at"`
}

// Node is a step, a condition or a loop: exactly one of Container, If and Each is set.
type Node struct {
	// Name is unique within the pipeline.
	Name string `json:"name"`
	// Kind says what the node is in a word, for people: Container, MPIJob, If, Each.
	Kind string   `json:"kind"`
	At   Position `json:"at"`
	// After names the nodes beside this one that must have ended before it starts:
	// those whose outputs it reads and those it was told to wait for.
	After []string `json:"after,omitempty"`

	Container *Container `json:"container,omitempty"`
	Pod       *Pod       `json:"pod,omitempty"` // with Container only
	If        *If        `json:"if,omitempty"`
	Each      *Each      `json:"each,omitempty"`
}

// Container is a program run in one container.
type Container struct {
	Image           Text      `json:"image"`
	ImagePullPolicy string    `json:"image_pull_policy,omitempty"`
	Command         []Text    `json:"command,omitempty"`
	Args            []Text    `json:"args,omitempty"`
	WorkingDir      Text      `json:"working_dir,omitempty"`
	Env             []EnvVar  `json:"env,omitempty"` // sorted by name
	EnvFrom         []EnvFrom `json:"env_from,omitempty"`
	Mounts          []Mount   `json:"mounts,omitempty"`
	// Requests and Limits are quantities of resources, such as cpu, memory and nvidia.com/gpu.
	Requests []Pair `json:"requests,omitempty"`
	Limits   []Pair `json:"limits,omitempty"`
	// Outputs are small values that the program writes into files.
	Outputs []Output `json:"outputs,omitempty"`
	// Artifacts are files and folders that are kept when the program has ended.
	Artifacts []Artifact `json:"artifacts,omitempty"`
}

// EnvVar is an environment variable: a Value, a field of the pod, or an entry of a secret or a config map.
type EnvVar struct {
	Name      string  `json:"name"`
	Value     Text    `json:"value,omitempty"`
	FieldRef  string  `json:"field_ref,omitempty"`
	Secret    *KeyRef `json:"secret,omitempty"`
	ConfigMap *KeyRef `json:"config_map,omitempty"`
}

// Output is a value read from a file of the container.
type Output struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	Path string `json:"path"`
	// Default is the value where the file is missing; nil makes a missing file an error.
	Default *string `json:"default,omitempty"`
}

// Artifact is a file or folder of the container that is kept.
type Artifact struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Optional bool   `json:"optional,omitempty"`
}

// If runs Nodes when Cond holds.
type If struct {
	Cond  Cond   `json:"cond"`
	Nodes []Node `json:"nodes"`
}

// Cond compares a value that is known only when the pipeline runs with a constant.
type Cond struct {
	Left  Text   `json:"left"`
	Op    string `json:"op"` // == != < <= > >=
	Right string `json:"right"`
	// Type says how the two sides are compared: as numbers (Integer, Float) or as text.
	Type Type `json:"type"`
}

// Each runs Nodes once for every item of a list.
type Each struct {
	// Items is a JSON list: a constant, or a single reference.
	Items Text `json:"items"`
	// Item is the type of one of them.
	Item  Type   `json:"item"`
	Nodes []Node `json:"nodes"`
}

// Text is a string of which some parts are known only when the pipeline runs.
type Text []Part

// Part is a piece of a Text: constant text, or a reference where Ref is set.
type Part struct {
	Text string `json:"text,omitempty"`
	Ref  *Ref   `json:"ref,omitempty"`
}

// Ref refers to a value that is known only when the pipeline runs: exactly one of
// Param, Step, Loop, Variable and Env is set.
type Ref struct {
	// Param names a parameter of the pipeline.
	Param string `json:"param,omitempty"`
	// Step and Output name an output of a step. Collected counts the loops
	// around the step over which the values are gathered into lists.
	Step      string `json:"step,omitempty"`
	Output    string `json:"output,omitempty"`
	Collected int    `json:"collected,omitempty"`
	// Loop names the Each whose current item is meant.
	Loop string `json:"loop,omitempty"`
	// Variable is a variable of Argo's own, such as workflow.name.
	Variable string `json:"variable,omitempty"`
	// Env names an environment variable of the container itself.
	Env string `json:"env,omitempty"`
}

// Position is a place in the source of the program that recorded the pipeline.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Constant returns the text where all of it is known already.
func (t Text) Constant() (s string, ok bool) {
	for _, p := range t {
		if p.Ref != nil {
			return "", false
		}
		s += p.Text
	}
	return s, true
}

// Refs returns the references in the text, in order.
func (t Text) Refs() []Ref {
	var refs []Ref
	for _, p := range t {
		if p.Ref != nil {
			refs = append(refs, *p.Ref)
		}
	}
	return refs
}

// Children returns the nodes inside a condition or a loop.
func (n Node) Children() []Node {
	switch {
	case n.If != nil:
		return n.If.Nodes
	case n.Each != nil:
		return n.Each.Nodes
	}
	return nil
}
