//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// job compiles a pipeline of one MPIJob with a command and one worker.
func job(t *testing.T, command string) []byte {
	t.Helper()
	p := dsl.New("job")
	train.MPIJob(p, "all-reduce", train.MPI{Image: dsl.Lit("debian"), Command: dsl.Lit(command), Metrics: []train.Metric{{Name: "loss"}}})
	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	return workflow
}

// TestPipelines runs what the DSL can say where only a cluster can tell whether it comes out as it was meant.
func TestPipelines(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir(), func(c *exec.Cmd) { c.Args = append(c.Args, "--images", "pull") })
	t.Run("files collected from loops", func(t *testing.T) { a.collectsFiles(t) })
	t.Run("texts as they were written", func(t *testing.T) { a.saysWhatWasWritten(t) })
	t.Run("texts as they come with the run", func(t *testing.T) { a.arrivesAsItIs(t) })
	t.Run("branches, and what is known late", func(t *testing.T) { a.branches(t) })
	t.Run("the end of a run that fails", func(t *testing.T) { a.fails(t) })
	t.Run("functions in an image", func(t *testing.T) { a.runsFunctions(t) })
	t.Run("data from elsewhere", func(t *testing.T) { a.imports(t) })
	t.Run("the command line", func(t *testing.T) { a.commands(t) })
	t.Run("steps in a queue", func(t *testing.T) { a.queues(t) })
	t.Run("a job from the command line", func(t *testing.T) { a.submits(t) })
}

// runs compiles a pipeline and runs it to its good end.
func (a *argosy) runs(t *testing.T, p *dsl.Pipeline) runView {
	t.Helper()
	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	return a.succeeds(t, p.Name(), workflow)
}

// succeeds runs a workflow to its good end.
func (a *argosy) succeeds(t *testing.T, name string, workflow []byte) runView {
	t.Helper()
	var pipeline struct{ ID string }
	a.upload(t, name, name+".yaml", workflow, 200, &pipeline)
	run := a.await(t, a.createRun(t, name, pipeline.ID, nil), 3*time.Minute, runView.final)
	if run.Status != "Succeeded" {
		for _, n := range run.Nodes {
			if n.Type == "Pod" {
				t.Logf("%s: %s\n%s", n.DisplayName, n.Message, a.log(t, run.ID, n.ID))
			}
		}
	}
	require.Equal(t, "Succeeded", run.Status, "%+v", run)
	return run
}

// queues runs a pipeline whose steps Volcano places, in a queue.
func (a *argosy) queues(t *testing.T) {
	a.says(t, 0, "queue", "create", "steps")
	p := dsl.New("queued")
	p.Defaults(dsl.Queue(dsl.Lit("steps")))
	script(p, "say", "echo said")
	run := a.runs(t, p)
	require.Contains(t, a.stepLog(t, run, "say"), "said")
	var groups struct {
		Items []struct{ Spec struct{ Queue string } }
	}
	a.kubernetes(t, "/apis/scheduling.volcano.sh/v1beta1/namespaces/kubeflow/podgroups", &groups)
	require.Len(t, groups.Items, 1)
	require.Equal(t, "steps", groups.Items[0].Spec.Queue)
}

// script is a step that runs a script of the shell on this machine's files.
func script(p *dsl.Pipeline, name, text string, args ...any) *dsl.Step {
	return dsl.Run(p, name, dsl.Container{Image: dsl.Lit("host"), Command: dsl.Args("sh", "-ec", text), Args: dsl.Args(args...)})
}

// collectsFiles leaves files and folders in loops, in nested ones, in branches and in a sub-pipeline that is called twice,
// and reads all of them, in the order of the items.
func (a *argosy) collectsFiles(t *testing.T) {
	p := dsl.New("collected")
	say := func(name string, args ...any) dsl.File[dsl.Dataset] {
		return dsl.OutputFile[dsl.Dataset](script(p, name, `echo "$0 $*" > /tmp/said`, args...), "said", "/tmp/said")
	}
	const read = `cd "$0"; find . -type f | sort | while read -r f; do echo "$f: $(cat "$f")"; done`
	letters := dsl.Param(p, "letters", strings.Split("l k j i h g f e d c b a", " "))

	flat := dsl.Each(p, letters, func(letter dsl.Value[string]) dsl.File[dsl.Dataset] { return say("one", letter) })
	script(p, "read-flat", read, dsl.CollectFiles(flat))

	nested := dsl.Each(p, dsl.Lit([]string{"x/y", "b(7:\""}), func(outer dsl.Value[string]) dsl.File[[]dsl.Dataset] {
		said := dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{3, 1}), func(n dsl.Value[int]) dsl.File[dsl.Dataset] {
			var small, large dsl.File[dsl.Dataset]
			p.If(dsl.Lt(n, 2), func() { small = say("small", outer, n) }).Else(func() { large = say("large", outer, n) })
			return dsl.OneOf(small, large)
		}))
		script(p, "read-inner", read, said)
		return said
	})
	script(p, "read-nested", read, dsl.CollectFiles(nested))

	folders := dsl.Each(p, dsl.Lit([]string{"p", "q"}), func(name dsl.Value[string]) dsl.File[dsl.Dataset] {
		return dsl.OutputFile[dsl.Dataset](script(p, "folder", `mkdir -p /tmp/out/deep; echo "$0" > /tmp/out/top; echo "$0" > /tmp/out/deep/down`, name), "out", "/tmp/out")
	})
	script(p, "read-folders", read, dsl.CollectFiles(folders))

	type in struct {
		Prefix dsl.Value[string]
		Before dsl.File[[]dsl.Dataset]
	}
	type out struct{ *dsl.Step }
	for _, prefix := range []string{"first", "second"} {
		dsl.Sub(p, "inside", in{dsl.Lit(prefix), dsl.CollectFiles(folders)}, func(in in) out {
			said := dsl.Each(p, dsl.Lit([]string{"v", "u"}), func(letter dsl.Value[string]) dsl.File[dsl.Dataset] { return say("said", in.Prefix, letter) })
			script(p, "read-inside", read, dsl.CollectFiles(said))
			script(p, "read-before", read, in.Before)
			return out{}
		})
	}

	run := a.runs(t, p)
	var want strings.Builder
	for i, letter := range strings.Split("l k j i h g f e d c b a", " ") {
		want.WriteString("./" + []string{"00000", "00001", "00002", "00003", "00004", "00005", "00006", "00007", "00008", "00009", "00010", "00011"}[i] + ": " + letter + " \n")
	}
	require.Equal(t, want.String(), a.stepLog(t, run, "read-flat"))
	const first, second = "./00000: x/y 3\n./00001: x/y 1\n", "./00000: b(7:\" 3\n./00001: b(7:\" 1\n"
	require.ElementsMatch(t, []string{first, second}, a.logs(t, run, "read-inner"))
	require.Equal(t, strings.ReplaceAll(first, "./", "./00000/")+strings.ReplaceAll(second, "./", "./00001/"), a.stepLog(t, run, "read-nested"))
	const both = "./00000/deep/down: p\n./00000/top: p\n./00001/deep/down: q\n./00001/top: q\n"
	require.Equal(t, both, a.stepLog(t, run, "read-folders"))
	require.Equal(t, []string{both, both}, a.logs(t, run, "read-before"))
	require.ElementsMatch(t, []string{"./00000: first v\n./00001: first u\n", "./00000: second v\n./00001: second u\n"}, a.logs(t, run, "read-inside"))
}

// saysWhatWasWritten has steps say texts that Argo, Kubernetes or a shell would read as something else: as arguments, as
// variables, as a script, beside a value, in a loop, and out of a function.
func (a *argosy) saysWhatWasWritten(t *testing.T) {
	texts := []string{
		"$$", "$(HOME)", "$$(HOME)", "$$$$(HOME)$", "$HOME ${HOME} `id`", "$(ARGOSY_BRACE)",
		"{{workflow.name}}", "{{.Names}}", "{{{{", "{%raw%}{{ item }}", "${{ secrets.X }}", "{{=1+1}}", "}}{{",
		`a "b" \ 'c'`, "tab\tand\nline", " spaces ", "ünï 日本", "--flag", "",
	}
	p := dsl.New("texts")
	word := dsl.Param(p, "word", "w$$(X){")
	args := make([]any, len(texts))
	env := dsl.Env{}
	say := "for a in \"$@\"; do printf '<%s>' \"$a\"; done\n"
	for i, text := range texts {
		args[i] = text
		name := fmt.Sprintf("T%02d", i)
		env[name] = dsl.Lit(text)
		say += "printf '<%s>' \"$" + name + "\"\n"
	}
	host := dsl.Lit("host")
	dsl.Run(p, "args", dsl.Container{Image: host, Command: dsl.Args(append([]any{"sh", "-c", say, "sh"}, args...)...), Env: env})
	dsl.Run(p, "beside", dsl.Container{Image: host, Command: dsl.Args("printf", "<%s>"), Args: dsl.Args(
		dsl.Sprintf("{%v}", word), dsl.Sprintf("${{%v{{", word), dsl.Sprintf("%v{", word), dsl.Sprintf("{{%s", dsl.EnvOf("X"))), Env: dsl.Env{"X": dsl.Lit("x")}})
	script := "printf '<%s>' '$(HOME)' '$$' \"$1\" '$(X)'\n"
	dsl.Run(p, "script", dsl.Script(host, "sh", script, "$$ {{x}}"))
	bare := dsl.Script(host, "sh", script)
	bare.Env = dsl.Env{"X": dsl.Lit("x")}
	dsl.Run(p, "bare", bare)
	dsl.Each(p, dsl.Lit([]string{"$(HOME)$$", `q"q\`}), func(item dsl.Value[string]) any {
		return dsl.Run(p, "item", dsl.Container{Image: host, Command: dsl.Args("printf", "<%s>", dsl.Sprintf("{{%v", item))})
	})

	run := a.runs(t, p)
	all := "<" + strings.Join(texts, "><") + ">"
	require.Equal(t, all+all, a.stepLog(t, run, "args"))
	require.Equal(t, "<{w$$(X){}><${{w$$(X){{{><w$$(X){{><{{x>", a.stepLog(t, run, "beside"))
	require.Equal(t, "<$(HOME)><$$><$$ {{x}}><$(X)>", a.stepLog(t, run, "script"))
	require.Equal(t, "<$(HOME)><$$><><$(X)>", a.stepLog(t, run, "bare"))
	require.ElementsMatch(t, []string{"<{{$(HOME)$$>", `<{{q"q\>`}, a.logs(t, run, "item"))
}

// arrivesAsItIs has texts come only with the run, as a parameter and as the output of a step, and reach the container by an
// argument, a variable, a script, a loop, a sub-pipeline and steps that share a template.
func (a *argosy) arrivesAsItIs(t *testing.T) {
	const text = "$ $$ $$$ $(POD_NAME) $$(POD_NAME) ${HOME} `id`\n\t\"two\" 'one' \\n \\ {x} }} ünï 日本 🚀 <&> %s"
	const braces = text + " {{x}} {{.Names}} {{ item }}" // which Argo takes neither as a parameter nor for a loop
	p := dsl.New("late-texts")
	given := dsl.Required[string](p, "given")
	pod := dsl.Env{"POD_NAME": dsl.FieldRef("metadata.name")}
	host := dsl.Lit("host")
	write := dsl.Run(p, "write", dsl.Container{Image: host, Command: dsl.Args("sh", "-ec", `printf %s "$0" > /tmp/out`, braces)})
	made := dsl.Output[string](write, "out", "/tmp/out")
	say := func(name string, v dsl.Value[string]) {
		dsl.Run(p, name, dsl.Container{
			Image: host, Command: dsl.Args("sh", "-ec", `printf '<%s>' "$0" "$TEXT"`), Args: dsl.Args(v),
			Env: dsl.Env{"POD_NAME": pod["POD_NAME"], "TEXT": v},
		})
	}
	say("parameter", given)
	say("output-1", made)
	say("output-2", made)
	say("output-3", dsl.Lit("$(POD_NAME) $$"))
	source := dsl.Script(host, "cat", "x", dsl.Import[dsl.Dataset](p, dsl.FromText(dsl.Sprintf("<%v>", made))))
	source.Command = dsl.Args("tail", "-n", "+1", "-q")
	source.Env = pod
	dsl.Run(p, "source", source)
	dsl.Each(p, dsl.Lit([]int{1}), func(dsl.Value[int]) any { say("looped", given); return nil })
	type in struct{ Text dsl.Value[string] }
	type out struct{ *dsl.Step }
	dsl.Sub(p, "sub", in{made}, func(in in) out { say("inside", in.Text); return out{} })

	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	var pipeline struct{ ID string }
	a.upload(t, p.Name(), "late.yaml", workflow, 200, &pipeline)
	run := a.await(t, a.createRun(t, p.Name(), pipeline.ID, map[string]string{"given": text}), 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%+v", run)
	require.Equal(t, "<"+text+"><"+text+">", a.stepLog(t, run, "parameter"))
	require.Equal(t, "<"+text+"><"+text+">", a.stepLog(t, run, "looped"))
	for _, step := range []string{"output-1", "output-2", "inside"} {
		require.Equal(t, "<"+braces+"><"+braces+">", a.stepLog(t, run, step), step)
	}
	require.Equal(t, "<$(POD_NAME) $$><$(POD_NAME) $$>", a.stepLog(t, run, "output-3"))
	require.Equal(t, "x<"+braces+">", a.stepLog(t, run, "source"))
}

// branches merges what the branches of an If give, values and files, in a loop that takes each of them; and gives a pod limits
// and a patch that are known only when the run begins, with containers beside its own.
func (a *argosy) branches(t *testing.T) {
	p := dsl.New("branches")
	n := dsl.Param(p, "n", 7)
	memory := dsl.Param(p, "memory", "64Mi")
	give := func(name string) (dsl.Value[string], dsl.File[dsl.Dataset]) {
		s := script(p, name, `echo -n "$0" > /tmp/word; echo "the file of $0" > /tmp/file`, name)
		return dsl.Output[string](s, "word", "/tmp/word"), dsl.OutputFile[dsl.Dataset](s, "file", "/tmp/file")
	}
	_, before := give("before")
	dsl.Each(p, dsl.Lit([]int{1, 2, 3}), func(item dsl.Value[int]) any {
		var one, two, other dsl.Value[string]
		var oneFile, otherFile dsl.File[dsl.Dataset]
		p.If(dsl.Eq(item, 1), func() { one, oneFile = give("one") }).
			ElseIf(dsl.Lt(item, 3), func() { two, _ = give("two") }).
			Else(func() { other, otherFile = give("other") })
		return script(p, "tell", `echo "$0 $1: $(cat "$2")"`, item, dsl.OneOf(one, two, other), dsl.OneOf(oneFile, otherFile, before))
	})
	shared := dsl.Mount("/shared", dsl.Scratch("1Mi"))
	dsl.Run(p, "late", dsl.Container{
		Image: dsl.Lit("host"), Command: dsl.Args("sh", "-ec", `until test -s /shared/beside; do sleep 0.05; done; echo "$(hostname) $(cat /shared/first /shared/beside) $(cat "$0")"`),
		Args: dsl.Args(dsl.Import[dsl.Dataset](p, dsl.FromText(dsl.Sprintf("imported %v", n)))),
	}, shared,
		dsl.Limits(dsl.Resources{Memory: memory}), dsl.PodSpecPatch(dsl.Sprintf(`{"hostname": "h-%v", "terminationGracePeriodSeconds": %v}`, n, n)),
		dsl.InitContainer("first", dsl.Container{Image: dsl.Lit("host"), Command: dsl.Args("sh", "-c", "echo first > /shared/first")}, shared),
		dsl.Sidecar("beside", dsl.Container{Image: dsl.Lit("host"), Command: dsl.Args("sh", "-c", "echo {{beside}} > /shared/beside; sleep 600")}, dsl.Limits(dsl.Resources{Memory: memory})))

	run := a.runs(t, p)
	require.ElementsMatch(t, []string{"1 one: the file of one\n", "2 two: the file of before\n", "3 other: the file of other\n"}, a.logs(t, run, "tell"))
	require.Equal(t, "h-7 first {{beside}} imported 7\n", strings.ReplaceAll(a.stepLog(t, run, "late"), "first\n", "first "))
}

// fails has a step that fails: what waits for it does not run, and what is for the end does.
func (a *argosy) fails(t *testing.T) {
	p := dsl.New("fails")
	broken := script(p, "broken", "exit 3")
	script(p, "after", "true")
	dsl.Run(p, "waits", dsl.Container{Image: dsl.Lit("host"), Command: dsl.Args("true")}, dsl.After(broken))
	p.OnExit(func() { script(p, "always", `echo "it has $0"`, dsl.Argo("workflow.status")) })
	p.OnFailure(func() { script(p, "page", `echo "oh no: $0"`, dsl.Argo("workflow.status")) })
	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	var pipeline struct{ ID string }
	a.upload(t, p.Name(), "fails.yaml", workflow, 200, &pipeline)
	run := a.await(t, a.createRun(t, p.Name(), pipeline.ID, nil), 3*time.Minute, runView.final)
	require.Equal(t, "Failed", run.Status)
	require.Equal(t, "it has Failed\n", a.stepLog(t, run, "always"))
	require.Equal(t, "oh no: Failed\n", a.stepLog(t, run, "page"))
	require.Empty(t, a.logs(t, run, "waits"))
	require.Len(t, a.logs(t, run, "after"), 1)
}

// runsFunctions runs Go functions out of an image that argosy image made, without any of this machine's files. One
// pipeline gets the image when it is compiled, the other names it itself.
func (a *argosy) runsFunctions(t *testing.T) {
	program := filepath.Join(repository, "compiler/testdata/programs/functions")
	image := func(name string) string {
		code, image, errs := command(t, "image", program, "--name", name, "--load", "--home", a.home)
		require.Zero(t, code, errs)
		return strings.TrimSpace(image)
	}
	compile := func(pipeline string, args ...string) []byte {
		file := filepath.Join(t.TempDir(), "p.yaml")
		code, _, errs := command(t, append([]string{"compile", program, "--pipeline", pipeline, "-o", file}, args...)...)
		require.Zero(t, code, errs)
		workflow, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(workflow), "hostPath")
		return workflow
	}
	output := func(run runView, step, name string) string {
		for _, o := range run.Nodes[run.node(t, step)].Outputs {
			if o.Name == name {
				return o.Value
			}
		}
		t.Fatalf("step %s has no output %s: %+v", step, name, run.Nodes)
		return ""
	}

	run := a.succeeds(t, "functions", compile("functions", "--image", image("example/functions")))
	around, rest, _ := strings.Cut(output(run, "tell", "said"), "\n")
	require.Equal(t, "B\nA", rest, "said by those before, in their order")
	require.Subset(t, strings.Fields(around), []string{"pipelines", "tmp"})
	require.NotContains(t, strings.Fields(around), "usr")
	require.NotContains(t, strings.Fields(around), "home")

	require.Equal(t, "example/functions:own", image("example/functions:own"))
	run = a.succeeds(t, "own", compile("own"))
	require.NotContains(t, output(run, "look", "around"), `"usr"`)
	require.Contains(t, output(run, "look", "around"), `"pipelines"`)
}

// logs are those of all pods of a step that ran several times.
func (a *argosy) logs(t *testing.T, run runView, step string) []string {
	t.Helper()
	var logs []string
	for _, n := range run.Nodes {
		if n.Type == "Pod" && n.DisplayName == step {
			logs = append(logs, a.log(t, run.ID, n.ID))
		}
	}
	return logs
}
