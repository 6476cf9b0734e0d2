package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/cluster"
)

type clusters struct {
	argosyv1.UnimplementedClusterServiceServer
	service *cluster.Service
}

func (s *clusters) GetCluster(ctx context.Context, _ *argosyv1.GetClusterRequest) (*argosyv1.Cluster, error) {
	o, err := s.service.Overview(ctx)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.Cluster{Waiting: wireHolders(o.Waiting), Missing: wireRights(o.Missing), ReadAt: ownTime(o.ReadAt)}
	if o.Disk.Total > 0 {
		answer.Disk = &argosyv1.Disk{Total: float64(o.Disk.Total), Free: float64(o.Disk.Free)}
	}
	for _, n := range o.Nodes {
		answer.Nodes = append(answer.Nodes, wireNode(n))
	}
	for _, v := range o.Versions {
		answer.Versions = append(answer.Versions, &argosyv1.ComponentVersion{Name: v.Name, Version: v.Version})
	}
	for _, q := range o.Queues {
		answer.Queues = append(answer.Queues, wireQueue(q))
	}
	return answer, nil
}

func (s *clusters) ListRunJobs(ctx context.Context, r *argosyv1.ListRunJobsRequest) (*argosyv1.ListRunJobsResponse, error) {
	jobs, missing, err := s.service.Jobs(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListRunJobsResponse{Missing: wireRights(missing)}
	for _, j := range jobs {
		answer.Jobs = append(answer.Jobs, wireRunJob(j))
	}
	return answer, nil
}

func (s *clusters) ListClusterJobs(ctx context.Context, r *argosyv1.ListClusterJobsRequest) (*argosyv1.ListClusterJobsResponse, error) {
	list, err := s.service.AllJobs(ctx, r.GetState(), int(r.GetLimit()))
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListClusterJobsResponse{Total: int32(list.Total), Missing: wireRights(list.Missing)}
	for _, j := range list.Jobs {
		answer.Jobs = append(answer.Jobs, wireRunJob(j))
	}
	return answer, nil
}

func (s *clusters) StopRunJob(ctx context.Context, r *argosyv1.StopRunJobRequest) (*argosyv1.StopRunJobResponse, error) {
	return &argosyv1.StopRunJobResponse{}, s.service.StopJob(ctx, r.GetRunId(), r.GetName())
}

func (s *clusters) ListRunUse(ctx context.Context, r *argosyv1.ListRunUseRequest) (*argosyv1.ListRunUseResponse, error) {
	use, err := s.service.Use(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListRunUseResponse{Message: use.Message, Missing: wireRights(use.Missing)}
	for _, p := range use.Pods {
		answer.Pods = append(answer.Pods, &argosyv1.PodUse{Pod: p.Pod, Used: wireAmounts(p.Used), MeasuredAt: ownTime(p.MeasuredAt)})
	}
	return answer, nil
}

func (s *clusters) ListPending(ctx context.Context, r *argosyv1.ListPendingRequest) (*argosyv1.ListPendingResponse, error) {
	pending, missing, err := s.service.Pending(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListPendingResponse{Missing: wireRights(missing), ReadAt: ownTime(time.Now())}
	for _, p := range pending {
		waits := &argosyv1.Pending{
			NodeId: p.NodeID, StepName: p.StepName, Cause: p.Cause, Sentence: p.Sentence, Since: ownTime(p.Since), Pods: int32(p.Pods),
			Until: ownTime(p.Until), UntilBy: string(p.UntilBy),
		}
		if p.ToldBy.Kind != "" {
			waits.ToldBy = &argosyv1.ObjectName{Kind: p.ToldBy.Kind, Name: p.ToldBy.Name}
		}
		for _, r := range p.Resources {
			waits.Resources = append(waits.Resources, &argosyv1.PendingResource{
				Resource: r.Resource, Asked: r.Asked, LargestAsked: r.LargestAsked, Free: r.Free, LargestFree: r.LargestFree, Lacking: r.Lacking,
			})
		}
		answer.Pending = append(answer.Pending, waits)
	}
	return answer, nil
}

func (s *clusters) GetRunJobObject(ctx context.Context, r *argosyv1.GetRunJobObjectRequest) (*argosyv1.RunJobObject, error) {
	text, err := s.service.JobObject(ctx, r.GetRunId(), cluster.Object{Kind: r.GetKind(), Name: r.GetName()})
	if err != nil {
		return nil, err
	}
	return &argosyv1.RunJobObject{Yaml: string(text)}, nil
}

func (s *clusters) ListRunEvents(ctx context.Context, r *argosyv1.ListRunEventsRequest) (*argosyv1.ListRunEventsResponse, error) {
	events, missing, err := s.service.Events(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListRunEventsResponse{Missing: wireRights(missing)}
	for _, e := range events {
		answer.Events = append(answer.Events, &argosyv1.ClusterEvent{
			Kind: e.Kind, Name: e.Name, NodeId: e.NodeID, StepName: e.StepName, Type: e.Type, Reason: e.Reason, Message: e.Message, Source: e.Source,
			Count: e.Count, FirstAt: ownTime(e.FirstAt), LastAt: ownTime(e.LastAt),
		})
	}
	return answer, nil
}

func (s *clusters) ListQueues(ctx context.Context, _ *argosyv1.ListQueuesRequest) (*argosyv1.ListQueuesResponse, error) {
	queues, err := s.service.ListQueues(ctx)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListQueuesResponse{}
	for _, q := range queues {
		answer.Queues = append(answer.Queues, wireQueue(q))
	}
	return answer, nil
}

func (s *clusters) CreateQueue(ctx context.Context, r *argosyv1.CreateQueueRequest) (*argosyv1.Queue, error) {
	q, err := s.service.CreateQueue(ctx, cluster.QueueChange{
		Name: r.GetName(), Weight: r.GetWeight(), Capability: r.GetCapability(), Deserved: r.GetDeserved(), Parent: r.GetParent(),
	})
	if err != nil {
		return nil, err
	}
	return wireQueue(q), nil
}

func (s *clusters) SetQueue(ctx context.Context, r *argosyv1.SetQueueRequest) (*argosyv1.Queue, error) {
	q, err := s.service.SetQueue(ctx, cluster.QueueChange{
		Name: r.GetName(), Weight: r.GetWeight(), Capability: r.GetCapability(), Deserved: r.GetDeserved(), Open: r.Open, //nolint:protogetter // whether it is set
	})
	if err != nil {
		return nil, err
	}
	return wireQueue(q), nil
}

func (s *clusters) DeleteQueue(ctx context.Context, r *argosyv1.DeleteQueueRequest) (*argosyv1.DeleteQueueResponse, error) {
	return &argosyv1.DeleteQueueResponse{}, s.service.DeleteQueue(ctx, r.GetName())
}

func wireRights(missing []cluster.Right) (answer []*argosyv1.MissingRight) {
	for _, r := range missing {
		answer = append(answer, &argosyv1.MissingRight{Verb: r.Verb, Resource: r.Resource, Namespace: r.Namespace})
	}
	return answer
}

func wireHolders(holders []cluster.Holder) (answer []*argosyv1.Holder) {
	for _, h := range holders {
		answer = append(answer, &argosyv1.Holder{RunId: h.RunID, RunName: h.RunName, Namespace: h.Namespace, Pods: int32(h.Pods), Requested: wireAmounts(h.Requested)})
	}
	return answer
}

func wireAmounts(a cluster.Amounts) (answer []*argosyv1.Amount) {
	for _, name := range resourceNames(a) {
		answer = append(answer, &argosyv1.Amount{Resource: name, Value: a[name]})
	}
	return answer
}

// leading are the resources that people look at first, but for devices, which come after memory.
var leading = map[string]int{"cpu": -4, "memory": -3, "pods": -1}

// resourceNames gives the resources that lists have: CPUs, memory, devices, pods, then all others.
func resourceNames(lists ...cluster.Amounts) []string {
	names := map[string]bool{}
	for _, list := range lists {
		for name := range list {
			names[name] = true
		}
	}
	place := func(name string) int {
		if strings.Contains(name, "/") {
			return -2
		}
		return leading[name]
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(place(a)-place(b), cmp.Compare(a, b)) })
}

func wireNode(n cluster.Node) *argosyv1.ClusterNode {
	answer := &argosyv1.ClusterNode{Name: n.Name, Ready: n.Ready, Schedulable: n.Schedulable, Message: n.Message, Taints: n.Taints, Holders: wireHolders(n.Holders)}
	for _, name := range resourceNames(n.Capacity, n.Allocatable, n.Requested) {
		if n.Capacity[name] == 0 && n.Allocatable[name] == 0 && n.Requested[name] == 0 {
			continue // such as hugepages of a size that the machine does not use
		}
		answer.Resources = append(answer.Resources, &argosyv1.ResourceUse{
			Resource: name, Capacity: n.Capacity[name], Allocatable: n.Allocatable[name], Requested: n.Requested[name], Free: n.Free(name),
		})
	}
	return answer
}

func wireQueue(q cluster.Queue) *argosyv1.Queue {
	answer := &argosyv1.Queue{Name: q.Name, Weight: q.Weight, State: q.State, Parent: q.Parent, Running: int32(q.Running)}
	for _, name := range resourceNames(q.Capability, q.Deserved, q.Allocated) {
		answer.Resources = append(answer.Resources, &argosyv1.QueueResource{
			Resource: name, Capability: maybe(q.Capability, name), Deserved: maybe(q.Deserved, name), Allocated: q.Allocated[name],
		})
	}
	for _, g := range q.Waiting {
		answer.Waiting = append(answer.Waiting, wirePodGroup(g))
	}
	return answer
}

// maybe is an amount that may not be set.
func maybe(a cluster.Amounts, name string) *float64 {
	if n, set := a[name]; set {
		return &n
	}
	return nil
}

func wirePodGroup(g cluster.PodGroup) *argosyv1.PodGroup {
	return &argosyv1.PodGroup{
		Namespace: g.Namespace, Name: g.Name, RunId: g.RunID, RunName: g.RunName, Phase: g.Phase, Queue: g.Queue, MinAvailable: g.MinAvailable,
		Running: g.Running, Succeeded: g.Succeeded, Failed: g.Failed, Message: g.Message, CreatedAt: ownTime(g.CreatedAt), Requested: wireAmounts(g.Requested),
	}
}

func wireRunJob(j cluster.Job) *argosyv1.RunJob {
	answer := &argosyv1.RunJob{
		NodeId: j.NodeID, StepName: j.StepName, Kind: j.Kind, Namespace: j.Namespace, Name: j.Name, State: j.State, Message: j.Message,
		RunId: j.RunID, RunName: j.RunName, RequestedPods: int32Of(j.RequestedPods),
		CreatedAt: ownTime(j.CreatedAt), Attempt: int32(j.Attempt), RequestedWorldSize: int32Of(j.Requested), ProvedWorldSize: int32Of(j.Proved),
		PriorityClass: j.PriorityClass, Priority: j.Priority,
	}
	if p := j.Preemption; p != nil {
		answer.Preemption = &argosyv1.Preemption{At: ownTime(p.At), Kind: p.Kind, Name: p.Name, RunId: p.RunID, RunName: p.RunName, Priority: p.Priority}
	}
	if j.PodGroup != nil {
		answer.PodGroup = wirePodGroup(*j.PodGroup)
	}
	for _, w := range j.Workers {
		worker := &argosyv1.Worker{
			Pod: w.Pod, Role: w.Role, Index: int32(w.Index), State: w.State, Message: w.Message, Node: w.Node, Address: w.Address, Restarts: w.Restarts,
			CreatedAt: ownTime(w.CreatedAt), StartedAt: ownTime(w.StartedAt), FinishedAt: ownTime(w.FinishedAt),
		}
		if w.Ranks != nil {
			worker.FirstRank, worker.LastRank = int32Of(&w.Ranks.First), int32Of(&w.Ranks.Last)
		}
		answer.Workers = append(answer.Workers, worker)
	}
	for _, o := range j.Objects {
		answer.Objects = append(answer.Objects, &argosyv1.ObjectName{Kind: o.Kind, Name: o.Name})
	}
	return answer
}

func int32Of(n *int) *int32 {
	if n == nil {
		return nil
	}
	small := int32(*n)
	return &small
}
