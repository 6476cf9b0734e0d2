package api

import (
	"context"
	"encoding/json"
	"strings"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
)

type visualizations struct {
	kfpv1.UnimplementedVisualizationServiceServer
}

// CreateVisualization says what is wrong with a request, and of one that is right that no Python runs here to serve it.
func (visualizations) CreateVisualization(_ context.Context, r *kfpv1.CreateVisualizationRequest) (*kfpv1.Visualization, error) {
	v := r.GetVisualization()
	switch {
	case v == nil:
		return nil, apierr.New(apierr.Invalid, "the visualization is missing")
	case strings.TrimSpace(v.GetSource()) == "" && v.GetType() != kfpv1.Visualization_CUSTOM:
		return nil, apierr.New(apierr.Invalid, "source is missing; only a visualization of type CUSTOM needs none")
	case v.GetArguments() != "" && !json.Valid([]byte(v.GetArguments())):
		return nil, apierr.New(apierr.Invalid, "arguments are not valid JSON")
	}
	// What KFP says when its visualization service is not there.
	return nil, apierr.New(apierr.Internal,
		"this server runs no Python to make visualizations with; let the step write mlpipeline-ui-metadata (confusion_matrix, roc, table, markdown, web-app) instead")
}
