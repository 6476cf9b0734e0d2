package compiler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// Whatever steps, conditions and loops are put together, the workflow is one that Argo takes.
func TestRandomPipelinesCompileToValidWorkflows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := randomPipeline(t)
		manifest, err := compiler.Compile(p)
		require.NoError(t, err)
		validate(t, manifest)
		again, err := compiler.Compile(p)
		require.NoError(t, err)
		require.Equal(t, string(manifest), string(again))
	})
}

// randomPipeline puts steps, conditions and loops together.
func randomPipeline(t *rapid.T) *dsl.Pipeline {
	g := &generator{T: t, p: dsl.New(rapid.StringMatching(`[a-zA-Z0-9 _.-]{1,60}x`).Draw(t, "name"))}
	for i := range rapid.IntRange(0, 4).Draw(t, "params") {
		g.texts = append(g.texts, dsl.Param(g.p, fmt.Sprintf("p%d", i), rapid.String().Filter(plain).Draw(t, "default")))
	}
	g.numbers = append(g.numbers, dsl.Param(g.p, "number", rapid.Float64().Filter(finite).Draw(t, "number")))
	g.lists = append(g.lists, dsl.Param(g.p, "list", []string{"a", "b"}))
	g.step()
	g.steps(rapid.IntRange(0, 2).Draw(t, "depth"))
	if rapid.Bool().Draw(t, "exit") {
		g.texts, g.numbers, g.lists, g.files, g.folders, g.handles = g.texts[:0:0], nil, nil, nil, nil, nil
		g.p.OnExit(func() {
			g.texts = append(g.texts, dsl.Argo("workflow.status"))
			g.steps(1)
		})
	}
	return g.p
}

// generator writes a pipeline and knows which values may be used where it stands.
type generator struct {
	*rapid.T
	p       *dsl.Pipeline
	count   int
	texts   []dsl.Value[string]
	numbers []dsl.Value[float64]
	lists   []dsl.Value[[]string]
	files   []dsl.File[dsl.Dataset]
	folders []dsl.File[[]dsl.Dataset]
	handles []dsl.Handle

	uncached bool // the next step is collected from
}

func (g *generator) steps(depth int) {
	for range rapid.IntRange(1, 2+depth).Draw(g.T, "steps") {
		kind := rapid.IntRange(0, 7).Draw(g.T, "kind")
		switch {
		case kind == 0 && depth > 0 && len(g.numbers) > 0:
			g.p.If(dsl.Gt(pick(g, g.numbers), 0.5), func() { g.within(func() { g.steps(depth - 1) }) })
		case kind == 1 && depth > 0 && len(g.texts) > 0:
			g.p.If(dsl.Ne(pick(g, g.texts), rapid.String().Filter(plain).Draw(g.T, "right")), func() { g.within(func() { g.steps(depth - 1) }) })
		case kind == 2 && depth > 0 && len(g.lists) > 0:
			g.loop(depth)
		case kind == 3:
			g.job()
		case kind == 4 && depth > 0 && len(g.texts) > 0:
			g.branches(depth)
		case kind == 5 && depth > 0 && len(g.texts) > 0 && len(g.files) > 0:
			g.sub(depth)
		default:
			g.step()
		}
	}
}

// within writes steps whose values cannot be used after them; only waiting for them is possible.
func (g *generator) within(write func()) {
	texts, numbers, lists, files, folders := slices.Clone(g.texts), slices.Clone(g.numbers), slices.Clone(g.lists), slices.Clone(g.files), slices.Clone(g.folders)
	write()
	g.texts, g.numbers, g.lists, g.files, g.folders = texts, numbers, lists, files, folders
}

// branches writes an If of several branches and goes on with what one of them gives.
func (g *generator) branches(depth int) {
	var texts []dsl.Value[string]
	var files []dsl.File[dsl.Dataset]
	before := slices.Clone(g.handles)
	defer func() { g.handles = before }()
	inside := func() {
		g.handles = slices.Clone(before) // branches do not wait for each other
		g.within(func() {
			texts = append(texts, g.step())
			files = append(files, g.files[len(g.files)-1])
			g.steps(depth - 1)
		})
	}
	b := g.p.If(dsl.Eq(pick(g, g.texts), "a"), inside)
	for range rapid.IntRange(0, 2).Draw(g.T, "else ifs") {
		b = b.ElseIf(dsl.Ne(pick(g, g.texts), "b"), inside)
	}
	if len(g.files) == 0 || rapid.Bool().Draw(g.T, "else") {
		b.Else(inside)
	} else {
		texts, files = append(texts, pick(g, g.texts)), append(files, pick(g, g.files))
	}
	g.texts, g.files = append(g.texts, dsl.OneOf(texts...)), append(g.files, dsl.OneOf(files...))
}

// sub writes a sub-pipeline and calls it, perhaps from inside too.
func (g *generator) sub(depth int) {
	type ends struct {
		Text dsl.Value[string]
		File dsl.File[dsl.Dataset]
	}
	g.count++
	name := fmt.Sprintf("sub-%d", g.count)
	again := rapid.Bool().Draw(g.T, "again")
	handles := g.handles
	var call func(ends) ends
	call = func(in ends) ends {
		return dsl.Sub(g.p, name, in, func(in ends) ends {
			out := in
			g.within(func() {
				g.texts, g.numbers, g.lists, g.files, g.folders, g.handles = []dsl.Value[string]{in.Text}, nil, nil, []dsl.File[dsl.Dataset]{in.File}, nil, nil
				out.Text = g.step()
				g.steps(depth - 1)
				if again {
					var deeper ends
					g.p.If(dsl.Eq(out.Text, "more"), func() { deeper = call(ends{out.Text, in.File}) })
					out.Text = dsl.OneOf(deeper.Text, out.Text)
				}
			})
			return out
		})
	}
	out := call(ends{pick(g, g.texts), pick(g, g.files)})
	g.handles = handles
	g.texts, g.files = append(g.texts, out.Text), append(g.files, out.File)
	if rapid.Bool().Draw(g.T, "twice") {
		call(out)
	}
}

func (g *generator) loop(depth int) {
	list := pick(g, g.lists)
	if rapid.Bool().Draw(g.T, "constant") {
		list = dsl.Lit(rapid.SliceOfN(rapid.String().Filter(plain), 1, 3).Draw(g.T, "items"))
	}
	var out dsl.Value[string]
	var file dsl.File[dsl.Dataset]
	g.within(func() {
		out = dsl.Each(g.p, list, func(item dsl.Value[string]) dsl.Value[string] {
			g.texts = append(g.texts, item)
			g.uncached = true
			out := g.step()
			g.uncached, file = false, g.files[len(g.files)-1]
			g.steps(depth - 1)
			return out
		})
	})
	g.lists = append(g.lists, dsl.Collect(out))
	if rapid.Bool().Draw(g.T, "collect files") {
		g.folders = append(g.folders, dsl.CollectFiles(file))
	}
}

func (g *generator) step() dsl.Value[string] {
	g.count++
	args := []any{rapid.String().Filter(plain).Draw(g.T, "arg")}
	for _, v := range some(g, g.texts) {
		args = append(args, dsl.Sprintf("<%v>", v))
	}
	for _, v := range some(g, g.numbers) {
		args = append(args, v)
	}
	for _, v := range some(g, g.lists) {
		args = append(args, v)
	}
	for _, f := range some(g, g.files) {
		args = append(args, f)
	}
	for _, f := range some(g, g.folders) {
		args = append(args, f)
	}
	s := dsl.Run(g.p, fmt.Sprintf("step-%d", g.count), dsl.Container{Image: alpine, Args: dsl.Args(args...)}, g.after(), g.option())
	g.files = append(g.files, dsl.OutputFile[dsl.Dataset](s, "file", "/tmp/file"))
	out := dsl.Output[string](s, "out", "/tmp/out")
	g.texts = append(g.texts, out)
	g.numbers = append(g.numbers, dsl.Output[float64](s, "number", "/tmp/number"))
	g.lists = append(g.lists, dsl.Output[[]string](s, "list", "/tmp/list"))
	g.handles = append(g.handles, s)
	return out
}

func (g *generator) job() {
	g.count++
	job := train.MPI{Image: alpine, Command: dsl.Lit("mpirun hostname"), Env: dsl.Env{}}
	for i, v := range some(g, g.texts) {
		job.Env[fmt.Sprintf("V%d", i)] = v
	}
	for _, v := range some(g, g.numbers) {
		job.Data = append(job.Data, dsl.Sprintf("claim:/%v", v))
	}
	out := train.MPIJob(g.p, fmt.Sprintf("job-%d", g.count), job, g.after())
	g.texts = append(g.texts, out.JobName)
	g.handles = append(g.handles, out.Step)
}

// option is one that takes a value, or none.
func (g *generator) option() dsl.StepOption {
	if len(g.texts) == 0 || g.uncached {
		return nil
	}
	v := pick(g, g.texts)
	if _, known := dsl.Known(v); known {
		return nil // it is checked as what it is to be
	}
	switch rapid.IntRange(0, 6).Draw(g.T, "option") {
	case 0:
		return dsl.Limits(dsl.Resources{Memory: v, CPU: dsl.Lit("1")})
	case 1:
		return dsl.Mount("/data", dsl.Claim(dsl.Sprintf("a%v", v)).SubPath(v))
	case 2:
		return dsl.Annotations(map[string]dsl.Value[string]{"a": v})
	case 3:
		return dsl.CacheKey(v)
	case 4:
		return dsl.Sidecar("beside", dsl.Container{Image: v, Args: dsl.Args(v)}, dsl.Requests(dsl.Resources{Memory: v}))
	case 5:
		return dsl.Timeout(dsl.Value[time.Duration](v))
	}
	return nil
}

func (g *generator) after() dsl.StepOption { return dsl.After(some(g, g.handles)...) }

func pick[T any](g *generator, from []T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(g.T, "which")]
}

func some[T any](g *generator, from []T) []T {
	var out []T
	for _, v := range from {
		if rapid.IntRange(0, 2).Draw(g.T, "take") == 0 {
			out = append(out, v)
		}
	}
	return out
}

// plain says whether a text may stand in a parameter.
func plain(s string) bool {
	return !strings.Contains(s, "{{") && !strings.HasSuffix(s, "{") && json.Valid([]byte(strconv.Quote(s))) && utf8.ValidString(s)
}

func finite(f float64) bool { return f-f == 0 }
