package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
)

type pipelines struct {
	kfpv1.UnimplementedPipelineServiceServer
	service *pipeline.Service
	fetcher fetcher
}

func (s *pipelines) CreatePipeline(ctx context.Context, r *kfpv1.CreatePipelineRequest) (*kfpv1.Pipeline, error) {
	p := r.GetPipeline()
	u, err := s.fetcher.fetch(ctx, p.GetUrl().GetPipelineUrl())
	if err != nil {
		return nil, err
	}
	u.Name, u.Description = p.GetName(), p.GetDescription()
	created, err := s.service.Create(ctx, u)
	if err != nil {
		return nil, err
	}
	return Pipeline(created), nil
}

func (s *pipelines) GetPipeline(ctx context.Context, r *kfpv1.GetPipelineRequest) (*kfpv1.Pipeline, error) {
	p, err := s.service.Get(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return Pipeline(p), nil
}

func (s *pipelines) GetPipelineByName(ctx context.Context, r *kfpv1.GetPipelineByNameRequest) (*kfpv1.Pipeline, error) {
	p, err := s.service.ByName(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	return Pipeline(p), nil
}

func (s *pipelines) ListPipelines(ctx context.Context, r *kfpv1.ListPipelinesRequest) (*kfpv1.ListPipelinesResponse, error) {
	items, total, token, err := listPage(r, func(q listing.Query) (listing.Page[pipeline.Pipeline], error) { return s.service.List(ctx, q) }, Pipeline)
	if err != nil {
		return nil, err
	}
	return &kfpv1.ListPipelinesResponse{Pipelines: items, TotalSize: total, NextPageToken: token}, nil
}

func (s *pipelines) DeletePipeline(ctx context.Context, r *kfpv1.DeletePipelineRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Delete(ctx, r.GetId())
}

func (s *pipelines) GetTemplate(ctx context.Context, r *kfpv1.GetTemplateRequest) (*kfpv1.GetTemplateResponse, error) {
	version, err := defaultVersion(ctx, s.service, r.GetId())
	if err != nil {
		return nil, err
	}
	return s.GetPipelineVersionTemplate(ctx, &kfpv1.GetPipelineVersionTemplateRequest{VersionId: version})
}

func (s *pipelines) CreatePipelineVersion(ctx context.Context, r *kfpv1.CreatePipelineVersionRequest) (*kfpv1.PipelineVersion, error) {
	v := r.GetVersion()
	owner := ""
	for _, reference := range v.GetResourceReferences() {
		if reference.GetKey().GetType() == kfpv1.ResourceType_PIPELINE {
			owner = reference.GetKey().GetId()
		}
	}
	if owner == "" {
		return nil, apierr.New(apierr.Invalid, "resource_references name no PIPELINE, and a version must belong to one")
	}
	u, err := s.fetcher.fetch(ctx, v.GetPackageUrl().GetPipelineUrl())
	if err != nil {
		return nil, err
	}
	u.Name, u.Description, u.PipelineID, u.CodeSourceURL = v.GetName(), v.GetDescription(), owner, v.GetCodeSourceUrl()
	created, err := s.service.CreateVersion(ctx, u)
	if err != nil {
		return nil, err
	}
	return PipelineVersion(created), nil
}

func (s *pipelines) GetPipelineVersion(ctx context.Context, r *kfpv1.GetPipelineVersionRequest) (*kfpv1.PipelineVersion, error) {
	v, err := s.service.Version(ctx, r.GetVersionId())
	if err != nil {
		return nil, err
	}
	return PipelineVersion(v), nil
}

func (s *pipelines) ListPipelineVersions(ctx context.Context, r *kfpv1.ListPipelineVersionsRequest) (*kfpv1.ListPipelineVersionsResponse, error) {
	if r.GetResourceKey().GetId() == "" {
		return nil, apierr.New(apierr.Invalid, "resource_key.id is missing; it names the pipeline whose versions to list")
	}
	items, total, token, err := listPage(r, func(q listing.Query) (listing.Page[pipeline.Version], error) {
		return s.service.Versions(ctx, r.GetResourceKey().GetId(), q)
	}, PipelineVersion)
	if err != nil {
		return nil, err
	}
	return &kfpv1.ListPipelineVersionsResponse{Versions: items, TotalSize: total, NextPageToken: token}, nil
}

func (s *pipelines) DeletePipelineVersion(ctx context.Context, r *kfpv1.DeletePipelineVersionRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.DeleteVersion(ctx, r.GetVersionId())
}

func (s *pipelines) GetPipelineVersionTemplate(ctx context.Context, r *kfpv1.GetPipelineVersionTemplateRequest) (*kfpv1.GetTemplateResponse, error) {
	manifest, err := s.service.Manifest(ctx, r.GetVersionId())
	if err != nil {
		return nil, err
	}
	return &kfpv1.GetTemplateResponse{Template: string(manifest)}, nil
}

func (s *pipelines) UpdatePipelineDefaultVersion(ctx context.Context, r *kfpv1.UpdatePipelineDefaultVersionRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.SetDefaultVersion(ctx, r.GetPipelineId(), r.GetVersionId())
}

// defaultVersion gives the id of the version that stands for a pipeline.
func defaultVersion(ctx context.Context, service *pipeline.Service, id string) (string, error) {
	p, err := service.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if p.Default.ID == "" {
		return "", apierr.New(apierr.NotFound, "pipeline %s has no version left", p.Name)
	}
	return p.Default.ID, nil
}

// Pipeline is p as v1beta1 shows it.
func Pipeline(p pipeline.Pipeline) *kfpv1.Pipeline {
	answer := &kfpv1.Pipeline{
		Id: p.ID, Name: p.Name, Description: p.Description, CreatedAt: wireTime(p.CreatedAt),
		Parameters: defaults(p.Default.Parameters),
	}
	if p.Default.ID != "" {
		answer.DefaultVersion = PipelineVersion(p.Default)
	}
	return answer
}

// PipelineVersion is v as v1beta1 shows it.
func PipelineVersion(v pipeline.Version) *kfpv1.PipelineVersion {
	return &kfpv1.PipelineVersion{
		Id: v.ID, Name: v.Name, Description: v.Description, CreatedAt: wireTime(v.CreatedAt),
		Parameters: defaults(v.Parameters), CodeSourceUrl: v.CodeSourceURL,
		ResourceReferences: []*kfpv1.ResourceReference{{
			Key:          &kfpv1.ResourceKey{Type: kfpv1.ResourceType_PIPELINE, Id: v.PipelineID},
			Relationship: kfpv1.Relationship_OWNER,
		}},
	}
}

func defaults(ps []pipeline.Parameter) []*kfpv1.Parameter {
	var answer []*kfpv1.Parameter
	for _, p := range ps {
		answer = append(answer, &kfpv1.Parameter{Name: p.Name, Value: p.Value})
	}
	return answer
}
