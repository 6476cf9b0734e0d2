package dsl_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

var alpine = dsl.Lit("alpine:3.22")

// wrong holds pipelines with mistakes. The faults expected on a line stand behind it after "want", with | between
// them; that file, line and step are right is thereby checked for each.
var wrong = map[string]func(*dsl.Pipeline){
	"container": func(p *dsl.Pipeline) {
		dsl.Run(p, "unset", dsl.Container{})                                                                                 // want step unset: Image is not set: it is the container image to run, as in dsl.Lit("alpine:3.22")
		dsl.Run(p, "empty", dsl.Container{Image: dsl.Lit("")})                                                               // want step empty: Image is empty
		dsl.Run(p, "policy", dsl.Container{Image: alpine, ImagePullPolicy: "never"})                                         // want step policy: ImagePullPolicy is "never": it must be Always, IfNotPresent or Never
		dsl.Run(p, "env", dsl.Container{Image: alpine, Env: dsl.Env{"A B": dsl.Lit(""), "C": {}}})                           // want step env: Env "A B" is not a name for an environment variable: use letters, digits and _ | step env: Env C is not set: use dsl.Lit("") for an empty value
		dsl.Run(p, "hole", dsl.Container{Image: alpine, Args: []dsl.Value[string]{{}}})                                      // want step hole: Args[0] is not set
		dsl.Run(p, "braces", dsl.Container{Image: alpine, WorkingDir: dsl.Lit("/{{.Names}}")})                               // want step braces: WorkingDir holds {{, which Argo would take for a variable: use dsl.Argo for a variable; other text with {{ can stand in Command, Args and Env only
		dsl.Run(p, "brace", dsl.Container{Image: alpine, WorkingDir: dsl.Sprintf("{%v}", dsl.Param(p, "x", 1))})             // want step brace: WorkingDir has { right before a value, which Argo cannot read: put something between them
		dsl.Run(p, "nul", dsl.Container{Image: alpine, Args: dsl.Args("a\x00b", "\xff")})                                    // want step nul: Args[0] holds a NUL character | step nul: Args[1] is not valid UTF-8
		dsl.Run(p, "json", dsl.Container{Image: alpine, Args: dsl.Args(func() {}, nil)})                                     // want step json: Args[0]: argument 1 cannot be written as text: json: unsupported type: func() | step json: Args[1]: argument 2 cannot be written as text: it is nil
		dsl.Run(p, "field", dsl.Container{Image: alpine, Args: []dsl.Value[string]{dsl.FieldRef("metadata.name")}})          // want step field: Args[0]: dsl.FieldRef can only be the whole value of an environment variable
		dsl.Run(p, "argo", dsl.Container{Image: alpine, Args: []dsl.Value[string]{dsl.Argo("{{workflow.name}}")}})           // want step argo: Args[0]: dsl.Argo("{{workflow.name}}"): write the variable's name without braces, as in workflow.name
		dsl.Run(p, "file", dsl.Container{Image: alpine, Artifacts: []dsl.Artifact{{Name: "a", Path: "b"}}})                  // want step file: artifact a: its path "b" must be an absolute path in the container
		dsl.Run(p, "files", dsl.Container{Image: alpine, Artifacts: []dsl.Artifact{{"a", "/b", false}, {"a", "/c", false}}}) // want step files: artifact a is declared twice
	},
	"names": func(p *dsl.Pipeline) {
		dsl.Run(p, "Fit Model", dsl.Container{Image: alpine})   // want step "Fit Model": the name must hold only lower-case letters, digits and -, begin with a letter, end with a letter or digit, and have at most 50 characters
		dsl.Run(p, "for-loop-7", dsl.Container{Image: alpine})  // want step for-loop-7: names like condition-1 and for-loop-1 are those of conditions and loops: choose another
		dsl.Run(p, "twice", dsl.Container{Image: alpine})       // line of twice
		s := dsl.Run(p, "twice", dsl.Container{Image: alpine})  // want step twice: the name is used twice, first at wrong_test.go:{twice}
		dsl.Output[int](s, "a b", "/x")                         // the fault is the step's
		dsl.Param(p, "size", 1)                                 // line of size
		dsl.Param(p, "size", 2)                                 // want parameter size is declared twice, first at wrong_test.go:{size}
		dsl.Param(p, "a b", "")                                 // want parameter "a b": the name must begin with a letter and hold only letters, digits, - and _
		dsl.Param(p, "f", func() {})                            // want parameter f: its default cannot be written as JSON: json: unsupported type: func()
		dsl.Param(p, "braces", "{{x}}")                         // want parameter braces: its default holds {{, which Argo would take for a variable
		dsl.Param(p, "nul", "\x00")                             // want parameter nul: its default holds a NUL character
		two := dsl.Run(p, "outs", dsl.Container{Image: alpine}) // want step outs: output x is declared twice | step outs: output y: its path "y" must be an absolute path in the container
		dsl.Output[int](two, "x", "/x")
		dsl.Output[int](two, "x", "/x")
		dsl.Output[int](two, "y", "y")
	},
	"sprintf": func(p *dsl.Pipeline) {
		v := dsl.Param(p, "v", 1)
		run := func(name string, arg dsl.Value[string]) {
			dsl.Run(p, name, dsl.Container{Image: alpine, Args: []dsl.Value[string]{arg}}) // want step early: Args[0] was formatted with package fmt, and a value in it is known only when the pipeline runs: use dsl.Sprintf
		}
		format, padded := "%v %v", "%05d"                    // go vet finds them where they are constants
		run("verb", dsl.Sprintf(padded, v))                  // want step verb: Args[0]: dsl.Sprintf("%05d"): %05d needs the value now, and it is known only when the pipeline runs: use %v
		run("missing", dsl.Sprintf(format, v))               // want step missing: Args[0]: dsl.Sprintf("%v %v"): the arguments do not fit the format: %!v(MISSING)
		run("extra", dsl.Sprintf(padded[:0]+"x", v))         // want step extra: Args[0]: dsl.Sprintf("x"): the arguments do not fit the format: %!(EXTRA a value)
		run("unset", dsl.Sprintf("%v", dsl.Value[string]{})) // want step unset: Args[0]: dsl.Sprintf("%v"): value 1 is not set
		run("early", dsl.Lit(fmt.Sprintf("%v", v)))
	},
	"scopes": func(p *dsl.Pipeline) {
		var fitted, item, looped dsl.Value[string]
		p.If(dsl.Eq(dsl.Param(p, "mode", "a"), "a"), func() { // line of if
			fitted = dsl.Output[string](dsl.Run(p, "fit", dsl.Container{Image: alpine}), "model", "/m")
		})
		dsl.Each(p, dsl.Lit([]string{"a"}), func(i dsl.Value[string]) any { // line of each
			item, looped = i, dsl.Output[string](dsl.Run(p, "body", dsl.Container{Image: alpine}), "out", "/o")
			return nil
		})
		done := dsl.Run(p, "done", dsl.Container{Image: alpine, Args: dsl.Args(
			fitted, item, looped)}) // the call begins above
		out := dsl.Output[string](done, "out", "/o")
		dsl.Run(p, "collects", dsl.Container{Image: alpine, Args: dsl.Args(
			dsl.Collect(fitted), // want step collects: Args[0]: Collect: output model of step fit is in the If at wrong_test.go:{if}, not in an Each
			dsl.Collect(item),   // want step collects: Args[1]: Collect: only an output of a step can be collected
			dsl.Collect(out))})  // want step collects: Args[2]: Collect: output out of step done is in the pipeline, not in an Each
		p.OnExit(func() {
			dsl.Run(p, "bye", dsl.Container{Image: alpine, Args: dsl.Args(out)}, dsl.After(done)) // want step bye: Args[0] uses output out of step done outside the pipeline: exit steps may use parameters only, since the others may have failed | step bye: After: it cannot wait for done: exit steps, sub-pipelines and the others do not mix
		})
		p.If(dsl.Eq(item, "a"), func() {})                       // want If uses the item outside the Each at wrong_test.go:{each}: use dsl.Collect to get the list of all its values | If has no steps in it
		p.If(dsl.Cond{}, nil)                                    // want If: the condition is empty: make it with dsl.Eq, dsl.Lt and so on | If has no steps in it
		dsl.Each(p, dsl.Lit([]int{}), func(dsl.Value[int]) any { // want Each: the list is empty // line of inner
			p.OnExit(nil) // want OnExit inside the Each at wrong_test.go:{inner}: exit steps belong to the whole pipeline, so call it outside
			return dsl.Run(p, "never", dsl.Container{Image: alpine})
		})
		dsl.Run(p, "lost", dsl.Container{Image: alpine}, dsl.After(nil, dsl.Lit("x"))) // want step lost: After: argument 1 must be a step or an output of a step | step lost: After: argument 2 must be a step or an output of a step
		q := dsl.New("other")
		dsl.Run(p, "stranger", dsl.Container{Image: dsl.Param(q, "image", "")}) // want step stranger: Image uses parameter image of another pipeline ("other")
	},
	"options": func(p *dsl.Pipeline) {
		c := dsl.Container{Image: alpine}
		dsl.Run(p, "amounts", c, dsl.Limits(dsl.Resources{Memory: dsl.Lit("10 Gi")}), dsl.GPUs(dsl.Param(p, "gpus", -1), "a b"))                                                                    // want step amounts: Limits memory is "10 Gi": it must be a quantity such as 500m, 2 or 10Gi | step amounts: GPUs: "a b" is not a Kubernetes name such as example.com/key | step amounts: GPUs is "-1": it must be a quantity such as 500m, 2 or 10Gi
		dsl.Run(p, "volumes", c, dsl.Mount("data", dsl.Claim(dsl.Lit("My Data"))), dsl.Mount("/x", dsl.Volume{}), dsl.Mount("/y", dsl.Scratch("big")))                                              // want step volumes: Mount: its path "data" must be an absolute path in the container | step volumes: Mount data Claim: "My Data" is not the name of an object in Kubernetes: use lower-case letters, digits, . and - | step volumes: Mount /x: the volume is not set | step volumes: Mount /y: its size is "big": it must be a quantity such as 10Gi
		dsl.Run(p, "host", c, dsl.Mount("/h", dsl.HostPath(dsl.Lit("var"))), dsl.Mount("/q", dsl.New("q").NewClaim("w", "1Gi")))                                                                    // want step host: Mount /h HostPath is "var": it must be an absolute path of the node | step host: Mount /q: the claim is of another pipeline ("q")
		dsl.Run(p, "secret", dsl.Container{Image: dsl.Secret("a", "b"), Args: dsl.Args(dsl.Secret("A", "b"))}, dsl.SecretEnv("A_B"))                                                                // want step secret: Image: dsl.Secret can only be the whole value of an environment variable | step secret: SecretEnv: "A_B" is not the name of an object in Kubernetes: use lower-case letters, digits, . and - | step secret: Args[0]: dsl.Secret: "A" is not the name of an object in Kubernetes: use lower-case letters, digits, . and -
		dsl.Run(p, "variable", dsl.Container{Image: dsl.EnvOf("X")}, dsl.Labels(map[string]dsl.Value[string]{"a b": dsl.Lit("c d"), "e": {}}))                                                      // want step variable: Image: dsl.EnvOf is for Command, Args and Env only | step variable: Labels: "a b" is not a Kubernetes name such as example.com/key | step variable: Labels: the value "c d" of a b must be letters, digits, -, _ and ., at most 63 | step variable: Labels e is not set
		dsl.Run(p, "taints", c, dsl.Tolerate(dsl.Toleration{Value: dsl.Lit("x"), Effect: "Never", For: time.Minute}))                                                                               // want step taints: Tolerate: a toleration has a Value and no Key | step taints: Tolerate: Effect is "Never": it must be NoSchedule, PreferNoSchedule or NoExecute | step taints: Tolerate: For is of use with Effect NoExecute only
		dsl.Run(p, "near", c, dsl.Near(dsl.Affinity{Nodes: []dsl.NodeTerm{{Weight: 1}}, Pods: []dsl.PodTerm{{Labels: []dsl.Requirement{{Key: "a", Operator: "Is"}, {Key: "b", Operator: "In"}}}}})) // want step near: Near: Nodes must hold, so they have no Weight | step near: Near: Nodes: a term has no Labels | step near: Near: Pods: Operator is "Is": it must be In, NotIn, Exists, DoesNotExist, Gt or Lt | step near: Near: Pods: b In with 0 values
		dsl.Run(p, "retries", c, dsl.Retries(dsl.Retry{Limit: dsl.Lit(-1), Policy: "Often", Backoff: dsl.Backoff{Factor: -1}}))                                                                     // want step retries: Retries: Limit is -1: it must be at least 0 | step retries: Retries: Policy is "Often": it must be OnFailure, OnError, OnTransientError or Always | step retries: Retries: a backoff needs Wait, the time before the first retry | step retries: Retries: Factor is -1: it must be at least 1
		dsl.Run(p, "times", c, dsl.Timeout(dsl.Lit(time.Millisecond)), dsl.CacheFor(-1), dsl.PodSpecPatch(dsl.Lit("hostNetwork: true")))                                                            // want step times: Timeout is 1ms: it must be at least a second | step times: CacheFor is -1ns: it must not be negative | step times: PodSpecPatch is not a JSON object: invalid character 'h' looking for beginning of value
		dsl.Run(p, "beside", c, dsl.Sidecar("main", dsl.Container{}), dsl.InitContainer("a", c, dsl.Timeout(dsl.Lit(time.Hour))), dsl.InitContainer("a", c))                                        // want step beside: container "main": the name must hold only lower-case letters, digits and -, begin with a letter, and not be main, init or wait | step beside: main Image is not set: it is the container image to run, as in dsl.Lit("alpine:3.22") | step beside: Timeout is of the whole step: it cannot be set for container a alone | step beside: container a: the name is used twice
		p.NewClaim("Work", "1Gi")                                                                                                                                                                   // want NewClaim "Work": the name must hold only lower-case letters, digits and -, and begin with a letter
		p.NewClaim("work", "large")                                                                                                                                                                 // want NewClaim work: its size is "large": it must be a quantity such as 10Gi
	},
	"components": func(p *dsl.Pipeline) {
		type in struct{ Data, Rate dsl.Value[string] }
		type out struct{ Model dsl.Value[string] }
		self := dsl.Define("self", func(_ in, o out) dsl.Container {
			return dsl.Container{Image: alpine, Args: dsl.Args(o.Model)}
		})
		self.Add(p, in{Data: dsl.Lit("d")}) // want step self: input Rate is not set | step self: Args[0] reads the step's own output model: use dsl.Path for the file to write it to
		dsl.Define("bad", func(struct{}, struct{ Model string }) dsl.Container {
			return dsl.Container{Image: alpine}
		}).Add(p, struct{}{}) // want step bad: output Model is a string: outputs must be exported fields of type dsl.Value or dsl.File
		dsl.Define[string, int]("shapes", nil).Add(p, "")                                        // want step shapes: the inputs of component shapes are a string: they must be a struct | step shapes: the outputs of component shapes are a int: they must be a struct
		dsl.Define[struct{}, struct{}]("nothing", nil).Add(p, struct{}{})                        // want step nothing: component nothing has no function
		dsl.Run(p, "path", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Path(dsl.Lit("x")))}) // want step path: Args[0]: dsl.Path is for the outputs that dsl.Define hands to its function
	},
	"mpi": func(p *dsl.Pipeline) {
		train.MPIJob(p, "unset", train.MPI{}) // want step unset: Image is not set | step unset: Command is not set
		ok := train.MPI{Image: alpine, Command: dsl.Lit("mpirun hostname")}
		job := ok
		job.Workers, job.GPUs = dsl.Lit(0), dsl.Param(p, "gpus", -1)
		job.CPU, job.Memory = dsl.Lit("two"), dsl.Param(p, "memory", "10 Gi")
		train.MPIJob(p, "sizes", job) // want step sizes: Workers: must be at least 1, not 0 | step sizes: GPUs: must be at least 0, not -1 | step sizes: CPU: "two" is not a quantity: write it as 500m, 2, 512Mi or 10Gi | step sizes: Memory: "10 Gi" is not a quantity: write it as 500m, 2, 512Mi or 10Gi
		job = ok
		job.Data = []dsl.Value[string]{dsl.Lit("/training"), {}, dsl.Lit("")}
		job.Env = dsl.Env{"A B": dsl.Lit(""), "C": {}, "D": dsl.FieldRef("metadata.name")}
		job.Annotations = map[string]dsl.Value[string]{"a b": dsl.Lit("")}
		job.Labels = map[string]dsl.Value[string]{"team": dsl.Lit("a b")}
		train.MPIJob(p, "texts", job) // want step texts: Env D: dsl.FieldRef can only be the whole value of an environment variable | step texts: Data: "/training": write CLAIM:/PATH or /FOLDER:/PATH, the name of a persistent volume claim or a folder of the node, and where to mount it; leave it empty for none | step texts: Data is not set: use dsl.Lit("") for an empty value | step texts: Env: "A B" is not the name of a variable: use letters, digits and _ | step texts: Env C is not set: use dsl.Lit("") for an empty value | step texts: Annotations: "a b" is not a Kubernetes name such as example.com/key | step texts: Labels team: "a b" is not the value of a label: use letters, digits, -, _ and ., at most 63
		job = ok
		job.Command = dsl.Lit("echo {{x}}")
		job.Git = train.Git{Branch: dsl.Lit("main")}
		job.CleanPodPolicy = "all"
		job.Metrics = []train.Metric{{}, {Name: "a", NameFrom: dsl.Lit("b")}, {Name: "a:RAW"}, {Name: "c", Format: "raw", Reduce: "avg"}}
		job.RunningTimeout = dsl.Lit(-time.Hour)
		torch := train.PyTorch(ok)
		torch.GPUTopology, torch.MountsOnLauncher, torch.SSHPort, torch.Git.Image = dsl.Lit(true), dsl.Param(p, "mounts", false), dsl.Lit(70000), dsl.Lit("git-sync")
		train.PyTorchJob(p, "torch", torch) // want step torch: SSHPort: must be a port, 1 to 65535, not 70000 | step torch: Git has an image but no Repo | step torch: GPUTopology: a PyTorchJob does not have it: only an MPIJob does | step torch: MountsOnLauncher: a PyTorchJob does not have it: only an MPIJob does | step torch: SSHPort: a PyTorchJob does not have it: only an MPIJob does
		train.MPIJob(p, "more", job)        // want step more: RunningTimeout: must not be negative, and is -1h0m0s | step more: Git has a branch or revision but no Repo | step more: Metrics: a metric has no Name | step more: Metrics: a has both Name and NameFrom: set one | step more: Metrics: the name "a:RAW" holds a colon: set Format and Reduce in their fields | step more: Metrics: c: Format is "raw": it must be RAW or PERCENTAGE | step more: Metrics: c: Reduce is "avg": it must be last, max, min, mean or sum-over-ranks | step more: CleanPodPolicy: "all" is not one of Running, All and None
	},
	"empty": func(*dsl.Pipeline) {},
}

// elsewhere are the faults of calls that go over several lines, and of no line at all.
var elsewhere = map[string][]string{
	"done := ":           {`step done: Args[0] uses output model of step fit outside the If at wrong_test.go:{if}, which may not have run: use dsl.OneOf to get the value of the branch that did`, `step done: Args[1] uses the item outside the Each at wrong_test.go:{each}: use dsl.Collect to get the list of all its values`, `step done: Args[2] uses output out of step body outside the Each at wrong_test.go:{each}: use dsl.Collect to get the list of all its values`},
	`s := dsl.Run(p, "t`: {`step twice: output "a b": the name must hold only letters, digits, - and _`},
}

func TestFaultsNameFileLineAndStep(t *testing.T) {
	t.Parallel()
	var got []string
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		p := dsl.New(name)
		wrong[name](p)
		g, err := p.Graph()
		require.Nil(t, g)
		var faults dsl.Faults
		require.ErrorAs(t, err, &faults)
		for _, f := range faults {
			got = append(got, f.Error())
		}
		require.Equal(t, len(faults), len(strings.Split(err.Error(), "\n")))
		var first *dsl.Fault
		require.True(t, errors.As(err, &first))
	}
	want := append(expected(t), `pipeline "empty" has no steps`)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// expected reads the faults that the comments in this file ask for.
func expected(t *testing.T) []string {
	const file = "wrong_test.go"
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	table, _, _ := strings.Cut(string(source), "\n// elsewhere ")
	lines := strings.Split(table, "\n")
	named := regexp.MustCompile(`// line of (\w+)$`)
	places := map[string]string{}
	for i, line := range lines {
		if m := named.FindStringSubmatch(line); m != nil {
			places["{"+m[1]+"}"] = fmt.Sprint(i + 1)
		}
	}
	var want []string
	add := func(line int, message string) {
		for place, number := range places {
			message = strings.ReplaceAll(message, place, number)
		}
		want = append(want, fmt.Sprintf("%s:%d: %s", file, line, message))
	}
	for i, line := range lines {
		if _, comment, ok := strings.Cut(line, "// want "); ok {
			comment, _, _ = strings.Cut(comment, " // line of ")
			for _, message := range strings.Split(comment, " | ") {
				add(i+1, message)
			}
		}
		for start, messages := range elsewhere {
			if strings.HasPrefix(strings.TrimSpace(line), start) {
				for _, message := range messages {
					add(i+1, message)
				}
			}
		}
	}
	return want
}

func TestNilPipelinesDoNotPanic(t *testing.T) {
	t.Parallel()
	var p *dsl.Pipeline
	v := dsl.Param(p, "x", 1)
	s := dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(v)}, dsl.After(nil))
	dsl.Output[int](s, "o", "/o")
	dsl.Output[int](nil, "o", "/o")
	s.Fault("nothing to record it in")
	p.If(dsl.Eq(v, 1), func() {})
	p.OnExit(func() {})
	dsl.Each(p, dsl.Lit([]int{1}), func(dsl.Value[int]) any { return nil })
	dsl.Collect(v)
	train.MPIJob(p, "job", train.MPI{})
	_, err := p.Graph()
	require.EqualError(t, err, "the pipeline is nil: its function must return what dsl.New made")

	_, err = dsl.New(" ").Graph()
	require.ErrorContains(t, err, "the pipeline has no name")
}

func TestFaultsOfWholePipelines(t *testing.T) {
	t.Parallel()
	p := dsl.New("p", nil, dsl.Parallelism(0), dsl.TTL(-1, 0), dsl.ImagePullSecrets("A", ""), dsl.ServiceAccount(dsl.Lit("a b")),
		dsl.Timeout(dsl.Param(dsl.New("q"), "limit", time.Millisecond)), dsl.Labels(map[string]dsl.Value[string]{"a": dsl.Lit("b c"), "d": {}}))
	dsl.Run(p, "s", dsl.Container{Image: alpine})
	_, err := p.Graph()
	require.Error(t, err)
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		at, message, ok := strings.Cut(line, ": ")
		require.True(t, ok)
		require.Contains(t, at, "wrong_test.go:")
		got = append(got, message)
	}
	require.ElementsMatch(t, []string{
		"Parallelism is 0: it must be at least 1",
		"TTL: a time is negative",
		`ImagePullSecrets: "" is not a name`,
		`ServiceAccount: "a b" is not the name of an object in Kubernetes: use lower-case letters, digits, . and -`,
		"Timeout of a whole pipeline must be known now: use dsl.Lit",
		"Timeout is 1ms: it must be at least a second",
		`Labels: the value "b c" of a must be letters, digits, -, _ and ., at most 63`,
		"Labels d is not set",
	}, got)
}
