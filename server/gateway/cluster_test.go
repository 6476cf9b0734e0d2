package gateway_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// busy is a cluster in which one run works.
type busy struct {
	cluster.Source
	of cluster.Of
}

func (b *busy) Overview(context.Context) (cluster.Overview, error) {
	holder := cluster.Holder{RunID: b.of.RunID, Pods: 2, Requested: cluster.Amounts{"cpu": 9, "pods": 2}}
	return cluster.Overview{
		Nodes: []cluster.Node{{
			Name: "big", Ready: true, Schedulable: true, Taints: []string{"gpu:NoSchedule"},
			Capacity:    cluster.Amounts{"pods": 110, "nvidia.com/gpu": 4, "memory": 1 << 30, "cpu": 8, "hugepages-2Mi": 0, "ephemeral-storage": 5},
			Allocatable: cluster.Amounts{"pods": 110, "nvidia.com/gpu": 4, "memory": 1 << 30, "cpu": 7.5, "ephemeral-storage": 5}, Requested: cluster.Amounts{"cpu": 9, "pods": 2},
			Holders: []cluster.Holder{holder},
		}},
		Waiting: []cluster.Holder{{Namespace: "elsewhere", Pods: 1}},
		Queues: []cluster.Queue{{
			Name: "default", State: "Open", Weight: 2, Running: 1, Capability: cluster.Amounts{"cpu": 4}, Allocated: cluster.Amounts{"cpu": 3, "memory": 5},
			Waiting: []cluster.PodGroup{{Namespace: "kubeflow", Name: "gang", RunID: b.of.RunID, Phase: "Pending", Queue: "default", MinAvailable: 3, Message: "no room"}},
		}},
		Missing: []cluster.Right{{Verb: "list", Resource: "pods"}}, ReadAt: time.Unix(1, 0),
	}, nil
}

func (b *busy) Jobs(_ context.Context, of cluster.Of) ([]cluster.Job, []cluster.Right, error) {
	b.of = of
	world := 2
	return []cluster.Job{{
		NodeID: "a", Kind: "MPIJob", Namespace: "kubeflow", Name: "train", State: "Running", Attempt: 1, Requested: &world,
		Workers: []cluster.Worker{{Pod: "train-worker-0", Role: "worker", Ranks: &cluster.Ranks{First: 0, Last: 1}, State: "Running"}, {Pod: "train-launcher", Role: "launcher"}},
		Objects: []cluster.Object{{Kind: "MPIJob", Name: "train"}},
		RanksOf: func(_ string, index int) *cluster.Ranks { return &cluster.Ranks{First: 2 * index, Last: 2*index + 1} },
	}}, nil, nil
}

func (b *busy) JobObject(_ context.Context, _ cluster.Of, o cluster.Object) ([]byte, error) {
	if o.Kind != "MPIJob" {
		return nil, apierr.New(apierr.NotFound, "there is no %s %s", o.Kind, o.Name)
	}
	return []byte("kind: MPIJob\n"), nil
}

func (b *busy) Events(context.Context, cluster.Of) ([]cluster.Event, []cluster.Right, error) {
	return []cluster.Event{{Object: cluster.Object{Kind: "Pod", Name: "p"}, NodeID: "a", Type: "Warning", Reason: "BackOff", Count: 3, LastAt: time.Unix(9, 0)}},
		[]cluster.Right{{Verb: "list", Resource: "events", Namespace: "kubeflow"}}, nil
}

func TestCluster(t *testing.T) {
	t.Parallel()
	source := &busy{}
	s := start(t, func(s *server) { s.source = source })
	id := s.run(t)
	step := s.stepNode("a", run.Succeeded)
	step.Outputs = []run.Parameter{{Name: "a-world-size", Value: "2"}}
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{step}})
	found, err := s.store.Run(t.Context(), id)
	require.NoError(t, err)

	pods := map[string]string{}
	if step.PodName != "" {
		pods[step.PodName] = "a"
	}
	path := "/apis/argosy/v1/runs/" + id
	require.JSONEq(t, `{"jobs":[{"node_id":"a","step_name":"a","kind":"MPIJob","namespace":"kubeflow","name":"train","state":"Running","attempt":1,
		"requested_world_size":2,"proved_world_size":2,
		"workers":[{"pod":"train-worker-0","role":"worker","first_rank":0,"last_rank":1,"state":"Running"},{"pod":"train-launcher","role":"launcher"}],
		"objects":[{"kind":"MPIJob","name":"train"}]}]}`, s.get(t, path+"/jobs", 200))
	require.Equal(t, cluster.Of{RunID: id, Namespace: "kubeflow", Workflow: found.Workflow, Nodes: []string{"a"}, Pods: pods}, source.of)
	require.JSONEq(t, `{"yaml":"kind: MPIJob\n"}`, s.get(t, path+"/jobs/MPIJob/train", 200))
	s.get(t, path+"/jobs/Secret/train", 404)
	require.JSONEq(t, `{"events":[{"kind":"Pod","name":"p","node_id":"a","step_name":"a","type":"Warning","reason":"BackOff","count":3,"last_at":"1970-01-01T00:00:09Z"}],
		"missing":[{"verb":"list","resource":"events","namespace":"kubeflow"}]}`, s.get(t, path+"/cluster-events", 200))
	for _, list := range []string{"/jobs", "/jobs/MPIJob/train", "/cluster-events"} {
		s.get(t, "/apis/argosy/v1/runs/none"+list, 404)
	}

	answer, err := argosyv1.NewClusterServiceClient(s.conn).GetCluster(t.Context(), &argosyv1.GetClusterRequest{})
	require.NoError(t, err)
	var order []string
	for _, r := range answer.GetNodes()[0].GetResources() {
		order = append(order, r.GetResource())
	}
	require.Equal(t, []string{"cpu", "memory", "nvidia.com/gpu", "pods", "ephemeral-storage"}, order, "what there is none of is left out")
	cpu := answer.GetNodes()[0].GetResources()[0]
	require.Equal(t, []float64{8, 7.5, 9, 0}, []float64{cpu.GetCapacity(), cpu.GetAllocatable(), cpu.GetRequested(), cpu.GetFree()})
	require.Equal(t, found.Name, answer.GetNodes()[0].GetHolders()[0].GetRunName())
	require.Equal(t, "elsewhere", answer.GetWaiting()[0].GetNamespace())
	queue := answer.GetQueues()[0]
	require.Equal(t, found.Name, queue.GetWaiting()[0].GetRunName())
	require.InDelta(t, 4, queue.GetResources()[0].GetCapability(), 0)
	require.Nil(t, queue.GetResources()[1].Capability, "a resource without a limit") //nolint:protogetter // whether it is set
	require.Equal(t, "pods", answer.GetMissing()[0].GetResource())
	require.Positive(t, answer.GetDisk().GetFree(), "the disk of the server's data")
	require.Greater(t, answer.GetDisk().GetTotal(), answer.GetDisk().GetFree())
}

func (b *busy) Pending(_ context.Context, _ cluster.Of, waiters []cluster.Waiter) ([]cluster.Pending, []cluster.Right, error) {
	var all []cluster.Pending
	free := 2.0
	for _, w := range waiters {
		all = append(all, cluster.Pending{
			NodeID: w.NodeID, StepName: w.StepName, Cause: "GANG", Sentence: "no room", Since: time.Unix(5, 0), ToldBy: cluster.Object{Kind: "PodGroup", Name: "g"}, Pods: 3,
			Resources: []cluster.PendingResource{{Resource: "cpu", Asked: 12, LargestAsked: 4, Free: &free, Lacking: true}}, Until: time.Unix(65, 0), UntilBy: cluster.PendingTimeout,
		})
	}
	return all, nil, nil
}

// A step that waits says for what, since when and until when at most.
func TestPending(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *server) { s.source = &busy{} })
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Pending)}})
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.get(t, "/apis/argosy/v1/runs/"+id+"/pending", 200)), &answer))
	require.Equal(t, []any{map[string]any{
		"node_id": "a", "step_name": "a", "cause": "GANG", "sentence": "no room", "since": "1970-01-01T00:00:05Z", "told_by": map[string]any{"kind": "PodGroup", "name": "g"}, "pods": 3.0,
		"resources": []any{map[string]any{"resource": "cpu", "asked": 12.0, "largest_asked": 4.0, "free": 2.0, "lacking": true}},
		"until":     "1970-01-01T00:01:05Z", "until_by": "PENDING_TIMEOUT",
	}}, answer["pending"])
}

// Workers that the cluster has deleted are there by their logs, in the order of their ranks.
func TestWorkersThatAreGone(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *server) { s.source = &busy{} })
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Succeeded)}})
	for _, l := range []logs.Log{
		{Pod: "train-worker-1", Role: "worker", Rank: 1}, {Pod: "train-worker-0", Role: "worker"}, {Pod: "other-worker-2", Role: "worker", Rank: 2}, {Pod: "train-own"},
	} {
		l.RunID, l.NodeID, l.PodUID, l.Container, l.State, l.StartedAt = id, "a", l.Pod, "main", logs.Whole, time.Unix(5, 0)
		require.NoError(t, s.store.PutLog(t.Context(), l, nil))
	}
	answer, err := argosyv1.NewClusterServiceClient(s.conn).ListRunJobs(t.Context(), &argosyv1.ListRunJobsRequest{RunId: id})
	require.NoError(t, err)
	var pods []string
	for _, w := range answer.GetJobs()[0].GetWorkers() {
		pods = append(pods, w.GetPod())
	}
	require.Equal(t, []string{"train-worker-0", "train-worker-1", "train-launcher"}, pods)
	gone := answer.GetJobs()[0].GetWorkers()[1]
	require.Equal(t, cluster.Gone, gone.GetState())
	require.Equal(t, []int32{2, 3}, []int32{gone.GetFirstRank(), gone.GetLastRank()})
	require.Equal(t, int64(5), gone.GetStartedAt().GetSeconds())
}
