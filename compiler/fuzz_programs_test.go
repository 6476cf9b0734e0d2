package compiler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// The compiler answers every program with faults in words, or with a workflow that Argo takes: names, texts, quantities and
// formats of any form, values at places where they do not belong or are not set. It never panics.
func FuzzPrograms(f *testing.F) {
	for _, seed := range []string{
		"", "\x00\x01\x02\x03", "\x01\x05\x02a\x01\x02\x09\x03", strings.Repeat("\x03\x01\x02", 20), "\x0a\x02\x00\x00\x01\x01\x01\xc8\x05{{x}}\x01", "\x04\xff\x00\x00\x0b\x08",
		"\x06\x01\x07\x02\x08\x03\x09\x04\x0a\x05", "\x02\x00\x02\x01\x02\x02\x05\x00\x02\x00\x03\x00\x03\x01\x08\x00\x02\x05\x05",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, tape []byte) { checkProgram(t, tape) })
}

// The same with long random tapes, which a fuzzer rarely makes.
func TestRandomProgramsAreToldOrCompile(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	compiled := 0
	for range 400 {
		tape := make([]byte, 20+random.Uint64()%300)
		_, _ = random.Read(tape) // it never fails
		if checkProgram(t, tape) {
			compiled++
		}
	}
	require.NotZero(t, compiled, "some are right")
}

// checkProgram says whether a program is right.
func checkProgram(t reporter, tape []byte) bool {
	t.Helper()
	w := &author{tape: tape, p: dsl.New("fuzzed")}
	if w.odd() {
		w.p = dsl.New(w.text("name", ""), dsl.Description(w.text("about")), dsl.Parallelism(w.below(4)), dsl.TTL(time.Duration(w.below(3)-1), 0),
			dsl.ImagePullSecrets(w.text("registry", "A b")), dsl.Timeout(w.duration()), dsl.ServiceAccount(w.value()), dsl.Labels(map[string]dsl.Value[string]{w.text("a", "a b"): w.value()}))
	}
	w.steps(4)
	if w.odd() {
		w.p.OnExit(func() { w.steps(3) })
	}
	if w.odd() {
		w.p.OnFailure(func() { w.steps(3) })
	}
	manifest, err := compiler.Compile(w.p)
	if err == nil {
		validate(t, manifest)
		return true
	}
	var faults dsl.Faults
	require.ErrorAs(t, err, &faults)
	require.NotEmpty(t, faults)
	for _, fault := range faults {
		require.NotEmpty(t, fault.Message)
		if !strings.Contains(fault.Message, "has no steps") {
			require.True(t, strings.HasSuffix(fault.At.File, "fuzz_programs_test.go"), "%v is told where it is not: %s", fault, fault.At.File)
		}
		require.NotContains(t, fault.Message, "dsl.hole", "a word of ours")
		require.NotContains(t, fault.Message, "0xc0", "an address is no word")
	}
	return false
}

// author writes a pipeline as bytes tell it.
type author struct {
	tape    []byte
	p       *dsl.Pipeline
	depth   int
	count   int
	values  []dsl.Value[string]
	numbers []dsl.Value[int]
	lists   []dsl.Value[[]string]
	files   []dsl.File[dsl.Dataset]
	folders []dsl.File[[]dsl.Dataset]
	handles []dsl.Handle
}

func (w *author) byte() byte {
	if len(w.tape) == 0 {
		return 0
	}
	b := w.tape[0]
	w.tape = w.tape[1:]
	return b
}

func (w *author) odd() bool       { return w.byte()%2 == 1 }
func (w *author) below(n int) int { return int(w.byte()) % n }

// text is most often the first of those that are given, which is right, sometimes another, seldom any.
func (w *author) text(usual ...string) string {
	b := w.byte()
	switch {
	case b < 220:
		return usual[0]
	case b < 248:
		return usual[int(b)%len(usual)]
	}
	n := min(int(b)-247, len(w.tape))
	text := string(w.tape[:n])
	w.tape = w.tape[n:]
	return text
}

func choose[T any](w *author, from []T) (chosen T) {
	if len(from) == 0 {
		return chosen // the zero value is not set
	}
	return from[w.below(len(from))]
}

// value is a constant, a formatted text, a variable, or an earlier value.
func (w *author) value() dsl.Value[string] {
	switch b := w.byte(); {
	case len(w.values) == 0 && b < 200, b < 80:
		return dsl.Lit(w.text("1", "", "10Gi", "a", "{{", "{", "$(A)"))
	case b < 200:
		return choose(w, w.values)
	case b < 210:
		return dsl.Sprintf(w.text("%s-%v", "%v", "%d", "%", "a{%v", "%[2]v", "%*v"), choose(w, w.values), choose(w, w.numbers))
	case b < 220:
		return dsl.Argo(w.text("workflow.name", "pod.name", "{{x}}", "item", "workflow.status"))
	case b < 230:
		return choose(w, []dsl.Value[string]{
			dsl.Secret(w.text("keys", "A"), w.text("key", "a b")), dsl.ConfigMap(w.text("map"), w.text("key")), dsl.FieldRef(w.text("metadata.name", "spec")), dsl.EnvOf(w.text("HOME", "a=b")),
		})
	case b < 240:
		return dsl.Value[string](choose(w, w.numbers))
	default:
		return dsl.Value[string](choose(w, w.lists))
	}
}

// fresh is a name that is not used yet.
func (w *author) fresh(prefix string) string {
	w.count++
	return fmt.Sprintf("%s-%d", prefix, w.count)
}

func (w *author) duration() dsl.Value[time.Duration] {
	if w.below(8) == 1 {
		return dsl.Value[time.Duration](w.value())
	}
	return dsl.Lit(time.Duration(w.byte()) * time.Second / 2)
}

func (w *author) whole() dsl.Value[int] {
	if len(w.numbers) > 0 && w.odd() {
		return choose(w, w.numbers)
	}
	return dsl.Lit(2 + w.below(3) - w.below(5)/4)
}

func (w *author) steps(most int) {
	w.depth++
	values, numbers, lists, files, folders, handles := w.values, w.numbers, w.lists, w.files, w.folders, w.handles
	defer func() {
		w.depth--
		if w.below(16) > 0 { // else they stray
			w.values, w.numbers, w.lists, w.files, w.folders, w.handles = values, numbers, lists, files, folders, handles
		}
	}()
	for range most {
		if len(w.tape) == 0 || w.depth > 4 {
			break
		}
		w.statement()
	}
	if len(w.handles) == 0 {
		w.step()
	}
}

func (w *author) statement() {
	switch w.below(13) {
	case 0, 1, 2:
		w.step()
	case 3:
		w.parameter()
	case 4:
		if !w.odd() {
			w.p.If(w.condition(), func() { w.steps(2) })
			break
		}
		b := w.p.If(w.condition(), func() { w.steps(2) }).ElseIf(w.condition(), func() { w.steps(2) })
		if b.Else(func() { w.steps(2) }); w.below(4) == 0 {
			b.Else(nil)
		}
	case 5:
		w.values = append(w.values, dsl.OneOf(w.value(), w.value()))
		w.files = append(w.files, dsl.OneOf(choose(w, w.files), choose(w, w.files)))
	case 6:
		w.values = append(w.values, dsl.Each(w.p, w.list(), func(item dsl.Value[string]) dsl.Value[string] {
			w.values = append(w.values, item)
			w.steps(2)
			return w.value()
		}))
	case 7:
		w.lists = append(w.lists, dsl.Collect(w.value()))
		w.folders = append(w.folders, dsl.CollectFiles(choose(w, w.files)))
	case 8:
		w.sub()
	case 9:
		w.job()
	case 10:
		from := []dsl.Source{{}, dsl.FromHTTP(w.value()), dsl.FromHTTP(dsl.Lit(w.text("http://h/x", "h/x"))), dsl.FromKey(w.value()), dsl.FromGit(w.value(), w.value()), dsl.FromText(w.value())}
		w.files = append(w.files, dsl.Import[dsl.Dataset](w.p, choose(w, from)))
	case 11:
		w.p.Defaults(w.option())
	case 12:
		w.component()
	}
}

func (w *author) list() dsl.Value[[]string] {
	if w.odd() {
		return choose(w, w.lists)
	}
	return dsl.Lit([]string{w.text("a", "", "{{"), w.text("b")}[:1+w.below(2)])
}

func (w *author) condition() dsl.Cond {
	switch w.below(6) {
	case 0:
		return dsl.Cond{}
	case 1:
		return dsl.Gt(choose(w, w.numbers), w.below(9))
	case 2:
		return dsl.Lt(dsl.Value[float64](w.value()), []float64{0.5, math.NaN(), math.Inf(1), -1e300}[w.below(4)])
	}
	return dsl.Eq(w.value(), w.text("a", "", "'", "{{x}}", "\\"))
}

func (w *author) parameter() {
	name := w.text(w.fresh("p"), "q", "a b", "")
	switch w.below(6) {
	case 0:
		def := w.below(9)
		w.numbers = append(w.numbers, dsl.Param(w.p, name, def, dsl.Choices(w.below(3), def), dsl.Help(w.text("help"))))
	case 1:
		w.lists = append(w.lists, dsl.Param(w.p, name, []string{w.text("a")}))
	case 2:
		w.values = append(w.values, dsl.Value[string](dsl.Param(w.p, name, map[string]any{w.text("k"): w.text("v"), "n": []any{nil, w.below(9), 1e300}})))
	case 3:
		w.values = append(w.values, dsl.Required[string](w.p, name, dsl.Choices(1)))
	case 4:
		w.values = append(w.values, dsl.Value[string](dsl.Param[any](w.p, name, []any{nil, math.NaN(), make(chan int), func() {}, &name}[w.below(5)])))
	default:
		w.values = append(w.values, dsl.Param(w.p, name, w.text("text", "", "{{", "a\x00", "\xff")))
	}
}

func (w *author) container() dsl.Container {
	c := dsl.Container{Image: dsl.Lit(w.text("alpine", "host", "", "a b")), Args: dsl.Args(w.text("x", "{{"), w.value())}
	switch w.below(6) {
	case 0:
		c.Image = w.value()
	case 1:
		c.Env = dsl.Env{w.text("A", "", "A B"): w.value(), "B": w.value()}
	case 2:
		c.Args = append(c.Args, dsl.Args(choose(w, w.files), choose(w, w.folders), choose(w, w.lists), math.Inf(1), nil)[:w.below(6)]...)
	case 3:
		c = dsl.Script(w.value(), w.text("sh", ""), w.text("echo", ""), w.value())
	case 4:
		c.Artifacts = []dsl.Artifact{{Name: w.text("a", "A b", ""), Path: w.text("/a", "a", "/", "/{{x}}")}}
		c.WorkingDir = w.value()
	}
	return c
}

func (w *author) step() {
	c := w.container()
	s := dsl.Run(w.p, w.text(w.fresh("step"), "step", "a b", "condition-1", ""), c, w.option(), w.option())
	w.handles = append(w.handles, s)
	w.values = append(w.values, dsl.Output[string](s, w.text("out", "", "a b", "number"), w.text("/tmp/out", "out", "/")))
	if w.odd() {
		w.numbers = append(w.numbers, dsl.Output[int](s, "number", "/tmp/number", dsl.Default(w.text("1", "", "{{", "\xff"))))
		w.lists = append(w.lists, dsl.Output[[]string](s, "list", "/tmp/list"))
		w.files = append(w.files, dsl.OutputFile[dsl.Dataset](s, w.text("file", "out", ""), w.text("/tmp/file", "/tmp")))
	}
}

func (w *author) option() dsl.StepOption {
	v := w.value()
	pair := map[string]dsl.Value[string]{w.text("a", "example.com/a", "a b", ""): v}
	options := []func() dsl.StepOption{
		func() dsl.StepOption { return nil },
		func() dsl.StepOption { return dsl.After(choose(w, w.handles), v) },
		func() dsl.StepOption {
			return dsl.Limits(dsl.Resources{CPU: v, Memory: dsl.Lit(w.text("1Gi", "10 Gi", "-1", "1e", ".", "1E5"))})
		},
		func() dsl.StepOption { return dsl.Requests(dsl.Resources{Memory: v}) },
		func() dsl.StepOption { return dsl.GPUs(w.whole(), w.text("amd.com/gpu", "a b", "")) },
		func() dsl.StepOption {
			return dsl.Mount(w.text("/m", "m", "/"), choose(w, []dsl.Volume{{}, dsl.Claim(v), dsl.SecretFiles(v), dsl.HostPath(v), dsl.Scratch(w.text("1Gi", "x")), dsl.SharedMemory(w.text("1Gi", ""))}).SubPath(v))
		},
		func() dsl.StepOption { return dsl.NodeSelector(pair) },
		func() dsl.StepOption { return dsl.Labels(pair) },
		func() dsl.StepOption { return dsl.Annotations(pair) },
		func() dsl.StepOption {
			return dsl.Tolerate(dsl.Toleration{Key: w.text("k", "", "a b"), Value: v, Effect: w.text("NoExecute", "", "Never"), For: time.Duration(w.below(3)) * time.Second})
		},
		func() dsl.StepOption {
			return dsl.Retries(dsl.Retry{Limit: w.whole(), Policy: dsl.RetryPolicy(w.text("Always", "", "Often")), Backoff: dsl.Backoff{Wait: w.duration(), Factor: w.below(4) - 1}})
		},
		func() dsl.StepOption { return dsl.Timeout(w.duration()) },
		func() dsl.StepOption { return dsl.CacheKey(v) },
		func() dsl.StepOption { return dsl.CacheFor(time.Duration(w.below(5)-1) * time.Hour) },
		func() dsl.StepOption { return dsl.Priority(v) },
		func() dsl.StepOption {
			return dsl.PodSpecPatch(dsl.Lit(w.text(`{"hostNetwork":true}`, "{}", "[", "{{x}}")))
		},
		func() dsl.StepOption { return dsl.Sidecar(w.text("beside", "main", ""), w.container(), w.inner()) },
		func() dsl.StepOption { return dsl.InitContainer(w.text("before", "wait"), w.container()) },
		func() dsl.StepOption { return dsl.At(w.text("/in", "in", "/tmp/out"), choose(w, w.files)) },
		func() dsl.StepOption { return dsl.SecretEnv(w.text("keys", "A_B")) },
		func() dsl.StepOption {
			return dsl.Near(dsl.Affinity{Nodes: []dsl.NodeTerm{{Weight: w.below(3), Labels: []dsl.Requirement{{Key: w.text("k", "a b"), Operator: w.text("In", "Exists", "Is"), Values: []dsl.Value[string]{w.value()}[:w.below(2)]}}}}})
		},
		func() dsl.StepOption { return dsl.Variables(dsl.Env{w.text("A", "="): v}) },
	}
	return options[w.below(len(options))]()
}

// inner is an option of a container beside the step.
func (w *author) inner() dsl.StepOption {
	if w.odd() {
		return dsl.Mount("/m", dsl.Scratch("1Gi"))
	}
	return dsl.Limits(dsl.Resources{Memory: w.value()})
}

func (w *author) sub() {
	type ends struct {
		Text dsl.Value[string]
		File dsl.File[dsl.Dataset]
	}
	name := w.text(w.fresh("sub"), "sub", "a b", "")
	var call func(in ends) ends
	deep := 0
	call = func(in ends) ends {
		return dsl.Sub(w.p, name, in, func(in ends) ends {
			w.values, w.files = append(w.values, in.Text), append(w.files, in.File)
			w.steps(2)
			if deep++; w.odd() && deep < 3 {
				return call(ends{w.value(), choose(w, w.files)})
			}
			return ends{w.value(), choose(w, w.files)}
		}, choose(w, w.handles))
	}
	out := call(ends{w.value(), choose(w, w.files)})
	w.values, w.files = append(w.values, out.Text), append(w.files, out.File)
}

func (w *author) job() {
	job := train.Spec{
		Image: w.value(), Command: w.value(), Workers: w.whole(), GPUs: w.whole(), CPU: w.value(), Memory: w.value(), Data: []dsl.Value[string]{w.value(), dsl.Lit(w.text("a:/b", "a"))},
		Env: dsl.Env{w.text("A", "A-B", ""): w.value()}, Labels: map[string]dsl.Value[string]{w.text("a", ""): w.value()}, Annotations: map[string]dsl.Value[string]{w.text("a", "b c"): w.value()},
		Tolerations: []train.Toleration{{Key: w.text("k", "", "a b"), Value: w.value(), Effect: w.text("NoSchedule", "x")}}, Queue: w.value(), Network: dsl.Value[train.Network](w.value()),
		Topology:       train.Topology{Affinity: [][]string{{w.text("worker", "ps", "")}}, Order: slices.Repeat([]string{w.text("worker")}, w.below(3))},
		Metrics:        []train.Metric{{Name: w.text("loss", "", "a:b"), NameFrom: choose(w, w.values), Format: train.Format(w.text("RAW", "x")), Pattern: w.text("", "(", `(\d+)`)}},
		PendingTimeout: w.duration(), TTL: w.duration(), Retries: w.whole(), SSHPort: w.whole(), LauncherImage: w.value(), CleanPodPolicy: train.CleanPodPolicy(w.text("", "All", "all")),
	}
	role := train.Role{Replicas: w.whole(), CPU: w.value(), NodeSelector: map[string]dsl.Value[string]{w.text("a", ""): w.value()}}
	name := w.text(w.fresh("job"), "", "a b")
	var out train.Outputs
	switch w.below(5) {
	case 0:
		out = train.MPIJob(w.p, name, train.MPI(job), w.option())
	case 1:
		out = train.TFJob(w.p, name, train.TF{Spec: job, PS: role, Worker: role}, w.option())
	case 2:
		out = train.VolcanoJob(w.p, name, train.Volcano{Spec: job, Tasks: []train.Task{{Name: w.text("a", "", "A b"), Role: role, Ends: w.odd()}, {Name: w.text("b", "a"), Role: role}}})
	case 3:
		out = train.PyTorchJob(w.p, name, train.PyTorch(job))
	default:
		out = train.Job(w.p, name, train.Single(job))
	}
	w.handles, w.values, w.numbers = append(w.handles, out.Step), append(w.values, out.JobName), append(w.numbers, out.WorldSize)
}

func (w *author) component() {
	type in struct {
		Text dsl.Value[string]
		File dsl.File[dsl.Dataset]
	}
	type out struct {
		Rate  dsl.Value[float64]
		Model dsl.File[dsl.Model]
	}
	made := dsl.Define(w.text(w.fresh("fit"), "a b", ""), func(i in, o out) dsl.Container {
		c := w.container()
		c.Args = append(c.Args, dsl.Args(i.Text, i.File, dsl.Path(o.Rate))...)
		return c
	}).Add(w.p, in{w.value(), choose(w, w.files)}, w.option())
	w.values = append(w.values, dsl.Value[string](made.Rate))
}
