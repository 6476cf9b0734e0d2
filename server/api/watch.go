package api

import (
	"context"

	"google.golang.org/grpc"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/run"
)

// WatchRun follows one run.
func (s *views) WatchRun(r *argosyv1.WatchRunRequest, to grpc.ServerStreamingServer[argosyv1.Event]) error {
	o, err := WatchOptions(r)
	if err != nil {
		return err
	}
	ctx, end := s.streamContext(to.Context())
	defer end()
	return s.watcher.Run(ctx, r.GetRunId(), o, func(e eventstream.Event) error { return to.Send(WireEvent(e)) })
}

// WatchRuns follows all runs that a filter keeps.
func (s *views) WatchRuns(r *argosyv1.WatchRunsRequest, to grpc.ServerStreamingServer[argosyv1.Event]) error {
	f, err := WatchFilter(r)
	if err != nil {
		return err
	}
	ctx, end := s.streamContext(to.Context())
	defer end()
	return s.watcher.Runs(ctx, f, func(e eventstream.Event) error { return to.Send(WireEvent(e)) })
}

// streamContext is the call's, ended also by the end of the server.
func (s *views) streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.streams, cancel)
	return ctx, func() { stop(); cancel() }
}

// WatchOptions reads which parts of a run the caller follows.
func WatchOptions(r *argosyv1.WatchRunRequest) (eventstream.Options, error) {
	o := eventstream.Options{After: r.GetAfter(), Points: r.GetPoints(), Logs: r.GetLogs(), LogNodes: r.GetNodeId()}
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
func WatchFilter(r *argosyv1.WatchRunsRequest) (eventstream.Filter, error) {
	filter, err := unescape(r.GetFilter())
	if err != nil {
		return eventstream.Filter{}, err
	}
	kept, err := predicates(filter)
	return eventstream.Filter{
		Scope:     run.Scope{ExperimentID: r.GetExperimentId(), ScheduleID: r.GetScheduleId()},
		Predicate: kept, After: r.GetAfter(), Nodes: r.GetNodes(), Points: r.GetPoints(),
	}, err
}

// WireEvent is an event as argosy.v1 shows it.
func WireEvent(e eventstream.Event) *argosyv1.Event {
	event := &argosyv1.Event{Id: e.ID}
	switch {
	case e.Run != nil:
		view := RunView(e.Run.Run, e.Run.Nodes)
		view.RemovedNodes = e.Run.Removed
		event.What = &argosyv1.Event_Run{Run: view}
	case e.Log != nil:
		event.What = &argosyv1.Event_Log{Log: &argosyv1.LogLines{
			RunId: e.Log.RunID, NodeId: e.Log.NodeID, First: e.Log.First, Lines: e.Log.Lines, Ended: e.Log.Ended,
		}}
	case e.Points != nil:
		points := &argosyv1.Points{}
		for _, p := range e.Points {
			points.Points = append(points.Points, ownPoint(p))
		}
		event.What = &argosyv1.Event_Points{Points: points}
	case e.Removed != "":
		event.What = &argosyv1.Event_Removed{Removed: &argosyv1.RemovedRun{Id: e.Removed}}
	case e.Ready:
		event.What = &argosyv1.Event_Ready{Ready: &argosyv1.Ready{}}
	case e.Reset:
		event.What = &argosyv1.Event_Reset_{Reset_: &argosyv1.Reset{}}
	case e.End:
		event.What = &argosyv1.Event_End{End: &argosyv1.End{}}
	}
	return event
}

func ownPoint(p run.Point) *argosyv1.Point {
	return &argosyv1.Point{
		RunId: p.RunID, NodeId: p.NodeID, Name: p.Name, Rank: int32(p.Rank), Step: p.Step,
		PrintedAt: ownTime(p.PrintedAt), Value: finite(p.Value),
	}
}
