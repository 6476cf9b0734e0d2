//go:build e2e

package e2e

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// says runs the command against this server and checks how it ends; it gives what it printed.
func (a *argosy) says(t *testing.T, code int, args ...string) (out, errs string) {
	t.Helper()
	got, out, errs := command(t, append(args, "--server", a.url)...)
	require.Equal(t, code, got, "argosy %s\n%s%s", strings.Join(args, " "), out, errs)
	return out, errs
}

// commands does with runs what the command line can do with them, as people do.
func (a *argosy) commands(t *testing.T) {
	p := dsl.New("commands")
	fail := dsl.Param(p, "fail", "no")
	s := script(p, "work", `printf 'one\ntwo\nthree'; echo a note > /tmp/note; mkdir /tmp/tree; echo a leaf > /tmp/tree/leaf; echo '{"metrics":[{"name":"speed","numberValue":12.5}]}' > /tmp/metrics; printf %s '{"outputs":[{"type":"table","format":"csv","storage":"inline","header":["who","how"],"source":"ada,well\nbob,ill"},{"type":"markdown","storage":"inline","source":"# fine"},{"type":"pie"}]}' > /tmp/ui`)
	dsl.OutputFile[dsl.Dataset](s, "note", "/tmp/note")
	dsl.OutputFile[dsl.Dataset](s, "tree", "/tmp/tree")
	dsl.OutputFile[dsl.Metrics](s, "mlpipeline-metrics", "/tmp/metrics")
	dsl.OutputFile[dsl.HTML](s, "mlpipeline-ui-metadata", "/tmp/ui")
	dsl.Each(p, dsl.Lit([]string{"x", "y"}), func(item dsl.Value[string]) any { return script(p, "each", `echo "item $0"`, item) })
	script(p, "check", `echo "fail: $0"; test "$0" = no || exit 3`, fail)
	train.Job(p, "fit", train.Single{Image: dsl.Lit("host"), Command: dsl.Lit("echo step 1 loss=0.5; echo step 2 loss=0.25"), Metrics: []train.Metric{{Name: "loss"}}})
	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "commands.yaml")
	require.NoError(t, os.WriteFile(file, workflow, 0o600))
	a.says(t, 0, "pipeline", "upload", file)
	a.says(t, 3, "pipeline", "upload", file)
	_, errs := a.says(t, 3, "pipeline", "upload", file, "--version-of", "commands")
	require.Contains(t, errs, "Please specify a new name. Name it with --name VERSION")

	out, errs := a.says(t, 0, "run", "create", "--pipeline", "commands", "--name", "good", "--wait", "-o", "json")
	var good client.Run
	require.NoError(t, json.Unmarshal([]byte(out), &good))
	require.Equal(t, client.Succeeded, good.Status)
	require.Contains(t, errs, "each(1:y) Succeeded", "what a person is told meanwhile")
	out, errs = a.says(t, 1, "run", "create", "--pipeline", "commands", "--name", "bad", "-p", "fail=yes", "--wait")
	require.Regexp(t, `(?m)^Status: +Failed$`, out)
	require.Contains(t, errs, "step check failed with exit code 3\n")
	require.Contains(t, errs, "its last lines:\n    fail: yes\n")
	require.Contains(t, errs, "error: run bad: failed\n")
	a.says(t, 0, "run", "wait", "good", "--timeout", "1m")

	a.readsLogs(t)
	a.readsResults(t)
	a.changesRuns(t)
}

func (a *argosy) readsLogs(t *testing.T) {
	out, _ := a.says(t, 0, "run", "logs", "good", "work")
	require.Equal(t, "one\ntwo\nthree", out)
	out, _ = a.says(t, 0, "run", "logs", "good", "work", "-f", "--tail", "1")
	require.Equal(t, "three", out)
	out, _ = a.says(t, 0, "run", "logs", "good", "each(1:y)")
	require.Equal(t, "item y\n", out)
	_, errs := a.says(t, 2, "run", "logs", "good", "each")
	require.Contains(t, errs, "a loop ran each several times; name one of 'each(")
	_, errs = a.says(t, 3, "run", "logs", "good", "nothing")
	require.Contains(t, errs, `run good has no step "nothing"; it has: `)
	for _, follow := range [][]string{nil, {"-f"}} {
		out, errs = a.says(t, 0, append([]string{"run", "logs", "good"}, follow...)...)
		require.Contains(t, out, "[work] three\n")
		require.Contains(t, out, "[each(0:x)] item x\n", "each line has its step in front")
		require.Empty(t, errs)
	}
	out, _ = a.says(t, 0, "run", "logs", "good", "work", "--list", "-o", "json")
	var logs []client.Log
	require.NoError(t, json.Unmarshal([]byte(out), &logs))
	require.True(t, slices.ContainsFunc(logs, func(l client.Log) bool { return l.Container == "main" && l.Lines == 3 && l.State == "whole" }), out)
}

func (a *argosy) readsResults(t *testing.T) {
	out, _ := a.says(t, 0, "run", "artifact", "good", "work", "note")
	require.Equal(t, "a note\n", out)
	out, _ = a.says(t, 0, "run", "artifact", "good", "work", "tree", "--archive")
	unzipped, err := gzip.NewReader(strings.NewReader(out))
	require.NoError(t, err)
	files := map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		files[h.Name] = string(text)
	}
	require.Equal(t, "a leaf\n", files["tree/leaf"], "%v", files)
	_, errs := a.says(t, 3, "run", "artifact", "good", "work", "nothing")
	require.Contains(t, errs, `step work has no artifact "nothing"`)

	out, _ = a.says(t, 0, "run", "metrics", "good")
	require.Regexp(t, `(?m)^speed +12\.500 +work$`, out)
	out, _ = a.says(t, 0, "run", "metrics", "good", "-f")
	require.ElementsMatch(t, []string{"loss step 1: 0.5", "loss step 2: 0.25", "speed of work: 12.500"}, strings.Split(strings.TrimSpace(out), "\n"))
	out, _ = a.says(t, 0, "run", "metrics", "good", "loss", "-f", "-o", "json")
	values := json.NewDecoder(strings.NewReader(out))
	for _, want := range []float64{0.5, 0.25} {
		var p client.Point
		require.NoError(t, values.Decode(&p))
		require.InDelta(t, want, *p.Value, 0)
	}
	require.False(t, values.More(), out)
	out, _ = a.says(t, 0, "run", "metrics", "good", "--series")
	require.Regexp(t, `(?m)^loss +fit +2$`, out)
	out, _ = a.says(t, 0, "run", "metrics", "good", "loss", "--series")
	require.Regexp(t, `(?m)^loss +fit +1 .* 0\.5$\n^loss +fit +2 .* 0\.25$`, out)
	out, _ = a.says(t, 0, "run", "metrics", "good", "loss", "--series", "-o", "json")
	var curves []client.Series
	require.NoError(t, json.Unmarshal([]byte(out), &curves))
	require.Len(t, curves[0].Points, 2)
	_, errs = a.says(t, 3, "run", "metrics", "good", "nothing", "--series")
	require.Contains(t, errs, `run good has no curve of "nothing"; it has: loss`)

	out, _ = a.says(t, 0, "run", "visuals", "good")
	require.Regexp(t, `(?m)^STEP +NUMBER +TYPE +PROBLEM$\n^work +1 +table$\n^work +2 +markdown$\n^work +3 .*type "pie" is unknown`, out)
	out, _ = a.says(t, 0, "run", "visuals", "good", "work")
	require.Regexp(t, `(?m)^WHO +HOW$\n^ada +well$\n^bob +ill$\n^# fine$\n^type "pie" is unknown.*$\n^\{"type":"pie"\}$`, out)
	out, _ = a.says(t, 0, "run", "visuals", "good", "check", "-o", "json")
	require.JSONEq(t, "[]", out)
	out, _ = a.says(t, 0, "run", "list", "--metric", "speed>12", "-p", "fail=yes", "--search", "BAD", "-o", "json")
	var found []client.Run
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found, 1)
	require.Equal(t, "bad", found[0].Name)

	out, _ = a.says(t, 0, "run", "compare", "good", "bad")
	require.Regexp(t, `(?m)^run +good +bad$`, out)
	require.Regexp(t, `(?m)^status +Succeeded +Failed$`, out)
	require.Regexp(t, `(?m)^speed of work +12\.500 +12\.500$`, out)
	require.Regexp(t, `(?m)^fail +no +yes$`, out)
}

func (a *argosy) changesRuns(t *testing.T) {
	a.says(t, 0, "run", "retry", "bad")
	_, errs := a.says(t, 1, "run", "wait", "bad")
	require.Contains(t, errs, "step check failed with exit code 3\n")
	for _, which := range [][]string{{"--attempt", "1"}, {"--attempt", "2"}, {"--previous"}} {
		out, _ := a.says(t, 0, append([]string{"run", "logs", "bad", "check"}, which...)...)
		require.Equal(t, "fail: yes\n", out, which)
	}
	a.says(t, 2, "run", "retry", "bad", "-p", "fail=no")
	a.says(t, 0, "run", "retry", "bad", "--from", "check", "-p", "fail=no")
	out, _ := a.says(t, 0, "run", "wait", "bad")
	require.Regexp(t, `(?m)^fail +no$`, out)
	out, _ = a.says(t, 0, "run", "logs", "bad", "check", "--attempt", "3")
	require.Equal(t, "fail: no\n", out)
	_, errs = a.says(t, 3, "run", "retry", "bad", "--from", "nothing")
	require.Contains(t, errs, `run bad has no step "nothing"`)

	_, errs = a.says(t, 3, "run", "retry", "good")
	require.Contains(t, errs, "only a run that has failed can be retried")

	p := dsl.New("endless")
	script(p, "sleep", "echo asleep; sleep 1000")
	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	run, err := a.sdk(t).Runs.Create(t.Context(), client.NewRun{Name: "endless", Manifest: string(workflow)})
	require.NoError(t, err)
	a.awaitLog(t, run.ID, "sleep", "asleep")
	a.interrupted(t, "sleep Running", "run", "wait", "endless")
	a.interrupted(t, "asleep", "run", "logs", "endless", "-f")
	a.interrupted(t, "asleep", "run", "logs", "endless", "sleep", "-f")
	_, errs = a.says(t, 5, "run", "wait", "endless", "--timeout", "10ms")
	require.Contains(t, errs, "run endless goes on after 10ms")
	a.says(t, 0, "run", "terminate", "endless")
	out, errs = a.says(t, 1, "run", "wait", "endless")
	require.Regexp(t, `(?m)^Status: +Terminated$`, out)
	require.Contains(t, errs, "error: run endless: terminated\n")
	_, errs = a.says(t, 3, "run", "terminate", "endless")
	require.Contains(t, errs, "the run has ended (Terminated)")

	out, _ = a.says(t, 3, "run", "delete", "good", "nothing", "bad", "endless", "-o", "json")
	require.JSONEq(t, `[{"name":"good","done":"deleted run"},{"name":"nothing","error":"there is no run nothing"},{"name":"bad","done":"deleted run"},{"name":"endless","done":"deleted run"}]`, out)
	a.says(t, 3, "run", "get", "good")
	a.says(t, 0, "pipeline", "delete", "commands")
}

// interrupted ends a command that follows something as Ctrl-C does, once it has printed a text.
func (a *argosy) interrupted(t *testing.T, text string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary("argosy"), append(args, "--server", a.url)...)
	out, w, err := os.Pipe()
	require.NoError(t, err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = w, w
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last = lines.Text(); strings.HasSuffix(last, text) {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), "argosy %s: %s", strings.Join(args, " "), last)
	require.Equal(t, "interrupted", last)
}
