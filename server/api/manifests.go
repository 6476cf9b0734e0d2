package api

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/yaml"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
)

// manifestJSON returns a manifest as v1beta1 carries it. A manifest that was sent as JSON, as KFP's SDK does, stays unchanged.
func manifestJSON(manifest []byte) (string, error) {
	if json.Valid(manifest) {
		return string(manifest), nil
	}
	text, err := yaml.YAMLToJSON(manifest)
	if err != nil {
		return "", apierr.New(apierr.Internal, "a manifest cannot be read").Because(err)
	}
	return string(text), nil
}

// made is a run or a job of the wire, which is made from a manifest.
type made interface {
	GetId() string
	GetPipelineSpec() *kfpv1.PipelineSpec
}

// addManifests puts the manifests into the rows of a page; rows that share one have it turned into JSON once. A row that was deleted
// meanwhile has none.
func addManifests[T made](ctx context.Context, rows []T, read func(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error)) error {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.GetId()
	}
	manifests, of, err := read(ctx, ids)
	if err != nil {
		return err
	}
	texts := make([]string, len(manifests))
	for i, m := range manifests {
		if texts[i], err = manifestJSON(m); err != nil {
			return err
		}
	}
	for i, id := range ids {
		if place, there := of[id]; there {
			rows[i].GetPipelineSpec().WorkflowManifest = texts[place]
		}
	}
	return nil
}
