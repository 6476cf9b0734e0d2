package firstfault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/firstfault"
)

// crash is a way in which a job of four ranks fails: an MPIJob of two workers with two ranks each, whose pod launcher prints
// everything, or a job of pods that are a rank each.
type crash struct {
	name string
	// source is where the text comes from: a program that was run for it, or the file that prints it.
	source string
	// logs are what pods print: launcher, or worker-0 and so on.
	logs map[string]string
	// slots are the ranks of each worker; 2 with a launcher and 1 without unless set.
	slots int
	ends  map[string]firstfault.Pod // what is special about how a pod ended
	want  want
}

type want struct {
	rank  int
	pod   string // of the rank
	cause firstfault.Cause
	words string // that are part of it
	line  string // that is among the last
	not   string // that is not
}

const none = firstfault.Unranked

// epoch is when jobs begin that fail in tests.
var epoch = time.Date(2026, 11, 20, 23, 13, 20, 0, time.UTC)

func (c *crash) job() (*firstfault.Log, []firstfault.Pod) {
	log := firstfault.New()
	_, mpi := c.logs["launcher"]
	slots := c.slots
	workers := 4
	if mpi || slots == 2 {
		workers, slots = 2, max(slots, 2)
	}
	slots = max(slots, 1)
	var pods []firstfault.Pod
	if mpi {
		pods = append(pods, firstfault.Pod{Name: "job-launcher-x7k2p", Place: "launcher", Starts: true, First: none, Last: none, Exit: &firstfault.Ending{Code: 1, At: epoch.Add(time.Hour)}})
	}
	for i := range workers {
		place := fmt.Sprintf("worker-%d", i)
		pods = append(pods, firstfault.Pod{Name: "job-" + place, Place: place, Node: fmt.Sprintf("node-%c", 'a'+i), First: i * slots, Last: (i+1)*slots - 1})
	}
	for i := range pods {
		p := &pods[i]
		if end, ok := c.ends[p.Place]; ok {
			p.Exit, p.Removed, p.Message = end.Exit, end.Removed, end.Message
		}
		text := c.logs[p.Place]
		if text == "" {
			continue
		}
		s := log.Pod(p.Name)
		for i, line := range strings.SplitAfter(text, "\n") {
			// Each line has its time where the log begins with @SECONDS.
			if at, rest, ok := strings.Cut(line, "@"); ok && at == "" {
				var seconds int
				if n, _ := fmt.Sscanf(rest, "%d ", &seconds); n == 1 {
					s.At(epoch.Add(time.Duration(seconds) * time.Second))
					_, line, _ = strings.Cut(rest, " ")
				}
			} else if mpi {
				s.At(epoch.Add(time.Duration(i) * time.Millisecond))
			}
			_, _ = s.Write([]byte(line))
		}
		_ = s.Close()
	}
	return log, pods
}

func exit(code int, after time.Duration) firstfault.Pod {
	return firstfault.Pod{Exit: &firstfault.Ending{Code: code, Reason: "Error", At: epoch.Add(after)}}
}

// right says what is wrong with the answer, empty when it is right.
func (c *crash) wrong(f *firstfault.Fault) string {
	w := c.want
	last := ""
	if f != nil {
		last = strings.Join(f.Lines, "\n")
	}
	switch {
	case f == nil:
		return "nothing was found"
	case f.Rank != w.rank:
		return fmt.Sprintf("rank %d, not %d", f.Rank, w.rank)
	case f.Pod != w.pod:
		return fmt.Sprintf("pod %q, not %q", f.Pod, w.pod)
	case f.Cause != w.cause:
		return fmt.Sprintf("cause %s, not %s", f.Cause, w.cause)
	case !strings.Contains(f.Words, w.words):
		return fmt.Sprintf("%q is not in the words", w.words)
	case !strings.Contains(last, w.line):
		return fmt.Sprintf("%q is not in the lines:\n%s", w.line, last)
	case w.not != "" && strings.Contains(last, w.not):
		return fmt.Sprintf("%q is in the lines:\n%s", w.not, last)
	}
	return ""
}

func crashes() []crash {
	var all []crash
	for _, list := range [][]crash{openMPI4, openMPI5, hydra, torch, frameworks, cluster} {
		all = append(all, list...)
	}
	return all
}

// TestCrashes has every crash say who failed first, of what, and what that rank printed last. ARGOSY_CRASHES names a file for the table of answers.
func TestCrashes(t *testing.T) {
	t.Parallel()
	all := crashes()
	require.GreaterOrEqual(t, len(all), 50)
	var table strings.Builder
	table.WriteString("| crash | what the step says | source |\n| --- | --- | --- |\n")
	for i := range all {
		c := &all[i]
		log, pods := c.job()
		f := log.Find(pods)
		require.NotEmpty(t, c.source, c.name)
		if f != nil {
			fmt.Fprintf(&table, "| %s | `%s` %s | %s |\n", c.name, f.Cause, strings.ReplaceAll(f.String(), "|", "\\|"), c.source)
		}
		if wrong := c.wrong(f); wrong != "" {
			t.Errorf("%s: %s\n%+v", c.name, wrong, f)
		}
	}
	if file := os.Getenv("ARGOSY_CRASHES"); file != "" {
		require.NoError(t, os.WriteFile(filepath.Clean(file), []byte(table.String()), 0o600))
	}
}

// FuzzFind feeds any text to the analysis, whole and by bytes.
func FuzzFind(f *testing.F) {
	for _, c := range crashes() {
		for _, text := range c.logs {
			f.Add(text, uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, text string, ranks uint8) {
		find := func(byByte bool) *firstfault.Fault {
			log := firstfault.New()
			s := log.Pod("p")
			if byByte {
				for i := range len(text) {
					_, _ = s.Write([]byte{text[i]})
				}
			} else {
				_, _ = s.Write([]byte(text))
			}
			_ = s.Close()
			return log.Find([]firstfault.Pod{{Name: "p", First: 0, Last: int(ranks), Exit: &firstfault.Ending{Code: 1}}})
		}
		whole, pieces := find(false), find(true)
		require.NotNil(t, whole, "a pod failed")
		require.Equal(t, whole, pieces)
		require.LessOrEqual(t, len(whole.Lines), 20)
		require.Less(t, len(whole.Words), 500)
	})
}
