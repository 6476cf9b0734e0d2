package job

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lines of several pods, cut anywhere, come out whole, each with its tag.
func FuzzTags(f *testing.F) {
	f.Add("loss=1\nloss=2", "loss=3\n\nloss=4\n", uint8(3))
	f.Add("", "\r\n", uint8(1))
	f.Fuzz(func(t *testing.T, one, two string, cut uint8) {
		if strings.ContainsAny(one+two, "[]<>\x1b\r") {
			return // tags and colours of the program's own
		}
		var out bytes.Buffer
		writers := []*tagWriter{{to: &out, tag: "[chief-0,0]<stdout>:"}, {to: &out, tag: "[worker-0,1]<stdout>:"}}
		rest := []string{one, two}
		for rest[0]+rest[1] != "" {
			for i, w := range writers {
				n := min(len(rest[i]), int(cut)+1)
				_, err := w.Write([]byte(rest[i][:n]))
				require.NoError(t, err)
				rest[i] = rest[i][n:]
			}
		}
		var got [2]strings.Builder
		for _, w := range writers {
			require.NoError(t, w.close())
		}
		for _, line := range strings.SplitAfter(out.String(), "\n") {
			switch {
			case strings.HasPrefix(line, writers[0].tag):
				got[0].WriteString(strings.TrimPrefix(line, writers[0].tag))
			case strings.HasPrefix(line, writers[1].tag):
				got[1].WriteString(strings.TrimPrefix(line, writers[1].tag))
			default:
				require.Empty(t, line)
			}
		}
		for i, want := range []string{one, two} {
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			require.Equal(t, want, got[i].String())
		}
	})
}

// Those that train come first, in the order of their roles.
func TestRanks(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "role-replicas": {"ps=2", "chief=1", "evaluator=1"}}
	spec, err := o.Spec(&tfJob, "c")
	require.NoError(t, err)
	for want, at := range map[string][2]string{"chief-0": {"chief", "0"}, "worker-0": {"worker", "0"}, "worker-1": {"worker", "1"}, "ps-0": {"ps", "0"}, "ps-1": {"ps", "1"}, "evaluator-0": {"evaluator", "0"}} {
		name, rank := spec.rank(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{labelReplicaType: at[0], labelReplicaIndex: at[1]}}})
		require.Equal(t, want, name)
		require.Equal(t, map[string]int{"chief-0": 0, "worker-0": 1, "worker-1": 2, "ps-0": 3, "ps-1": 4, "evaluator-0": 5}[name], rank, name)
	}
	require.Equal(t, 3, spec.World())
}

// A Volcano Job tells its state in words of its own.
func TestVolcanoStatus(t *testing.T) {
	t.Parallel()
	for phase, want := range map[string]status{
		"": {}, "Pending": {seen: true}, "Running": {seen: true}, "Aborting": {seen: true}, "Completed": {seen: true, succeeded: true},
		"Aborted": {seen: true, failed: true, reason: "Aborted", message: "m"}, "Failed": {seen: true, failed: true, reason: "Failed", message: "m"},
	} {
		s := jobWith(&volcanoJob, nil)
		s.job.Object["status"] = map[string]any{"state": map[string]any{"phase": phase, "message": "m"}}
		got := readVolcano(s.job)
		if !got.failed {
			got.message = ""
		}
		require.Equal(t, want, got, phase)
	}
}
