// Package dsl declares pipelines in Go. Calls record steps and run nothing; package compiler turns the record into an Argo Workflow.
//
//	func Hello() *dsl.Pipeline {
//		p := dsl.New("hello", dsl.Description("says hello"))
//		who := dsl.Param(p, "who", "world")
//		dsl.Run(p, "greet", dsl.Container{
//			Image:   dsl.Lit("alpine:3.22"),
//			Command: dsl.Args("echo", dsl.Sprintf("hello, %v", who)),
//		})
//		return p
//	}
//
// # Values
//
// An input of a step is known now or only when the pipeline runs. A [Value] of T covers both: a constant ([Lit]), a parameter of the
// pipeline ([Param]), an output of another step ([Output]), the current item of a loop ([Each]), text made of these ([Sprintf]), or one of
// Argo's own variables ([Argo]). A step waits for every step whose output it uses; [After] adds an order that the data does not imply.
//
// # Files
//
// A [File] is an artifact of a kind such as [Model] or a type of your own. It is an output of a step ([OutputFile], or a field of a
// component's outputs) or existing data ([Import]). A File in a command is copied into the container and becomes its path there.
//
// # Flow
//
// [Pipeline.If], ElseIf and Else choose which steps run, and [OneOf] merges the outputs of the branches. [Each] runs steps for every item
// of a list and can be nested; [Collect] makes lists of their values, and [CollectFiles] folders of their files. [Sub] turns a pipeline
// into a step, and a pipeline may call itself. [Pipeline.OnExit] and [Pipeline.OnFailure] run at the end.
//
// # Steps
//
// [Run] runs a container, [Script] a program whose source is part of the pipeline. [Define] makes a reusable component with typed inputs
// and outputs, and [Func] makes one from a Go function. [Manage] creates or changes a Kubernetes object. A [StepOption] sets what a step
// needs: [Limits], [GPUs], [Mount], [Retries], [Timeout], [CacheKey], [Tolerate], [Sidecar] and so on. Options for many steps go into
// [Pipeline.Defaults], options for the whole pipeline into [New].
//
// # Text
//
// Text reaches the program exactly as written. Kubernetes would expand $(NAME) and $$ in commands and variables, and Argo {{, so the
// compiler escapes them there. [EnvOf] and [Argo] refer to variables, and [PasteValues] lets Kubernetes expand them in values too.
// Elsewhere, as in a script's source or a label, {{ is refused, since Argo has no escape for it. Values known only when the pipeline runs
// also arrive unchanged, with one exception, double braces: Argo fills in names of its own variables, such as {{workflow.name}}, and
// refuses others in parameters and loops.
//
// # Mistakes
//
// A wrong type is a Go compile error. Every other mistake is recorded with the file and line of the caller and the name of the step.
// [Pipeline.Graph] returns all of them together as [Faults]. Mistakes never panic.
package dsl
