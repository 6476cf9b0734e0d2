package api

import (
	"encoding/json"

	"sigs.k8s.io/yaml"

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

// manifestsJSON is manifestJSON of the manifests of a page, each once however many of its rows share it.
func manifestsJSON(manifests [][]byte) ([]string, error) {
	texts := make([]string, len(manifests))
	for i, m := range manifests {
		text, err := manifestJSON(m)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}
