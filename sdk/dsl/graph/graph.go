// Package graph holds a recorded pipeline as plain data. Package dsl records it, the compiler reads it, tests compare it and package draw
// draws it. It has no references to the program that recorded it.
package graph

import "slices"

// Pipeline is one recorded pipeline.
type Pipeline struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Params      []Param `json:"params,omitempty"`
	// Nodes are the steps and groups in the order they were written.
	Nodes []Node `json:"nodes"`
	// Exit holds the steps that run when the others have ended, however they ended.
	Exit []Node `json:"exit,omitempty"`

	// Subs are the sub-pipelines that the nodes call, each recorded once.
	Subs []Sub `json:"subs,omitempty"`

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
	Required    bool     `json:"required,omitempty"` // there is no default
	Choices     []string `json:"choices,omitempty"`
	Min         string   `json:"min,omitempty"` // the least value of a number
	Max         string   `json:"max,omitempty"` // the greatest
	Description string   `json:"description,omitempty"`
	At          Position `json:"at"`
}

// Node is a step, a condition, a loop or a call: exactly one of Container, If, Each and Call is set.
type Node struct {
	// Name is unique within the pipeline.
	Name string `json:"name"`
	// Kind says what the node is in a word, for people: Container, MPIJob, If, ElseIf, Each, Call.
	Kind string   `json:"kind"`
	At   Position `json:"at"`
	// After names the nodes beside this one that must have ended before it starts:
	// those whose outputs it reads and those named by dsl.After.
	After []string `json:"after,omitempty"`

	Container *Container `json:"container,omitempty"`
	Pod       *Pod       `json:"pod,omitempty"` // with Container only
	If        *If        `json:"if,omitempty"`
	Each      *Each      `json:"each,omitempty"`
	Call      *Call      `json:"call,omitempty"`
}

// Container is a program run in one container.
type Container struct {
	Image           Text   `json:"image"`
	ImagePullPolicy string `json:"image_pull_policy,omitempty"`
	Command         []Text `json:"command,omitempty"`
	Args            []Text `json:"args,omitempty"`
	WorkingDir      Text   `json:"working_dir,omitempty"`
	// Func names a function of the program that recorded the pipeline. Command is empty: it is that program.
	Func string `json:"func,omitempty"`
	// Source is a script. Command is its interpreter, which is given the script's file and then Args.
	Source  Text      `json:"source,omitempty"`
	Env     []EnvVar  `json:"env,omitempty"` // sorted by name
	EnvFrom []EnvFrom `json:"env_from,omitempty"`
	Mounts  []Mount   `json:"mounts,omitempty"`
	// Requests and Limits are quantities of resources, such as cpu, memory and nvidia.com/gpu.
	Requests []Pair `json:"requests,omitempty"`
	Limits   []Pair `json:"limits,omitempty"`
	// Files are put into the container before its program starts.
	Files []File `json:"files,omitempty"`
	// Outputs are small values that the program writes into files.
	Outputs []Output `json:"outputs,omitempty"`
	// Artifacts are files and folders that are kept when the program has ended.
	Artifacts []Artifact `json:"artifacts,omitempty"`
	// Resource is what the step does to an object of Kubernetes; it then runs no program, and only Outputs is set beside it.
	Resource *Resource `json:"resource,omitempty"`
}

// Resource makes, changes or deletes an object of Kubernetes.
type Resource struct {
	Action           string `json:"action"` // create, apply, replace, patch, delete or get
	Manifest         Text   `json:"manifest"`
	SuccessCondition Text   `json:"success_condition,omitempty"`
	FailureCondition Text   `json:"failure_condition,omitempty"`
	MergeStrategy    string `json:"merge_strategy,omitempty"` // of patch: strategic, merge or json
	Flags            []Text `json:"flags,omitempty"`          // of kubectl
	Owned            bool   `json:"owned,omitempty"`          // the object goes with the workflow
}

// EnvVar is an environment variable: a Value, a field of the pod, or an entry of a secret or a config map.
type EnvVar struct {
	Name      string  `json:"name"`
	Value     Text    `json:"value,omitempty"`
	FieldRef  string  `json:"field_ref,omitempty"`
	Secret    *KeyRef `json:"secret,omitempty"`
	ConfigMap *KeyRef `json:"config_map,omitempty"`
}

// Output is a value read from a file of the container, or from a field of the step's Resource.
type Output struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Path     string `json:"path,omitempty"`
	JSONPath string `json:"json_path,omitempty"` // with Resource, in place of Path
	// Default is the value where the file is missing; nil makes a missing file an error.
	Default *string `json:"default,omitempty"`
}

// Artifact is a file or folder of the container that is kept.
type Artifact struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Optional bool   `json:"optional,omitempty"`
	Kind     Type   `json:"kind,omitempty"` // Dataset, Model and so on
}

// File is an artifact as an input.
type File struct {
	Path string `json:"path"`
	// From is a single reference to an artifact; empty with Import.
	From   Text    `json:"from,omitempty"`
	Import *Import `json:"import,omitempty"`
}

// Import is data from elsewhere: exactly one of Key, HTTP, Git and Raw is set.
type Import struct {
	Key      Text `json:"key,omitempty"` // in the cluster's artifact repository
	HTTP     Text `json:"http,omitempty"`
	Git      Text `json:"git,omitempty"`
	Revision Text `json:"revision,omitempty"` // of Git
	Raw      Text `json:"raw,omitempty"`      // the contents
}

// If runs Nodes when Cond holds, else Else.
type If struct {
	Cond  Cond   `json:"cond"`
	Nodes []Node `json:"nodes"`
	// Else may be a single node of kind ElseIf, which is then a further branch of the same If.
	Else []Node `json:"else,omitempty"`
	// Outputs take their values from the branch that ran.
	Outputs []Merge `json:"outputs,omitempty"`
}

// Merge is an output of an If.
type Merge struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	File bool   `json:"file,omitempty"`
	// From has an entry for each branch, which is nil where Otherwise holds.
	From      []*Ref `json:"from"`
	Otherwise Text   `json:"otherwise,omitempty"`
}

// Sub is a sub-pipeline: nodes that see nothing of what is around their call but what it passes.
type Sub struct {
	Name    string      `json:"name"`
	At      Position    `json:"at"`
	Inputs  []SubInput  `json:"inputs,omitempty"`
	Outputs []SubOutput `json:"outputs,omitempty"`
	Nodes   []Node      `json:"nodes"`
}

// SubInput is what each call of a sub-pipeline passes.
type SubInput struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	File bool   `json:"file,omitempty"`
}

// SubOutput is what a sub-pipeline gives back.
type SubOutput struct {
	SubInput
	From Text `json:"from"`
}

// Call runs a sub-pipeline.
type Call struct {
	Sub  string `json:"sub"`
	Args []Arg  `json:"args,omitempty"`
}

// Arg is the value of an input. Import may stand in its place for a file.
type Arg struct {
	Name   string  `json:"name"`
	Value  Text    `json:"value,omitempty"`
	Import *Import `json:"import,omitempty"`
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

// Text is a string with parts that are known only when the pipeline runs.
type Text []Part

// Part is a piece of a Text: constant text, or a reference where Ref is set.
type Part struct {
	Text string `json:"text,omitempty"`
	Ref  *Ref   `json:"ref,omitempty"`
}

// Ref refers to a value that is known only when the pipeline runs: exactly one of
// Param, Step, Loop, Call, Input, Variable and Env is set.
type Ref struct {
	// Param names a parameter of the pipeline.
	Param string `json:"param,omitempty"`
	// Step and Output name an output of a step. Collected counts the loops
	// around the step over which the values are gathered into lists, and the
	// files into folders.
	Step      string `json:"step,omitempty"`
	Output    string `json:"output,omitempty"`
	Collected int    `json:"collected,omitempty"`
	// File says that the output or input is an artifact.
	File bool `json:"file,omitempty"`
	// Input names an input of the sub-pipeline in which the reference stands.
	Input string `json:"input,omitempty"`
	// Loop names the Each whose current item is meant, or with Index the item's place in the list, in five digits.
	Loop  string `json:"loop,omitempty"`
	Index bool   `json:"index,omitempty"`
	// Field names a field of the item, and FieldType is its type.
	Field     string `json:"field,omitempty"`
	FieldType Type   `json:"field_type,omitempty"`
	// Call means one word that is another for each call of the sub-pipeline in which the reference stands.
	Call bool `json:"call,omitempty"`
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
		return slices.Concat(n.If.Nodes, n.If.Else)
	case n.Each != nil:
		return n.Each.Nodes
	}
	return nil
}

// Branches returns what an If may run, in the order in which the conditions are asked. That of the last is nil where
// it is for all other cases.
func (c *If) Branches() []Branch {
	branches := []Branch{{&c.Cond, c.Nodes}}
	switch {
	case len(c.Else) == 1 && c.Else[0].Kind == "ElseIf":
		branches = append(branches, c.Else[0].If.Branches()...)
	case len(c.Else) > 0:
		branches = append(branches, Branch{nil, c.Else})
	}
	return branches
}

// Branch is one of the lists of nodes of an If.
type Branch struct {
	Cond  *Cond
	Nodes []Node
}
