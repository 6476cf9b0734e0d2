// Command odd has pipelines by an author who has not read the manual. Their faults are in faults.txt.
package main

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

var alpine = dsl.Lit("alpine")

// one confuses types and units.
func one() *dsl.Pipeline {
	p := dsl.New("one", dsl.Parallelism(0), dsl.Timeout(dsl.Lit(-time.Hour)), dsl.TTL(-1, 0))
	dsl.Run(p, "train", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Param(p, "lr", "high"))},
		dsl.Limits(dsl.Resources{Memory: dsl.Lit("8 GB"), CPU: dsl.Lit("two")}), dsl.GPUs(dsl.Lit(-1)),
		dsl.Retries(dsl.Retry{}), dsl.Timeout(dsl.Lit(time.Duration(5))),
		dsl.Mount("/data", dsl.Claim(dsl.Lit("My_Claim"))), dsl.Mount("/data", dsl.Scratch("1Gi")),
		dsl.NodeSelector(map[string]dsl.Value[string]{"gpu type": dsl.Lit("A 100")}),
		dsl.ServiceAccount(dsl.Lit("Trainer")), dsl.Priority(dsl.Lit("")), dsl.CacheKey(dsl.Lit("")))
	return p
}

// two forgets things.
func two() *dsl.Pipeline {
	p := dsl.New("two")
	var lost dsl.Value[string]
	var file dsl.File[dsl.Model]
	dsl.Run(p, "", dsl.Container{})
	dsl.Run(p, "use", dsl.Container{Image: alpine, Args: dsl.Args(lost, file)}, dsl.At("/m", file), dsl.After())
	dsl.Each(p, dsl.Value[[]string]{}, func(dsl.Value[string]) any { return nil })
	p.If(dsl.Eq(lost, "x"), nil)
	dsl.Each[string, any](p, dsl.Lit([]string{"a"}), nil)
	dsl.Sub[struct{}, struct{}](p, "sub", struct{}{}, nil)
	p.OnExit(nil)
	return p
}

// three mixes what belongs to different places.
func three() *dsl.Pipeline {
	p, q := dsl.New("three"), dsl.New("other")
	a := dsl.Run(p, "a", dsl.Container{Image: alpine})
	b := dsl.Run(q, "b", dsl.Container{Image: alpine})
	dsl.Run(p, "c", dsl.Container{Image: alpine}, dsl.After(a, b))
	p.OnExit(func() {
		p.OnExit(func() {})
		dsl.Run(p, "d", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Output[int](a, "late", "/x"))})
	})
	var in dsl.Value[string]
	dsl.Each(p, dsl.Lit([]string{"x"}), func(item dsl.Value[string]) any {
		in = item
		dsl.Run(p, "e", dsl.Container{Image: alpine}, dsl.After(a))
		return nil
	})
	dsl.Run(p, "f", dsl.Container{Image: alpine, Args: dsl.Args(in)})
	dsl.Run(p, "a", dsl.Container{Image: dsl.Lit("")})
	p.NewClaim("work", "1Gi")
	p.NewClaim("work", "1Gi")
	dsl.Run(p, "g", dsl.Container{Image: alpine}, dsl.Sidecar("x", dsl.Container{Image: alpine, Source: dsl.Lit("y")}), dsl.Sidecar("x", dsl.Container{}))
	return p
}

type fin struct {
	dsl.Value[string]
	name string
}
type fout struct{ n int }

// four has components and functions of odd shapes.
func four() *dsl.Pipeline {
	p := dsl.New("four")
	dsl.Func("f", func(context.Context, fin, *fout) error { return nil }).Add(p, fin{})
	dsl.Func("g", func(context.Context, *fin, *fout) error { return nil }).Add(p, nil)
	dsl.Define("h", func(in map[string]string, out int) dsl.Container { return dsl.Container{} }).Add(p, nil)
	dsl.Define("Bad Name", func(in struct{}, out struct{ A, a dsl.Value[string] }) dsl.Container {
		return dsl.Container{Image: alpine}
	}).Add(p, struct{}{})
	dsl.Define("twice", func(in struct{}, out struct {
		A dsl.Value[string] `dsl:"x"`
		B dsl.Value[string] `dsl:"x"`
	}) dsl.Container {
		return dsl.Container{Image: alpine}
	}).Add(p, struct{}{})
	dsl.Param(p, "c", make(chan int))
	dsl.Param(p, "p", (*int)(nil))
	dsl.Required[chan int](p, "r")
	dsl.OneOf(dsl.Lit(1))
	dsl.Run(p, "s", dsl.Container{Image: dsl.Sprintf("%d %s", dsl.Lit(1)), Command: dsl.Args(dsl.Collect(dsl.Collect(dsl.Lit("a"))))}, nil)
	return p
}

// five has distributed jobs that cannot be.
func five() *dsl.Pipeline {
	p := dsl.New("")
	train.MPIJob(p, "job", train.MPI{Workers: dsl.Lit(-1), Slots: dsl.Lit(0), Memory: dsl.Lit("10G i"), Data: []dsl.Value[string]{dsl.Lit("nonsense")}})
	train.PyTorchJob(p, "job", train.PyTorch{})
	return p
}

func main() { compiler.Main(one, two, three, four, five) }
