package job

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/launcher/firstfault"
	"github.com/argosy-ml/argosy/launcher/scrape"
)

// A job whose ranks print nothing for too long fails, and says since when each of them is silent.
func TestSilent(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "slots": {"2"}, "silence-timeout": {"30m"}}
	spec, err := o.Spec(&mpiJob, "c")
	require.NoError(t, err)
	l := &Launcher{Spec: spec, out: &console{w: &strings.Builder{}}}
	log := firstfault.New()
	s := log.Pod("x-launcher-0")
	say := func(after time.Duration, text string) {
		s.At(start.Add(after))
		_, _ = s.Write([]byte(text))
	}
	hangs := func(after time.Duration) *FailedError {
		return l.silent(t.Context(), state{kind: &mpiJob}, start, log, start.Add(after))
	}
	require.Nil(t, l.silent(t.Context(), state{kind: &mpiJob}, time.Time{}, log, start.Add(time.Hour)), "it does not run yet")
	require.NotNil(t, hangs(30*time.Minute), "nothing was ever printed")

	say(time.Minute, "[1,0]<stdout>:step 1\n")
	say(2*time.Minute, "[1,1]<stderr>:Traceback (most recent call last):\n[1,1]<stderr>:  File \"a.py\"\n[1,1]<stderr>:ValueError: bad shape\n")
	say(3*time.Minute, "[1,3]<stdout>:step 1\n")
	require.Nil(t, hangs(32*time.Minute))
	failed := hangs(33 * time.Minute)
	require.NotNil(t, failed)
	require.Equal(t, "it hangs: no rank has printed anything for 30m0s (silence timeout 30m0s); "+
		"silent are rank 2 from its start at 23:13:20, rank 0 since 23:14:20, rank 1 since 23:15:20, rank 3 since 23:16:20; rank 1: raised ValueError: bad shape", failed.Cause)
	require.Equal(t, "ValueError: bad shape", failed.lines[len(failed.lines)-1])

	say(33*time.Minute, "a word of mpirun's own\n")
	require.Nil(t, hangs(34*time.Minute))
	spec.SilenceTimeout = 0
	require.Nil(t, hangs(24*time.Hour), "unless it is asked for")
}

// The rank that the others wait for is named, with the line where it is; without the right to look, the message says which right is missing.
func TestSilentTellsWhere(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "silence-timeout": {"30m"}}
	spec, err := o.Spec(&mpiJob, "c")
	require.NoError(t, err)
	answers := map[string]string{
		"w-0": "=== rank=0 pid=9 how=faulthandler python3 train.py\nCurrent thread 0x1 (most recent call first):\n  File \"/job/train.py\", line 5 in <module>\n    world.Barrier()\n",
		"w-1": "=== rank=1 pid=9 how=faulthandler python3 train.py\nCurrent thread 0x1 (most recent call first):\n  File \"/job/train.py\", line 3 in <module>\n    time.sleep(1e9)\n",
	}
	var asked sync.Map
	l := &Launcher{Spec: spec, out: &console{w: &strings.Builder{}}, Exec: func(_ context.Context, pod, container string, _ []string) (string, error) {
		asked.Store(pod, container)
		return answers[pod], nil
	}}
	s := state{kind: &mpiJob, pods: []*corev1.Pod{worker("0", "a"), worker("1", "b"), worker("2", "b")}}
	for _, pod := range s.pods[:2] {
		pod.Status.Phase = corev1.PodRunning
	}
	failed := l.silent(t.Context(), s, start, firstfault.New(), start.Add(time.Hour))
	require.NotNil(t, failed)
	require.Contains(t, failed.Cause, "; rank 1 on w-1 (b) hangs in <module> (train.py:3: time.sleep(1e9)); rank 0 on w-0 (a) waits in <module> (train.py:5: world.Barrier())")
	require.Equal(t, "    time.sleep(1e9)", failed.lines[len(failed.lines)-1])
	for _, pod := range []string{"w-0", "w-1"} {
		container, _ := asked.Load(pod)
		require.Equal(t, containerWorker, container)
	}
	_, pending := asked.Load("w-2")
	require.False(t, pending, "it does not run")

	l.Exec = func(context.Context, string, string, []string) (string, error) { return "", errors.New("forbidden") }
	failed = l.silent(t.Context(), s, start, firstfault.New(), start.Add(time.Hour))
	require.Regexp(t, `; no stacks: pod w-\d: forbidden: the launcher's service account needs create and get of pods/exec$`, failed.Cause)
	require.Nil(t, failed.lines)
}

// Pods of jobs that may hang have their programs answer; others are left as they are.
func TestPrepared(t *testing.T) {
	t.Parallel()
	for _, kind := range []*Kind{&mpiJob, &pyTorchJob, &trainJob, &singleJob} {
		command := func(timeout string) string {
			o := Options{"name": {"x"}, "image": {"i"}, "shell": {"bash"}, "silence-timeout": {timeout}}
			spec, err := o.Spec(kind, "python train.py")
			require.NoError(t, err)
			text, err := json.Marshal(kind.build(spec, Identity{Workflow: "wf", Node: "n"}))
			require.NoError(t, err)
			return string(text)
		}
		require.Contains(t, command("30m"), "faulthandler.register", kind.Name)
		require.NotContains(t, command(""), "faulthandler", kind.Name)
	}
}

// A job with fewer ranks than it was asked for fails within seconds, unless more take part by then or the step allows it.
func TestProof(t *testing.T) {
	t.Parallel()
	on := func(hosts ...string) scrape.World {
		w := scrape.World{Ranks: len(hosts), At: hosts}
		for _, h := range hosts {
			if len(w.Hosts) == 0 || w.Hosts[len(w.Hosts)-1] != h {
				w.Hosts = append(w.Hosts, h)
			}
		}
		return w
	}
	for name, tc := range map[string]struct {
		worlds []scrape.World
		allow  string
		want   string
	}{
		"all":                          {worlds: []scrape.World{on("x-worker-0.x", "x-worker-0.x", "x-worker-1.x", "x-worker-1.x")}},
		"more":                         {worlds: []scrape.World{on("x-worker-0.x", "x-worker-0.x", "x-worker-0.x", "x-worker-1.x", "x-worker-1.x")}},
		"none known":                   {},
		"fewer ranks":                  {worlds: []scrape.World{on("x-worker-0.x", "x-worker-1.x")}, want: "mpirun started 2 of 4 ranks (2 workers with 2 slots each): check -np"},
		"fewer ranks, allowed":         {worlds: []scrape.World{on("x-worker-0.x", "x-worker-1.x")}, allow: "true"},
		"fewer hosts":                  {worlds: []scrape.World{on("x-worker-0.x", "x-worker-0.x", "x-worker-0.x", "x-worker-0.x")}, want: "the ranks run on 1 of 2 workers"},
		"all on the launcher":          {worlds: []scrape.World{on("x-launcher-x7k2p", "x-launcher-x7k2p", "x-launcher-x7k2p", "x-launcher-x7k2p")}, want: "ranks run in the job's launcher x-launcher-x7k2p instead of on its workers"},
		"a small program before":       {worlds: []scrape.World{on("x-worker-0.x"), on("x-worker-0.x", "x-worker-0.x", "x-worker-1.x", "x-worker-1.x")}},
		"a small program, then a half": {worlds: []scrape.World{on("x-worker-0.x"), on("x-worker-0.x", "x-worker-1.x")}, want: "2 of 4 ranks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "slots": {"2"}, "allow-fewer-ranks": {tc.allow}}
			spec, err := o.Spec(&mpiJob, "c")
			require.NoError(t, err)
			p := &proof{spec: spec}
			for _, w := range tc.worlds {
				p.ran(w, start)
			}
			require.Empty(t, p.fault(start.Add(proofGrace-time.Second), false))
			for _, got := range []string{p.fault(start.Add(proofGrace), false), p.fault(start, true)} {
				if tc.want == "" {
					require.Empty(t, got)
				} else {
					require.Contains(t, got, tc.want)
				}
			}
			p.again()
			require.Empty(t, p.fault(start, true), "another attempt begins")
		})
	}
}

// Frameworks report their world size in different forms.
func TestProofOfFrameworks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		log  string
		want string
	}{
		// https://github.com/pytorch/pytorch/blob/main/torch/distributed/elastic/agent/server/api.py
		"torchrun":      {"INFO:torch.distributed.elastic.agent.server.api:[default] Rendezvous complete for workers. Result:\n  group_world_size=1\n  global_world_sizes=[2, 2]\n", "torchrun has 2 of 4 processes"},
		"torchrun, all": {"I1210 18:28:01.790000 1 site-packages/torch/distributed/elastic/agent/server/api.py:525]   global_world_sizes=[4, 4]\n", ""},
		// https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/distribute/collective_all_reduce_strategy.py
		"TensorFlow": {"INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {'worker': ['x-worker-0:2222']}, task_type = 'worker', task_id = 0, num_workers = 1, local_devices = ('/job:worker/task:0',), communication = CommunicationImplementation.AUTO\n", "TensorFlow has 1 of 2 processes"},
		// https://www.intel.com/content/www/us/en/docs/mpi-library/developer-reference-linux/2021-13/other-environment-variables.html
		"Intel MPI":      {"[0] MPI startup(): Rank    Pid      Node name         Pin cpu\n[0] MPI startup(): 0       10890    x-launcher-x7k2p  0\n[0] MPI startup(): 1       10891    x-launcher-x7k2p  2\n[0] MPI startup(): 2       10892    x-launcher-x7k2p  4\n[0] MPI startup(): 3       10893    x-launcher-x7k2p  6\n[0] MPI startup(): I_MPI_ROOT=/opt/intel\n", "instead of on its workers"},
		"Intel MPI, all": {"[0] MPI startup(): Rank    Pid      Node name   Pin cpu\n[0] MPI startup(): 0       10890    x-worker-0  {0,1}\n[0] MPI startup(): 1       10891    x-worker-0  {2,\n                                          3}\n[0] MPI startup(): 2       10892    x-worker-1  0\n[0] MPI startup(): 3       10893    x-worker-1  1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "slots": {"2"}}
			spec, err := o.Spec(&mpiJob, "c")
			require.NoError(t, err)
			p := &proof{spec: spec}
			w := p.listens()
			_, err = w.Write([]byte(tc.log))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			got := p.fault(time.Now(), true)
			if tc.want == "" {
				require.Empty(t, got)
				require.True(t, p.full)
				return
			}
			require.Contains(t, got, tc.want)
		})
	}
}
