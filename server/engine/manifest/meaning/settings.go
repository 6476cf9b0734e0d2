package meaning

import (
	"cmp"
	"encoding/json"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"sigs.k8s.io/yaml"
)

const specAnnotation = "pipelines.kubeflow.org/pipeline_spec"

// serviceAccount is the one with which the server runs what names none.
const serviceAccount = "pipeline-runner"

// about is what the annotation pipeline_spec says.
type about struct {
	Description string
	Inputs      []struct{ Name, Description string }
}

// settings is what concerns a workflow as a whole.
func settings(wf *wfv1.Workflow, manifest []byte) (map[string]any, error) {
	spec := wf.Spec.DeepCopy()
	spec.Templates, spec.Entrypoint, spec.OnExit, spec.Volumes = nil, "", "", nil
	spec.NodeSelector, spec.Tolerations, spec.Affinity = nil, nil, nil // they are with the steps
	if spec.Parallelism != nil && *spec.Parallelism == 0 {
		spec.Parallelism = nil // the Python SDK writes 0 and means no limit
	}
	spec.ServiceAccountName = cmp.Or(spec.ServiceAccountName, serviceAccount)
	if seconds := ttl(manifest); seconds != nil && spec.TTLStrategy == nil {
		spec.TTLStrategy = &wfv1.TTLStrategy{SecondsAfterCompletion: seconds}
	}
	if ttl := spec.TTLStrategy; ttl != nil && ttl.SecondsAfterCompletion != nil {
		ttl.SecondsAfterSuccess = cmp.Or(ttl.SecondsAfterSuccess, ttl.SecondsAfterCompletion)
		ttl.SecondsAfterFailure = cmp.Or(ttl.SecondsAfterFailure, ttl.SecondsAfterCompletion)
		ttl.SecondsAfterCompletion = nil
	}
	var says about
	if json.Unmarshal([]byte(wf.Annotations[specAnnotation]), &says) != nil {
		says = about{}
	}
	for i := range spec.Arguments.Parameters { // what is said there may be said here
		p := &spec.Arguments.Parameters[i]
		for _, in := range says.Inputs {
			if in.Name == p.Name && p.Description == nil && in.Description != "" {
				p.Description = wfv1.AnyStringPtr(in.Description)
			}
		}
	}
	out := map[string]any{}
	if err := json.Unmarshal([]byte(encode(spec)), &out); err != nil {
		return nil, err
	}
	for _, name := range append([]string{specAnnotation}, saysWho...) {
		delete(wf.Labels, name)
		delete(wf.Annotations, name)
	}
	out["labels"], out["annotations"] = plain(wf.Labels), plain(wf.Annotations)
	out["description"] = says.Description
	prune(out)
	return out, nil
}

func plain(m map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// ttl reads a field that Argo had before 3.0.
func ttl(manifest []byte) *int32 {
	var old struct {
		Spec struct {
			TTL *int32 `json:"ttlSecondsAfterFinished"`
		} `json:"spec"`
	}
	if yaml.Unmarshal(manifest, &old) != nil {
		return nil
	}
	return old.Spec.TTL
}
