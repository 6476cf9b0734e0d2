package main

import (
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

func main() {
	compiler.Main(func() *dsl.Pipeline {
		p := dsl.New("faulty")
		dsl.Run(p, "one", dsl.Container{})
		dsl.Run(p, "Two", dsl.Container{Image: dsl.Lit("alpine:3.22")})
		return p
	})
}
