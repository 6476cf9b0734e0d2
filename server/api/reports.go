package api

import (
	"context"
	"encoding/json"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
)

// reports receives the reports of KFP's agents. The reconciler is the only writer of state from the cluster, so a valid report
// changes nothing: the agents get a success and continue.
type reports struct {
	kfpv1.UnimplementedReportServiceServer
	runs      *run.Service
	schedules *schedule.Service
}

// reported is what a report has to say of its object.
type reported struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		UID       string            `json:"uid"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
}

func readReport(text, kind string) (reported, error) {
	var o reported
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, apierr.New(apierr.Invalid, "the %s is not valid JSON: %v", kind, err)
	}
	switch m := o.Metadata; {
	case o.Kind != "" && o.Kind != kind:
		return o, apierr.New(apierr.Invalid, "a %s was reported; it must be a %s", o.Kind, kind)
	case m.Name == "" || m.Namespace == "" || m.UID == "":
		return o, apierr.New(apierr.Invalid, "the %s needs a name, a namespace and a uid", kind)
	}
	return o, nil
}

func (s *reports) ReportWorkflow(ctx context.Context, r *kfpv1.ReportWorkflowRequest) (*emptypb.Empty, error) {
	o, err := readReport(r.GetWorkflow(), "Workflow")
	if err != nil {
		return nil, err
	}
	id := o.Metadata.Labels[run.Label]
	if id == "" {
		return nil, apierr.New(apierr.Invalid, "the Workflow belongs to no run: its label %s is missing", run.Label)
	}
	if _, err := s.runs.Reader.Get(ctx, id); err != nil {
		return nil, err
	}
	for _, e := range r.GetMetricErrors() {
		if err := s.runs.Changer.Warn(ctx, id, e); err != nil {
			return nil, err
		}
	}
	return &emptypb.Empty{}, nil
}

func (s *reports) ReportScheduledWorkflow(ctx context.Context, r *kfpv1.ReportScheduledWorkflowRequest) (*emptypb.Empty, error) {
	o, err := readReport(r.GetScheduledWorkflow(), "ScheduledWorkflow")
	if err != nil {
		return nil, err
	}
	_, err = s.schedules.Get(ctx, o.Metadata.UID)
	return &emptypb.Empty{}, err
}
