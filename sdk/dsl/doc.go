// Package dsl writes pipelines in Go. It records, it doesn't execute: a program describes steps, and package
// compiler turns the record into an Argo Workflow.
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
// What a step is given may be known now or only when the pipeline runs. A [Value] of T is any of: a constant
// ([Lit]), a parameter of the pipeline ([Param]), an output of another step ([Output]), the current item of a
// loop ([Each]), text made of these ([Sprintf]), or one of Argo's own variables ([Argo]). Passing an output to a
// step is also what makes the step wait for it; [After] adds what the data does not say.
//
// # Files
//
// A [File] is an artifact, of a kind such as [Model] or one of yours. It is an output by [OutputFile] or as a field of
// a component's outputs, or existing data by [Import]. Where it stands in a command, the file is put into the
// container and its path takes its place.
//
// # Flow
//
// [Pipeline.If], ElseIf and Else choose what runs, and [OneOf] merges what the branches give. [Each] runs steps for
// every item of a list, nested as deep as need be; [Collect] makes lists of the values they put out, and [CollectFiles]
// folders of the files. [Sub] makes one
// step of a whole pipeline, which may call itself. [Pipeline.OnExit] and [Pipeline.OnFailure] run at the end.
//
// # Steps
//
// [Run] runs a container, [Script] a program that is written in the pipeline, and [Define] makes a component with
// typed inputs and outputs, to be used many times; [Func] does so with a Go function. [Manage] makes or changes an object of
// Kubernetes. A [StepOption] says what a step
// needs: [Limits], [GPUs], [Mount], [Retries], [Timeout], [CacheKey], [Tolerate], [Sidecar] and so on. What holds for many
// steps goes into [Pipeline.Defaults], and what for the whole pipeline into [New].
//
// # Text
//
// What is written arrives: Kubernetes would read $(NAME) and $$ in commands and variables, and Argo {{, so the compiler
// escapes them there; [EnvOf] and [Argo] say where a variable is meant, and [PasteValues] that it is in values too. Elsewhere, as in a script's source or a label, {{
// is refused, since Argo has no escape for it. A value that is known only when the pipeline runs arrives as it is too, but
// for double braces: names of Argo's own variables in them, such as {{workflow.name}}, are filled in on the way, and others
// may neither be given for a parameter nor used in a loop.
//
// # Mistakes
//
// A wrong type is a Go compile error. Every other mistake is kept with the file and line of the user's call and
// the name of the step, and [Pipeline.Graph] returns all of them together as [Faults]. Nothing here panics on them.
package dsl
