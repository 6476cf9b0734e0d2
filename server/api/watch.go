package api

import (
	"context"

	"google.golang.org/grpc"

	own "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/watch"
)

// WatchRun follows one run.
func (s *views) WatchRun(r *own.WatchRunRequest, to grpc.ServerStreamingServer[own.Event]) error {
	o, err := WatchOptions(r)
	if err != nil {
		return err
	}
	ctx, end := s.streamContext(to.Context())
	defer end()
	return s.watcher.Run(ctx, r.GetRunId(), o, func(e watch.Event) error { return to.Send(WireEvent(e)) })
}

// WatchRuns follows all runs that a filter keeps.
func (s *views) WatchRuns(r *own.WatchRunsRequest, to grpc.ServerStreamingServer[own.Event]) error {
	f, err := WatchFilter(r)
	if err != nil {
		return err
	}
	ctx, end := s.streamContext(to.Context())
	defer end()
	return s.watcher.Runs(ctx, f, func(e watch.Event) error { return to.Send(WireEvent(e)) })
}

// streamContext is the call's, ended also by the end of the server.
func (s *views) streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.streams, cancel)
	return ctx, func() { stop(); cancel() }
}

// WatchOptions reads which parts of a run the caller follows.
func WatchOptions(r *own.WatchRunRequest) (watch.Options, error) {
	o := watch.Options{After: r.GetAfter(), Points: r.GetPoints(), Logs: r.GetLogs(), LogNodes: r.GetNodeId()}
	switch r.GetNodes() {
	case "", "all":
		o.Whole = true
	case "changed":
	default:
		return o, apierr.New(apierr.Invalid, "nodes is %q; it can be all or changed", r.GetNodes())
	}
	if len(o.LogNodes) > 0 && !o.Logs {
		return o, apierr.New(apierr.Invalid, "node_id narrows logs: ask for these too")
	}
	return o, nil
}

// WatchFilter reads which runs are to be followed.
func WatchFilter(r *own.WatchRunsRequest) (watch.Filter, error) {
	filter, err := unescape(r.GetFilter())
	if err != nil {
		return watch.Filter{}, err
	}
	kept, err := predicates(filter)
	return watch.Filter{
		Scope:     run.Scope{ExperimentID: r.GetExperimentId(), ScheduleID: r.GetScheduleId()},
		Predicate: kept, After: r.GetAfter(), Nodes: r.GetNodes(), Points: r.GetPoints(),
	}, err
}

// WireEvent is an event as argosy.v1 shows it.
func WireEvent(e watch.Event) *own.Event {
	event := &own.Event{Id: e.ID}
	switch {
	case e.Run != nil:
		view := RunView(e.Run.Run, e.Run.Nodes)
		view.RemovedNodes = e.Run.Removed
		event.What = &own.Event_Run{Run: view}
	case e.Log != nil:
		event.What = &own.Event_Log{Log: &own.LogLines{
			RunId: e.Log.RunID, NodeId: e.Log.NodeID, First: e.Log.First, Lines: e.Log.Lines, Ended: e.Log.Ended,
		}}
	case e.Points != nil:
		points := &own.Points{}
		for _, p := range e.Points {
			points.Points = append(points.Points, ownPoint(p))
		}
		event.What = &own.Event_Points{Points: points}
	case e.Removed != "":
		event.What = &own.Event_Removed{Removed: &own.RemovedRun{Id: e.Removed}}
	case e.Ready:
		event.What = &own.Event_Ready{Ready: &own.Ready{}}
	case e.Reset:
		event.What = &own.Event_Reset_{Reset_: &own.Reset{}}
	case e.End:
		event.What = &own.Event_End{End: &own.End{}}
	}
	return event
}

func ownPoint(p run.Point) *own.Point {
	return &own.Point{
		RunId: p.RunID, NodeId: p.NodeID, Name: p.Name, Rank: int32(p.Rank), Step: p.Step,
		PrintedAt: ownTime(p.PrintedAt), Value: finite(p.Value),
	}
}
