package main

import (
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

func main() { compiler.Main(one, two) }

func one() *dsl.Pipeline { return pipeline("one") }

func two() *dsl.Pipeline { return pipeline("two") }

func pipeline(name string) *dsl.Pipeline {
	p := dsl.New(name)
	dsl.Run(p, "step", dsl.Container{Image: dsl.Lit("alpine:3.22")})
	return p
}
