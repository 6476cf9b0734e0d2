package decompile_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// saysWho are labels and annotations that say who wrote the workflow, or what is known of a component, not what it does.
var saysWho = []string{
	"pipelines.kubeflow.org/kfp_sdk_version", "pipelines.kubeflow.org/pipeline-sdk-type", "pipelines.kubeflow.org/component_spec",
	"pipelines.kubeflow.org/pipeline_compilation_time", "argosy.dev/sdk_version",
}

// pod is what a step runs, with all values in their places.
func (u *unfolder) pod(t *wfv1.Template, in given) map[string]any {
	t = t.DeepCopy()
	t.Name = ""
	volumes := map[string]corev1.VolumeSource{}
	for _, v := range append(slices.Clone(u.wf.Spec.Volumes), t.Volumes...) {
		volumes[v.Name] = v.VolumeSource
	}
	t.Volumes = nil
	var files []string
	for _, a := range t.Inputs.Artifacts {
		files = append(files, a.Path+" is "+in.values["inputs.artifacts."+a.Name])
	}
	slices.Sort(files)
	t.Inputs = wfv1.Inputs{}
	slices.SortFunc(t.Outputs.Parameters, func(a, b wfv1.Parameter) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(t.Outputs.Artifacts, func(a, b wfv1.Artifact) int { return strings.Compare(a.Name, b.Name) })
	for i := range t.Outputs.Artifacts {
		if s3 := t.Outputs.Artifacts[i].S3; s3 != nil && s3.Bucket == "mlpipeline" { // Kubeflow Pipelines' own store
			t.Outputs.Artifacts[i].S3 = nil
		}
	}
	for i := range t.Outputs.Parameters {
		if v := t.Outputs.Parameters[i].ValueFrom; v != nil && v.Default != nil {
			text := wfv1.AnyString(kubernetes(v.Default.String(), nil))
			v.Default = &text
		}
	}
	for _, name := range saysWho {
		delete(t.Metadata.Annotations, name)
		delete(t.Metadata.Labels, name)
	}
	mounts := map[string]any{}
	contain := func(name string, c *corev1.Container) {
		mounts[name] = u.container(c, volumes)
	}
	if t.Container != nil {
		contain("main", t.Container)
	}
	if t.Script != nil {
		contain("main", &t.Script.Container)
		t.Script.Source = kubernetes(t.Script.Source, nil)
	}
	for i := range t.Sidecars {
		contain(t.Sidecars[i].Name, &t.Sidecars[i].Container)
		if mirrored := t.Sidecars[i].MirrorVolumeMounts; mirrored != nil && *mirrored && mounts["main"] == nil {
			t.Sidecars[i].MirrorVolumeMounts = nil
		}
	}
	for i := range t.InitContainers {
		contain(t.InitContainers[i].Name, &t.InitContainers[i].Container)
	}
	if r := t.RetryStrategy; r != nil && r.Limit != nil {
		limit := intstr.FromString(r.Limit.String())
		r.Limit = &limit
	}
	if r := t.RetryStrategy; r != nil && r.Backoff != nil {
		r.Backoff.Duration, r.Backoff.MaxDuration, r.Backoff.Cap = spoken(r.Backoff.Duration), spoken(r.Backoff.MaxDuration), spoken(r.Backoff.Cap)
		if one := intstr.FromInt32(1); r.Backoff.Factor == nil {
			r.Backoff.Factor = &one
		}
	}
	for i := range t.Tolerations {
		if t.Tolerations[i].Operator == "" {
			t.Tolerations[i].Operator = corev1.TolerationOpEqual
		}
	}
	text, err := json.Marshal(t)
	require.NoError(u.t, err)
	out := map[string]any{}
	require.NoError(u.t, json.Unmarshal([]byte(strings.ReplaceAll(fillJSON(string(text), in.values), hiddenBrace, "{")), &out), "%s", text)
	prune(out)
	out["files"], out["mounts"] = files, mounts
	return out
}

// prune takes away what is empty.
func prune(v any) (empty bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if prune(e) {
				delete(v, k)
			}
		}
		return len(v) == 0
	case []any:
		for _, e := range v {
			prune(e)
		}
		return len(v) == 0
	}
	return v == nil
}

// container writes a container in the one form, and takes its mounts from it.
func (u *unfolder) container(c *corev1.Container, volumes map[string]corev1.VolumeSource) any {
	env := envNames(c)
	for i := range c.Command {
		c.Command[i] = kubernetes(c.Command[i], env)
	}
	for i := range c.Args {
		c.Args[i] = kubernetes(c.Args[i], env)
	}
	before := map[string]bool{}
	for i, e := range c.Env { // which know those before them
		own := maps.Clone(before)
		for name := range env {
			own[name] = before[name]
		}
		c.Env[i].Value = kubernetes(e.Value, own)
		before[e.Name] = true
	}
	c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "ARGOSY_BRACE" && e.Value == "{" })
	slices.SortFunc(c.Env, func(a, b corev1.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	c.Name = ""
	var mounts []any
	for _, m := range c.VolumeMounts {
		source, known := volumes[m.Name]
		if known {
			m.Name = ""
		}
		mounts = append(mounts, []any{m, source})
	}
	c.VolumeMounts = nil
	if mounts == nil {
		return nil
	}
	return mounts
}

// spoken is a time as Go says it.
func spoken(text string) string {
	d, err := wfv1.ParseStringToDuration(text)
	if text == "" || err != nil {
		return text
	}
	return d.String()
}

// fillJSON puts values into the texts of JSON.
func fillJSON(text string, values map[string]string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	var visit func(any) any
	visit = func(v any) any {
		switch v := v.(type) {
		case string:
			return fill(v, values)
		case []any:
			for i := range v {
				v[i] = visit(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = visit(v[k])
			}
		}
		return v
	}
	out, err := json.Marshal(visit(v))
	if err != nil {
		return text
	}
	return string(out)
}

// settingsOf is what concerns a workflow as a whole.
func settingsOf(t *testing.T, wf *wfv1.Workflow) map[string]any {
	t.Helper()
	spec := wf.Spec.DeepCopy()
	spec.Templates, spec.Entrypoint, spec.OnExit, spec.Volumes = nil, "", "", nil
	if spec.Parallelism != nil && *spec.Parallelism == 0 {
		spec.Parallelism = nil
	}
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = "pipeline-runner" // with which the server runs it
	}
	if ttl := spec.TTLStrategy; ttl != nil && ttl.SecondsAfterCompletion != nil {
		if ttl.SecondsAfterSuccess == nil {
			ttl.SecondsAfterSuccess = ttl.SecondsAfterCompletion
		}
		if ttl.SecondsAfterFailure == nil {
			ttl.SecondsAfterFailure = ttl.SecondsAfterCompletion
		}
		ttl.SecondsAfterCompletion = nil
	}
	out := map[string]any{}
	var about struct {
		Name, Description string
		Inputs            []struct{ Name, Description string }
	}
	if json.Unmarshal([]byte(wf.Annotations["pipelines.kubeflow.org/pipeline_spec"]), &about) == nil {
		out["description"] = about.Description
	}
	for i := range spec.Arguments.Parameters { // what is said there may be said here
		p := &spec.Arguments.Parameters[i]
		for _, in := range about.Inputs {
			if in.Name == p.Name && p.Description == nil && in.Description != "" {
				p.Description = wfv1.AnyStringPtr(in.Description)
			}
		}
	}
	text, err := json.Marshal(spec)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	for _, name := range saysWho {
		delete(wf.Labels, name)
		delete(wf.Annotations, name)
	}
	delete(wf.Annotations, "pipelines.kubeflow.org/pipeline_spec")
	for name, m := range map[string]map[string]string{"labels": wf.Labels, "annotations": wf.Annotations} {
		if len(m) > 0 {
			out[name] = m
		}
	}
	if out["description"] == "" {
		delete(out, "description")
	}
	return out
}
