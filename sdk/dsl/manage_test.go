package dsl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
)

const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// The compiler reports mistakes in Kubernetes objects, fields of items and joined lists.
func TestFaultsOfObjectsAndFields(t *testing.T) {
	t.Parallel()
	for want, wrong := range map[string]func(*dsl.Pipeline){
		`step s: Action is "make": it must be one of create, apply, replace, patch, delete, get`: func(p *dsl.Pipeline) {
			dsl.Manage(p, "s", dsl.Resource{Action: "make", Manifest: dsl.Lit(manifest)})
		},
		"step s: Manifest is not set": func(p *dsl.Pipeline) { dsl.Manage(p, "s", dsl.Resource{Action: "get"}) },
		`step s: MergeStrategy is "any": it must be strategic, merge or json`: func(p *dsl.Pipeline) {
			dsl.Manage(p, "s", dsl.Resource{Action: "patch", MergeStrategy: "any", Manifest: dsl.Lit(manifest)})
		},
		"step s: it manages an object of Kubernetes and has no container: variables, mounts, files and resources do not fit": func(p *dsl.Pipeline) {
			dsl.Manage(p, "s", dsl.Resource{Action: "get", Manifest: dsl.Lit(manifest)}, dsl.Mount("/a", dsl.Scratch("")))
		},
		`step s: output o: "" is not a path of a field such as {.metadata.name}`: func(p *dsl.Pipeline) {
			dsl.FieldOutput[string](dsl.Manage(p, "s", dsl.Resource{Action: "get", Manifest: dsl.Lit(manifest)}), "o", "")
		},
		"step s: output o: the step writes no files: use dsl.FieldOutput": func(p *dsl.Pipeline) {
			dsl.Output[string](dsl.Manage(p, "s", dsl.Resource{Action: "get", Manifest: dsl.Lit(manifest)}), "o", "/o")
		},
		"step u: Args[0]: FieldOutput o: only a step of dsl.Manage has fields": func(p *dsl.Pipeline) {
			s := dsl.Run(p, "s", dsl.Container{Image: alpine})
			dsl.Run(p, "u", dsl.Container{Image: alpine, Args: dsl.Args(dsl.FieldOutput[string](s, "o", "{}"))})
		},
		"step s: Args[0]: Field a: only the item of an Each has fields": func(p *dsl.Pipeline) {
			dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Field[string](dsl.Param(p, "x", map[string]int{}), "a"))})
		},
		`step s: Args[0]: Field "a b": the name must hold only letters, digits, - and _`: func(p *dsl.Pipeline) {
			dsl.Each(p, dsl.Lit([]map[string]int{{"a": 1}}), func(item dsl.Value[map[string]int]) any {
				return dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Field[int](item, "a b"))})
			})
		},
		"Each: a list that is put together must be JSON, with values in its strings only: a value is outside its strings": func(p *dsl.Pipeline) {
			dsl.Each(p, dsl.Value[[]string](dsl.Sprintf(`["a", %v]`, dsl.Param(p, "x", "1"))), func(item dsl.Value[string]) any {
				return dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(item)})
			})
		},
		"step s: OwnMounts is an option of Sidecar and InitContainer only": func(p *dsl.Pipeline) {
			dsl.Run(p, "s", dsl.Container{Image: alpine}, dsl.OwnMounts())
		},
	} {
		p := dsl.New("p")
		wrong(p)
		_, err := p.Graph()
		faults := dsl.Faults(nil)
		require.ErrorAs(t, err, &faults, want)
		require.Contains(t, err.Error(), want)
		require.Len(t, faults, 1, want)
	}
}

// A field of an item arrives as it is in the list.
func TestFieldsOfItems(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	who := dsl.Param(p, "who", "Ada")
	dsl.Each(p, dsl.Value[[]map[string]string](dsl.Sprintf(`[{"name": "%v"}, {"name": "Bob"}]`, who)), func(item dsl.Value[map[string]string]) any {
		return dsl.Run(p, "greet", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Field[string](item, "name"))})
	})
	var greeted []string
	for _, c := range dsltest.Run(t, p, nil, nil).Calls {
		greeted = append(greeted, c.Args...)
	}
	require.ElementsMatch(t, []string{"Ada", "Bob"}, greeted)
}
