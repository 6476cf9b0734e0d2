package test

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Features whose outcome hangs on time, or in which no step of the kind that the kubelet speeds up takes part.
var notCompared = map[string]string{
	"progress":          "Argo's own executor reports progress once a minute",
	"exit-handlers":     "the list of failures holds times, and comes in any order",
	"locks":             "the controller keeps them, and this takes long",
	"parallelism":       "the controller keeps it, and this takes long",
	"workflow-deadline": "the workflow's clock or the pod's may strike first",
	"http":              "the agent is Argo's own in any case",
	"suspend":           "it is about time, not about pods",
}

// What the kubelet and argosy-podinit do in place of Argo's executor comes out the same as with Argo's own.
func TestArgoConformance(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{corners, features} {
		for _, name := range scenarioNames(t, folder) {
			if folder == features && notCompared[name] != "" {
				continue
			}
			t.Run(strings.TrimPrefix(folder, "testdata/")+"-"+name, func(t *testing.T) {
				t.Parallel()
				s := readScenario(t, folder, name)
				quick, stock := newArgo(t, shared(t)), newArgo(t, shared(t))
				stock.executor = "argo"
				a, b := quick.run(t, s), stock.run(t, s)
				s.check(t, quick, a)
				s.check(t, stock, b)
				same(t, stock.summary(t, b), quick.summary(t, a), "with Argo's own executor (expected) and with the kubelet's (actual)")
			})
		}
	}
}

// same compares texts whose lines may be very long.
func same(t *testing.T, want, got, what string) {
	t.Helper()
	short := regexp.MustCompile(`(.{400}).{100,}`)
	if want != got {
		require.Equal(t, short.ReplaceAllString(want, "$1..."), short.ReplaceAllString(got, "$1..."), what)
		t.Fatalf("%s: long lines differ", what)
	}
}

var stopped = regexp.MustCompile(`^(pod deleted|workflow shutdown with strategy: .*|.*\(exit code \d+\).*)$`)

// A container of a set whose dependency failed ends because of that, or by the signal that Argo sends to the whole set then.
var unneeded = regexp.MustCompile(`exit code 143|dependency "\w+" exited`)

// outOfTime is what is said of a pod whose deadline has come. The deadline may find Argo's emissary before it listens to signals, which
// is then killed (137) instead of ending its command (143).
const outOfTime = "Pod was active on the node longer than the specified deadline"

// summary is all that a user can see of a finished workflow, without what differs from one run to the next.
func (a *argo) summary(t *testing.T, wf *wfv1.Workflow) string {
	t.Helper()
	var pods *corev1.PodList
	eventually(t, "the pods of "+wf.Name+" end", func(ctx context.Context) bool {
		var err error
		pods, err = a.kube.CoreV1().Pods(wf.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=" + wf.Name})
		require.NoError(t, err)
		return !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return !ended(&p) })
	})
	var out strings.Builder
	write := func(value any) {
		b, err := yaml.Marshal(value)
		require.NoError(t, err)
		out.Write(b)
	}
	write(map[string]any{"phase": wf.Status.Phase, "message": wf.Status.Message, "outputs": wf.Status.Outputs})
	for _, id := range slices.Sorted(maps.Keys(wf.Status.Nodes)) {
		n := wf.Status.Nodes[id]
		slices.Sort(n.Children)
		if wf.Spec.Shutdown != "" && stopped.MatchString(n.Message) {
			// Argo records that it stops a step. If its pod ends before the workflow does, Argo then records how it ended, or
			// that the pod was lost.
			n.Phase, n.Message, n.Outputs = wfv1.NodeFailed, "stopped", nil
		}
		if n.Type == wfv1.NodeTypeContainer && unneeded.MatchString(n.Message) {
			n.Phase, n.Message = wfv1.NodeFailed, "unneeded"
		}
		if strings.Contains(n.Message, outOfTime) {
			n.Outputs = nil
		}
		write(map[string]any{id: map[string]any{
			"name": n.Name, "type": n.Type, "phase": n.Phase, "message": n.Message, "inputs": n.Inputs, "outputs": n.Outputs, "children": n.Children,
		}})
	}
	slices.SortFunc(pods.Items, func(x, y corev1.Pod) int { return cmp.Compare(x.Name, y.Name) })
	for _, p := range pods.Items {
		if strings.HasSuffix(p.Name, "-agent") {
			continue
		}
		phase := p.Status.Phase
		if wf.Spec.Shutdown != "" { // Argo's own `wait` gets the order to end too, and fails if it has not begun to listen
			phase = ""
		}
		write(map[string]any{p.Name: map[string]any{"phase": phase, "reason": p.Status.Reason, "message": p.Status.Message}})
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			if s.Name == "init" || s.Name == "wait" { // their own affair, as long as the node's message is the same
				continue
			}
			write(map[string]any{p.Name + " " + s.Name: a.containerSummary(t, &p, s)})
		}
	}
	return normalize(out.String(), wf)
}

func (a *argo) containerSummary(t *testing.T, p *corev1.Pod, s corev1.ContainerStatus) map[string]any {
	t.Helper()
	end := s.State.Terminated
	if end == nil {
		return map[string]any{"waiting": s.State.Waiting != nil}
	}
	log, err := a.kube.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{Container: s.Name}).DoRaw(t.Context())
	require.NoError(t, err)
	if unneeded.MatchString(end.Message) || p.Status.Message == outOfTime || end.ExitCode == 143 && withoutArgo(string(log)) == "" {
		return map[string]any{"unneeded": true}
	}
	lines := strings.Split(withoutArgo(string(log)), "\n")
	slices.Sort(lines) // nothing keeps the order between standard output and standard error
	return map[string]any{"exitCode": end.ExitCode, "reason": end.Reason, "message": end.Message, "log": lines}
}

// What Argo's executor adds to the output of a step, and argosy-podinit does not: lines of its own log, the exit code of a
// command that failed, and errors a second time.
var (
	argoLine = regexp.MustCompile(`time="[^"]*" level=\w+ msg=.*\n?`)
	exitLine = regexp.MustCompile(`(?m)^Error: exit status \d+\n`)
)

func withoutArgo(log string) string {
	var lines []string
	for line := range strings.Lines(exitLine.ReplaceAllString(argoLine.ReplaceAllString(log, ""), "")) {
		if len(lines) == 0 || lines[len(lines)-1] != "Error: "+line {
			lines = append(lines, line)
		}
	}
	return strings.TrimSuffix(strings.Join(lines, ""), "\n")
}

var address = regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`)

// normalize takes out what is another in every run.
func normalize(s string, wf *wfv1.Workflow) string {
	s = strings.NewReplacer(wf.Namespace, "NAMESPACE", string(wf.UID), "UID").Replace(s)
	return address.ReplaceAllString(s, "ADDRESS")
}
