// Command functions has a pipeline whose steps are functions of this program.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

type lookIn struct{ Word dsl.Value[string] }

type lookOut struct {
	Around dsl.Value[[]string]
	Shout  dsl.File[dsl.Dataset]
}

// look tells what there is in its container beside it.
var look = dsl.Func("look", func(_ context.Context, in lookIn, out *lookOut) error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	out.Around.Put(names)
	return os.WriteFile(out.Shout.Path(), []byte(strings.ToUpper(in.Word.Get())), 0o600)
})

type tellIn struct {
	Around dsl.Value[[]string]
	Shouts dsl.File[[]dsl.Dataset]
}

type tellOut struct{ Said dsl.Value[string] }

// tell puts together what others found.
var tell = dsl.Func("tell", func(_ context.Context, in tellIn, out *tellOut) error {
	paths, err := dsl.Paths(in.Shouts)
	if err != nil {
		return err
	}
	said := []string{strings.Join(in.Around.Get(), " ")}
	for _, path := range paths {
		shout, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		said = append(said, string(shout))
	}
	out.Said.Put(strings.Join(said, "\n"))
	return nil
})

func functions() *dsl.Pipeline {
	p := dsl.New("functions")
	first := look.Add(p, lookIn{dsl.Lit("first")})
	shouts := dsl.Each(p, dsl.Param(p, "words", []string{"b", "a"}), func(word dsl.Value[string]) dsl.File[dsl.Dataset] {
		return look.Add(p, lookIn{word}).Shout
	})
	tell.Add(p, tellIn{first.Around, dsl.CollectFiles(shouts)})
	return p
}

// own says itself in which image its function is.
func own() *dsl.Pipeline {
	p := dsl.New("own", dsl.Program(dsl.Lit("example/functions:own"), compiler.ImageProgram))
	look.Add(p, lookIn{dsl.Lit("word")})
	return p
}

func main() { compiler.Main(functions, own) }
