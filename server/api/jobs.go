package api

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
)

// jobs are schedules by their name on the wire.
type jobs struct {
	kfpv1.UnimplementedJobServiceServer
	service *schedule.Service
}

func (s *jobs) CreateJob(ctx context.Context, r *kfpv1.CreateJobRequest) (*kfpv1.Job, error) {
	request, err := jobRequest(r.GetJob())
	if err != nil {
		return nil, err
	}
	created, err := s.service.Create(ctx, request)
	if err != nil {
		return nil, err
	}
	return s.detail(ctx, created)
}

func (s *jobs) GetJob(ctx context.Context, r *kfpv1.GetJobRequest) (*kfpv1.Job, error) {
	found, err := s.service.Get(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return s.detail(ctx, found)
}

// ListJobs gives jobs with the manifests that they run, read for the rows of the page.
func (s *jobs) ListJobs(ctx context.Context, r *kfpv1.ListJobsRequest) (*kfpv1.ListJobsResponse, error) {
	items, total, token, err := listPage(r, func(q listing.Query) (listing.Page[schedule.Schedule], error) {
		switch key := r.GetResourceReferenceKey(); key.GetType() {
		case kfpv1.ResourceType_UNKNOWN_RESOURCE_TYPE, kfpv1.ResourceType_NAMESPACE, kfpv1.ResourceType_EXPERIMENT:
		default:
			return listing.Page[schedule.Schedule]{}, apierr.New(apierr.Invalid, "resource_reference_key.type %s: jobs can be listed by EXPERIMENT", key.GetType())
		}
		scope, none, err := scope(r.GetResourceReferenceKey())
		if err != nil || none {
			return listing.Page[schedule.Schedule]{}, err
		}
		return s.service.List(ctx, q, scope.ExperimentID)
	}, wireJob)
	if err != nil {
		return nil, err
	}
	if err := addManifests(ctx, items, s.service.Manifests); err != nil {
		return nil, err
	}
	return &kfpv1.ListJobsResponse{Jobs: items, TotalSize: total, NextPageToken: token}, nil
}

func (s *jobs) EnableJob(ctx context.Context, r *kfpv1.EnableJobRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Enable(ctx, r.GetId(), true)
}

func (s *jobs) DisableJob(ctx context.Context, r *kfpv1.DisableJobRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Enable(ctx, r.GetId(), false)
}

func (s *jobs) DeleteJob(ctx context.Context, r *kfpv1.DeleteJobRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Delete(ctx, r.GetId())
}

// ownSchedules changes schedules.
type ownSchedules struct {
	argosyv1.UnimplementedScheduleServiceServer
	jobs *jobs
}

func (s *ownSchedules) UpdateSchedule(ctx context.Context, r *argosyv1.UpdateScheduleRequest) (*kfpv1.Job, error) {
	request, err := jobRequest(r.GetJob())
	if err != nil {
		return nil, err
	}
	changed, err := s.jobs.service.Update(ctx, r.GetId(), request)
	if err != nil {
		return nil, err
	}
	return s.jobs.detail(ctx, changed)
}

// detail adds the manifest that the job runs.
func (s *jobs) detail(ctx context.Context, c schedule.Schedule) (*kfpv1.Job, error) {
	manifest, err := s.service.Manifest(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	answer := wireJob(c)
	answer.PipelineSpec.WorkflowManifest, err = manifestJSON(manifest)
	return answer, err
}

func jobRequest(j *kfpv1.Job) (schedule.Request, error) {
	if j == nil {
		return schedule.Request{}, apierr.New(apierr.Invalid, "the job is missing")
	}
	asked, err := runRequest(&kfpv1.Run{
		Name: j.GetName(), Description: j.GetDescription(), PipelineSpec: j.GetPipelineSpec(),
		ResourceReferences: j.GetResourceReferences(), ServiceAccount: j.GetServiceAccount(),
	})
	if err != nil {
		return schedule.Request{}, err
	}
	trigger, err := triggerOf(j.GetTrigger())
	return schedule.Request{
		Run: asked, Trigger: trigger, MaxConcurrency: j.GetMaxConcurrency(), NoCatchup: j.GetNoCatchup(),
		Enabled: j.GetEnabled() || j.GetMode() == kfpv1.Job_ENABLED,
	}, err
}

func triggerOf(t *kfpv1.Trigger) (schedule.Trigger, error) {
	switch t := t.GetTrigger().(type) {
	case *kfpv1.Trigger_CronSchedule:
		if t.CronSchedule.GetCron() == "" {
			return schedule.Trigger{}, apierr.New(apierr.Invalid, "cron_schedule.cron is missing")
		}
		return schedule.Trigger{Cron: t.CronSchedule.GetCron(), Start: timeOf(t.CronSchedule.GetStartTime()), End: timeOf(t.CronSchedule.GetEndTime())}, nil
	case *kfpv1.Trigger_PeriodicSchedule:
		seconds := t.PeriodicSchedule.GetIntervalSecond()
		if seconds < 1 || seconds > math.MaxInt64/int64(time.Second) {
			return schedule.Trigger{}, apierr.New(apierr.Invalid, "periodic_schedule.interval_second is %d; it must be at least 1", seconds)
		}
		return schedule.Trigger{
			Interval: time.Duration(seconds) * time.Second, Start: timeOf(t.PeriodicSchedule.GetStartTime()), End: timeOf(t.PeriodicSchedule.GetEndTime()),
		}, nil
	}
	return schedule.Trigger{}, nil
}

// Statuses of a job.
const (
	jobEnabled  = "Enabled"
	jobDisabled = "Disabled"
	jobEnded    = "Succeeded"
	jobFailed   = "Error"
)

func wireJob(c schedule.Schedule) *kfpv1.Job {
	answer := &kfpv1.Job{
		Id: c.ID, Name: c.Name, Description: c.Description, ServiceAccount: c.ServiceAccount, MaxConcurrency: c.MaxConcurrency,
		Enabled: c.Enabled, NoCatchup: c.NoCatchup, CreatedAt: wireTime(c.CreatedAt), UpdatedAt: wireTime(c.UpdatedAt),
		Error: c.Message, Trigger: wireTrigger(c.Trigger),
		PipelineSpec: &kfpv1.PipelineSpec{PipelineId: c.PipelineID, PipelineName: c.PipelineName, Parameters: wireParameters(c.Parameters)},
	}
	if c.ByVersion { // KFP v1 names the pipeline only where the request did
		answer.PipelineSpec.PipelineId, answer.PipelineSpec.PipelineName = "", ""
	}
	switch {
	case c.Message != "":
		answer.Status = jobFailed
	case c.Next().IsZero():
		answer.Status = jobEnded
	case c.Enabled:
		answer.Status = jobEnabled
	default:
		answer.Status = jobDisabled
	}
	answer.ResourceReferences = references(run.Run{
		ExperimentID: c.ExperimentID, ExperimentName: c.ExperimentName, VersionID: c.VersionID, VersionName: c.VersionName,
	})
	return answer
}

func wireTrigger(t schedule.Trigger) *kfpv1.Trigger {
	switch {
	case t.Cron != "":
		return &kfpv1.Trigger{Trigger: &kfpv1.Trigger_CronSchedule{CronSchedule: &kfpv1.CronSchedule{
			Cron: t.Cron, StartTime: ownTime(t.Start), EndTime: ownTime(t.End),
		}}}
	case t.Interval > 0:
		return &kfpv1.Trigger{Trigger: &kfpv1.Trigger_PeriodicSchedule{PeriodicSchedule: &kfpv1.PeriodicSchedule{
			IntervalSecond: int64(t.Interval / time.Second), StartTime: ownTime(t.Start), EndTime: ownTime(t.End),
		}}}
	}
	return &kfpv1.Trigger{}
}

// timeOf reads a time that may not be set; clients of old send the epoch for that.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil || t.GetSeconds() == 0 && t.GetNanos() == 0 {
		return time.Time{}
	}
	return t.AsTime()
}
