// Command refused compiles to a workflow that Argo refuses.
package main

import (
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

func main() {
	compiler.Main(func() *dsl.Pipeline {
		p := dsl.New("refused")
		dsl.Run(p, "step", dsl.Container{Image: dsl.Lit("alpine:3.22"), Command: dsl.Args("echo", dsl.Argo("workflow.parameters.nowhere"))})
		return p
	})
}
