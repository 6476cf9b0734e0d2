package kfparena_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/kfparena"
)

const head = `import arena
import kfp
import kfp.dsl as dsl
import os
HOME = os.environ['HOME']
def helper():
  return 1
@dsl.pipeline(name='p')
def p(x='1', n=2):
`

// inPipeline is a file whose pipeline has these lines, from line 10 on.
func inPipeline(lines ...string) string { return head + "  " + strings.Join(lines, "\n  ") + "\n" }

// TestRefused: what is not read is refused with its line.
func TestRefused(t *testing.T) {
	t.Parallel()
	op := func(args string) string { return "a = arena.mpi_job_op('a', 'i', 'c'" + args + ")" }
	for source, want := range map[string]string{
		"":                                       "x.py:1: there is no function with the decorator @dsl.pipeline",
		"x = (1,\n  y z)\n":                      "x.py:2: this is not the Python of version 3 that Argosy reads: invalid syntax",
		"x = 'a\n":                               "x.py:1: this is not the Python of version 3 that Argosy reads: EOL while scanning string literal",
		"print 'a'\n":                            "x.py:1: this is not the Python of version 3",
		"a\x00":                                  "x.py is not UTF-8 text",
		inPipeline("pass"):                       "x.py:9: the pipeline p has no steps of arena",
		inPipeline("", op(", foo=1")):            "x.py:11: mpi_job_op has no argument foo; it has name, image, command, workers",
		inPipeline(op(", name='b'")):             "x.py:10: name is given twice",
		inPipeline("arena.job_op('a')"):          "x.py:10: arena has no job_op; it has estimator_op, mpi_job_op,",
		inPipeline("arena.mpi_job_op('a', 'i')"): "x.py:10: mpi_job_op needs command",
		inPipeline("arena.mpi_job_op('a', 'i', '')"):                                   "x.py:10: mpi_job_op needs command",
		inPipeline("arena.mpi_job_op(x, 'i', 'c')"):                                    "x.py:10: the name of a step must be constant",
		inPipeline("arena.mpi_job_op(name='7 b', image='i', command='c')"):             "x.py:10: step \"7-b\": the name must",
		inPipeline(op(", workers='two'")):                                              `x.py:10: workers is "two": want a whole number`,
		inPipeline(op(", workers=0")):                                                  "x.py:10: Workers: must be at least 1, not 0",
		inPipeline(op(", cpu_limit='much'")):                                           `x.py:10: CPU: "much" is not a quantity`,
		inPipeline(op(", timeout_hours=-1")):                                           `x.py:10: timeout_hours is "-1": want a number of hours above 0`,
		inPipeline(op(", rdma='maybe'")):                                               `x.py:10: rdma is "maybe": want True or False`,
		inPipeline(op(", env='A=b'")):                                                  "x.py:10: env is a text: it must be a list",
		inPipeline(op(", env=[x]")):                                                    "x.py:10: env: item 1 must begin with a name and =, as in 'NAME={0}'.format(value)",
		inPipeline(op(", metrics=['a:b']")):                                            `x.py:10: metrics: "a:b": the format must be RAW or PERCENTAGE`,
		inPipeline(op(", *[1]")):                                                       "x.py:10: arguments by * and ** are not read",
		inPipeline(op(".set_cpu_limit('2')")[:len(op(""))-1] + ").set_cpu_limit('2')"): "x.py:10: set_cpu_limit sets an option of arena's launcher pod",
		inPipeline(op(", image2=unseen")):                                              "x.py:10: mpi_job_op has no argument image2",
		inPipeline(op(", env=[unseen]")):                                               "x.py:10: the name unseen is not known here",
		inPipeline(op(", env=['H=' + HOME]")):                                          "x.py:10: HOME has a value that is not followed: os.environ has no items here",
		inPipeline(op(", workers=helper()")):                                           "x.py:10: calls of functions of the file are not followed: write what helper does where it is called",
		inPipeline(op(", workers=int(x)")):                                             "x.py:10: int cannot be called here",
		inPipeline(op(", workers=n + 1")):                                              "x.py:10: a value that is known only when the pipeline runs and a number cannot be put together here",
		inPipeline(op(", workers=1 if n else 2")):                                      "x.py:10: this kind of expression is not read",
		inPipeline(op(", env=['A={0:>5}'.format(x)]")):                                 "x.py:10: {0:>5} asks for a form or a part of a value",
		inPipeline(op(", env=['A={}{}'.format(x)]")):                                   "x.py:10: the text takes more than the 1 values that it is given",
		inPipeline(op(", env=['A={b}'.format(x)]")):                                    "x.py:10: the text takes a value b, and it is given none",
		inPipeline(op(", env=['A={'.format(x)]")):                                      "x.py:10: the text has a single {",
		inPipeline(op(", env=['A=%d' % x]")):                                           "x.py:10: %d does not take a value that is known only when the pipeline runs",
		inPipeline(op(", env=['A=%s' % (x, x)]")):                                      "x.py:10: the text takes 1 of the 2 values that it is given",
		inPipeline(op(", env=[f'A={x!r}']")):                                           "x.py:10: {x!r} cannot be read: invalid syntax",
		inPipeline(op(", env=[f'A={y}']")):                                             "x.py:10: the name y is not known here",
		inPipeline(op(", env=[f'A={x y}']")):                                           "x.py:10: {x y} cannot be read: invalid syntax",
		inPipeline(op(""), "b = arena.mpi_job_op('b', 'i', a.output)"):                 "x.py:11: output: the step has several; use outputs['name'],",
		inPipeline(op(""), "b = arena.mpi_job_op('b', 'i', a.outputs['loss'])"):        "x.py:11: a step of arena has the outputs name, step, train, workflow",
		inPipeline(op(""), "a.after(x)"):                                               "x.py:11: after takes steps, and this is a value that is known only",
		inPipeline(op(""), "a.after(a)"):                                               "x.py:10: the step waits for itself",
		inPipeline(op(""), "for i in range(3):", "  "+op("")):                          "x.py:11: this statement is not read: loops, conditions and groups",
		inPipeline(op(""), "with dsl.Condition(x == 'a'):", "  "+op("")):               "x.py:11: this statement is not read",
		inPipeline("dsl.ContainerOp(name='a', image='b')"):                             "x.py:10: kfp.dsl.ContainerOp: only steps of arena can be imported",
		inPipeline("l = ['a']", "l.pop()", op("")):                                     "x.py:11: a list has no method pop that is read here",
		inPipeline("a, b = 1, 2", op("")):                                              "x.py:10: values are given to names only, one at a time",
		inPipeline("z = 1 / 2", op("")):                                                "x.py:10: numbers can be put together by +, - and *",
		inPipeline("z = 99999999999999999999", op("")):                                 "x.py:10: a step cannot have this kind of number",
		"import arena\nimport kfp.dsl as d\n@d.pipeline(name='p')\ndef p(*x):\n  arena.mpi_job_op('a', 'b', 'c')\n":           "x.py:4: a pipeline with * in its parameters is not read",
		"import arena\nimport kfp.dsl as d\n@d.pipeline(name='p')\ndef p(x=[1]):\n  arena.mpi_job_op('a', 'b', 'c')\n":        "x.py:4: the default of x is a list",
		"from arena import *\nfrom kfp.dsl import pipeline\n@pipeline\ndef p(x=1):\n  mpi_job_op('a', 'b', 'c', workers=y)\n": "x.py:5: the name y is not known here",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, _, err := kfparena.Read("x.py", []byte(source))
			require.ErrorContains(t, err, want, source)
		})
	}
}

// TestAllFaults: one reading tells all faults, in the order of the lines, and none that follows from another.
func TestAllFaults(t *testing.T) {
	t.Parallel()
	_, _, err := kfparena.Read("x.py", []byte(inPipeline(
		"image = lookup('i')", "a = arena.mpi_job_op('a', image, 'c')", "while True:", "  pass", "b = arena.mpi_job_op('b', 'i', 'c', foo=1)", "b.after(a)",
	)))
	require.EqualError(t, err, strings.TrimSpace(`
x.py:10: lookup cannot be called here
x.py:11: image is not known, as its line is refused
x.py:12: this statement is not read: loops, conditions and groups of steps are in Go what p.If, dsl.Each and p.OnExit do
x.py:14: mpi_job_op has no argument foo; it has name, image, command, workers, gpus, cpu_limit, memory_limit, env, annotations, data, sync_source, rdma, tensorboard, tensorboard_image, metrics, arenaImage, timeout_hours
x.py:15: b is not known, as its line is refused`))
}

// FuzzRead: no file makes the reader fall over, and what it reads compiles.
func FuzzRead(f *testing.F) {
	f.Add([]byte(inPipeline("a = arena.mpi_job_op(name='a', image='i', command='c %s' % x, workers=n, env=[f'A={x}'], data=['c:/d'])")))
	f.Add([]byte(inPipeline("a = arena.standalone_job_op('a', 'i', '{} {n}'.format(x, n=n))", "arena.mpi_job_op('b', 'i', a.outputs['name']).after(a)")))
	f.Add([]byte("import arena\r\nx = rf'''{a}'''  # '\n"))
	f.Add([]byte("f\"\\\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		graphs, _, err := kfparena.Read("x.py", data)
		if err == nil {
			require.NotEmpty(t, graphs)
			return
		}
		require.NotEmpty(t, err.Error())
	})
}
