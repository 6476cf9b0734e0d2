package cluster

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// worldSize is the output in which a distributed step tells how many ranks took part.
const worldSize = "world-size"

// Service is what the API offers on the cluster. Errors are *apierr.Error.
type Service struct {
	source Source
	runs   *run.Service // names what the cluster knows by ids
	home   string
}

// NewService makes the service. The server keeps its data in the folder home; without one, nothing is known of its disk.
func NewService(source Source, runs *run.Service, home string) *Service {
	return &Service{source, runs, home}
}

// Overview gives what the cluster has and who holds it.
func (s *Service) Overview(ctx context.Context) (Overview, error) {
	o, err := s.source.Overview(ctx)
	if err != nil {
		return Overview{}, err
	}
	ids := map[string]bool{}
	eachRun(&o, func(id string, _ *string) { ids[id] = true })
	delete(ids, "")
	names, err := s.names(ctx, slices.Sorted(maps.Keys(ids)))
	eachRun(&o, func(id string, name *string) { *name = names[id] })
	if s.home != "" {
		o.Disk = diskOf(s.home)
	}
	return o, err
}

// eachRun visits each place of an overview that names a run.
func eachRun(o *Overview, visit func(id string, name *string)) {
	holders := func(all []Holder) {
		for i := range all {
			visit(all[i].RunID, &all[i].RunName)
		}
	}
	holders(o.Waiting)
	for i := range o.Nodes {
		holders(o.Nodes[i].Holders)
	}
	for i := range o.Queues {
		for j := range o.Queues[i].Waiting {
			visit(o.Queues[i].Waiting[j].RunID, &o.Queues[i].Waiting[j].RunName)
		}
	}
}

// most is how many runs one list can name.
const most = 200

func (s *Service) names(ctx context.Context, ids []string) (map[string]string, error) {
	names := map[string]string{}
	for some := range slices.Chunk(ids, most) {
		is := listing.Predicate{Key: "id", Op: listing.In}
		for _, id := range some {
			is.Values = append(is.Values, id)
		}
		found, err := s.runs.Reader.List(ctx, listing.Query{Size: most, Filter: []listing.Predicate{is}}, run.Scope{})
		if err != nil {
			return nil, err
		}
		for _, r := range found.Items {
			names[r.ID] = r.Name
		}
	}
	return names, nil
}

// Jobs gives the distributed jobs of a run, in the order of their steps' beginning.
func (s *Service) Jobs(ctx context.Context, runID string) ([]Job, []Right, error) {
	of, nodes, err := s.objects(ctx, runID)
	if err != nil {
		return nil, nil, err
	}
	jobs, missing, err := s.source.Jobs(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	for i := range jobs {
		n := nodes[jobs[i].NodeID]
		jobs[i].StepName, jobs[i].Proved = cmp.Or(n.DisplayName, jobs[i].StepName), proved(n)
	}
	if len(jobs) > 0 {
		kept, err := s.runs.Logs.List(ctx, of.RunID, "")
		if err != nil {
			return nil, nil, err
		}
		for i := range jobs {
			jobs[i].addGone(kept)
		}
	}
	return jobs, missing, s.nameRuns(ctx, jobs, false)
}

// JobList is some of the distributed jobs that the cluster has.
type JobList struct {
	Jobs    []Job
	Total   int // in these states
	Missing []Right
}

// states are those that a job can have.
var states = []string{"Created", "Pending", "Suspended", "Running", "Terminating", "Succeeded", "Failed"}

// AllJobs returns the distributed jobs of all runs, the newest first, optionally limited to some states and to a number.
func (s *Service) AllJobs(ctx context.Context, wanted []string, limit int) (JobList, error) {
	for _, w := range wanted {
		if !slices.ContainsFunc(states, func(state string) bool { return strings.EqualFold(state, w) }) {
			return JobList{}, apierr.New(apierr.Invalid, "state %q: a distributed job can be %s", w, strings.Join(states, ", "))
		}
	}
	if limit < 0 {
		return JobList{}, apierr.New(apierr.Invalid, "limit is %d; it must be 0, for all, or more", limit)
	}
	jobs, missing, err := s.source.AllJobs(ctx)
	if err != nil {
		return JobList{}, err
	}
	jobs = slices.DeleteFunc(jobs, func(j Job) bool {
		return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, j.State) })
	})
	slices.Reverse(jobs)
	list := JobList{Jobs: jobs, Total: len(jobs), Missing: missing}
	if limit > 0 && limit < len(jobs) {
		list.Jobs = jobs[:limit]
	}
	if err := s.nameRuns(ctx, list.Jobs, true); err != nil {
		return JobList{}, err
	}
	steps := map[string]map[string]string{} // names of steps by their nodes, by run
	for i := range list.Jobs {
		j := &list.Jobs[i]
		if j.RunName == "" || j.NodeID == "" { // deleted just now, or only the job's own label tells
			continue
		}
		if steps[j.RunID] == nil {
			if steps[j.RunID], err = s.stepNames(ctx, j.RunID); err != nil {
				return JobList{}, err
			}
		}
		j.StepName = cmp.Or(steps[j.RunID][j.NodeID], j.StepName)
	}
	return list, nil
}

// nameRuns adds the names of the runs for which jobs were preempted, and of their own if asked to.
func (s *Service) nameRuns(ctx context.Context, jobs []Job, own bool) error {
	ids := map[string]bool{}
	each := func(visit func(id string, name *string)) {
		for i := range jobs {
			if own {
				visit(jobs[i].RunID, &jobs[i].RunName)
			}
			if p := jobs[i].Preemption; p != nil {
				visit(p.RunID, &p.RunName)
			}
		}
	}
	each(func(id string, _ *string) { ids[id] = true })
	delete(ids, "")
	names, err := s.names(ctx, slices.Sorted(maps.Keys(ids)))
	each(func(id string, name *string) { *name = names[id] })
	return err
}

func (s *Service) stepNames(ctx context.Context, runID string) (map[string]string, error) {
	nodes, err := s.runs.Reader.Nodes(ctx, runID)
	names := map[string]string{}
	for _, n := range nodes {
		names[n.ID] = n.DisplayName
	}
	return names, err
}

// StopJob ends the step that a distributed job of a run belongs to.
func (s *Service) StopJob(ctx context.Context, runID, name string) error {
	of, _, err := s.objects(ctx, runID)
	if err != nil {
		return err
	}
	return s.source.StopJob(ctx, of, name)
}

// Use gives what the pods of a run use.
func (s *Service) Use(ctx context.Context, runID string) (Use, error) {
	of, _, err := s.objects(ctx, runID)
	if err != nil {
		return Use{}, err
	}
	return s.source.Use(ctx, of)
}

// Pending says of each step of a run that waits for what, those that wait longest first.
func (s *Service) Pending(ctx context.Context, runID string) ([]Pending, []Right, error) {
	r, err := s.runs.Reader.Get(ctx, runID)
	if err != nil {
		return nil, nil, err
	}
	of, nodes, err := s.objects(ctx, r.ID)
	if err != nil || run.Final(r.Status) {
		return nil, nil, err
	}
	var waiters []Waiter
	for _, n := range nodes {
		if waits(n) {
			waiters = append(waiters, Waiter{
				NodeID: n.ID, StepName: n.DisplayName, Type: n.Type, PodName: n.PodName, Waiting: n.Waiting, Message: n.Message, Since: n.StartedAt,
			})
		}
	}
	if len(nodes) == 0 { // the run itself
		waiters = append(waiters, Waiter{Type: "Workflow", Message: r.Message, Since: r.CreatedAt})
	}
	if len(waiters) == 0 {
		return nil, nil, nil
	}
	pending, missing, err := s.source.Pending(ctx, of, waiters)
	slices.SortFunc(pending, func(a, b Pending) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.StepName, b.StepName)) })
	return pending, missing, err
}

// waits tells nodes that have not begun, or whose distributed job has not.
func waits(n run.Node) bool {
	switch {
	case n.Type != "Pod" && n.Type != "Suspend", !n.FinishedAt.IsZero():
		return false
	case n.Type == "Suspend":
		return n.Phase == run.Running
	}
	return n.Shown() == run.Pending || n.Phase == ""
}

// addGone adds the pods that the cluster has no more, which operators delete when a job ends: their logs are kept.
func (j *Job) addGone(kept []logs.Log) {
	for _, l := range kept {
		ours := l.Role != "" && l.NodeID == j.NodeID && strings.HasPrefix(l.Pod, j.Name+"-")
		if !ours {
			continue
		}
		if i := slices.IndexFunc(j.Workers, func(w Worker) bool { return w.Pod == l.Pod }); i >= 0 {
			if w := &j.Workers[i]; w.State == Gone && l.LastAt.After(w.FinishedAt) { // another container of the pod
				w.FinishedAt = l.LastAt
			}
			continue
		}
		w := Worker{Pod: l.Pod, Role: l.Role, Index: int(l.Rank), State: Gone, StartedAt: l.StartedAt, FinishedAt: l.LastAt}
		if j.RanksOf != nil {
			w.Ranks = j.RanksOf(w.Role, w.Index)
		}
		j.Workers = append(j.Workers, w)
	}
	slices.SortStableFunc(j.Workers, func(a, b Worker) int { return cmp.Compare(a.place(), b.place()) })
}

// place sorts workers: by their ranks, and those without after them.
func (w Worker) place() int {
	if w.Ranks == nil {
		return math.MaxInt
	}
	return w.Ranks.First
}

// proved is how many ranks took part in a step, as its launcher counted them.
func proved(n run.Node) *int {
	for _, p := range n.Outputs {
		if size, err := strconv.Atoi(p.Value); err == nil && (p.Name == worldSize || strings.HasSuffix(p.Name, "-"+worldSize)) {
			return &size
		}
	}
	return nil
}

// JobObject gives an object of a run's jobs as YAML.
func (s *Service) JobObject(ctx context.Context, runID string, o Object) ([]byte, error) {
	of, _, err := s.objects(ctx, runID)
	if err != nil {
		return nil, err
	}
	return s.source.JobObject(ctx, of, o)
}

// Events gives what Kubernetes tells of a run's objects, the newest first.
func (s *Service) Events(ctx context.Context, runID string) ([]Event, []Right, error) {
	of, nodes, err := s.objects(ctx, runID)
	if err != nil {
		return nil, nil, err
	}
	events, missing, err := s.source.Events(ctx, of)
	for i := range events {
		events[i].StepName = nodes[events[i].NodeID].DisplayName
	}
	return events, missing, err
}

func (s *Service) objects(ctx context.Context, runID string) (Of, map[string]run.Node, error) {
	r, err := s.runs.Reader.Get(ctx, runID)
	if err != nil {
		return Of{}, nil, err
	}
	nodes, err := s.runs.Reader.Nodes(ctx, r.ID)
	of := Of{RunID: r.ID, Namespace: r.Namespace, Workflow: r.Workflow, Pods: map[string]string{}}
	byID := map[string]run.Node{}
	for _, n := range nodes {
		byID[n.ID] = n
		if n.PodName != "" {
			of.Pods[n.PodName] = n.ID
		}
		if n.Type == "Pod" {
			of.Nodes = append(of.Nodes, n.ID)
		}
	}
	return of, byID, err
}
