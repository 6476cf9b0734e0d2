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
// # Mistakes
//
// A wrong type is a Go compile error. Every other mistake is kept with the file and line of the user's call and
// the name of the step, and [Pipeline.Graph] returns all of them together as [Faults]. Nothing here panics on them.
package dsl
