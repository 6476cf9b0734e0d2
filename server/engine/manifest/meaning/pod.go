package meaning

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// saysWho are labels and annotations that say who wrote the workflow, or what is known of a component, not what it does.
var saysWho = []string{
	"pipelines.kubeflow.org/kfp_sdk_version", "pipelines.kubeflow.org/pipeline-sdk-type", "pipelines.kubeflow.org/component_spec",
	"pipelines.kubeflow.org/component_ref", "pipelines.kubeflow.org/arguments.parameters",
	"pipelines.kubeflow.org/pipeline_compilation_time", "argosy.dev/sdk_version",
}

// caching is the label that turns the cache off by false; true is what holds without it.
const caching = "pipelines.kubeflow.org/enable_caching"

// shown are the artifacts that the server reads by their names.
var shown = []string{"mlpipeline-ui-metadata", "mlpipeline-metrics"}

// pod is what a step runs, with all values in their places.
func (u *unfolder) pod(t *wfv1.Template, in given) map[string]any {
	t = t.DeepCopy()
	t.Name = ""
	volumes := map[string]corev1.VolumeSource{}
	for _, v := range u.wf.Spec.Volumes { // which Argo fills with what the first tasks give
		var filled corev1.VolumeSource
		if err := json.Unmarshal([]byte(fillKnown(encode(v.VolumeSource), u.first)), &filled); err != nil {
			u.fail("%w", err)
		}
		volumes[v.Name] = filled
	}
	for _, v := range t.Volumes {
		volumes[v.Name] = v.VolumeSource
	}
	t.Volumes = nil
	var files []string
	for _, a := range t.Inputs.Artifacts {
		files = append(files, a.Path+" is "+in.values["inputs.artifacts."+a.Name])
	}
	slices.Sort(files)
	gives := left(t)
	t.Inputs, t.Outputs = wfv1.Inputs{}, wfv1.Outputs{}
	for _, name := range saysWho {
		delete(t.Metadata.Annotations, name)
		delete(t.Metadata.Labels, name)
	}
	if t.Metadata.Labels[caching] == "true" {
		delete(t.Metadata.Labels, caching)
	}
	mounts := map[string]any{}
	contain := func(name string, c *corev1.Container) { mounts[name] = u.container(c, volumes, in.values) }
	if t.Container != nil {
		contain("main", t.Container)
	}
	if t.Script != nil {
		contain("main", &t.Script.Container)
		t.Script.Source = asRead(t.Script.Source, nil, in.values)
	}
	if r := t.Resource; r != nil {
		for _, text := range []*string{&r.Manifest, &r.SuccessCondition, &r.FailureCondition} {
			*text = asRead(*text, nil, in.values)
		}
		for i := range r.Flags {
			r.Flags[i] = asRead(r.Flags[i], nil, in.values)
		}
	}
	for _, list := range [][]wfv1.UserContainer{t.Sidecars, t.InitContainers} {
		for i := range list {
			contain(list[i].Name, &list[i].Container)
			if mirrored := list[i].MirrorVolumeMounts; mirrored != nil && !*mirrored {
				list[i].MirrorVolumeMounts = nil
			}
		}
	}
	spec := u.wf.Spec.DeepCopy() // whose fields hold for steps without their own
	if len(t.NodeSelector) == 0 {
		t.NodeSelector = spec.NodeSelector
	}
	if len(t.Tolerations) == 0 {
		t.Tolerations = spec.Tolerations
	}
	t.Affinity = cmp.Or(t.Affinity, spec.Affinity)
	u.settle(t)
	var out map[string]any
	text := strings.ReplaceAll(fillJSON(encode(t), in.values), hiddenBrace, "{")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		u.fail("%w", err)
		return nil
	}
	prune(out)
	out["files"], out["mounts"], out["outputs"] = files, mounts, gives
	prune(out)
	return out
}

// settle writes in one form what has several.
func (u *unfolder) settle(t *wfv1.Template) {
	if r := t.RetryStrategy; r != nil && r.Limit != nil {
		limit := intstr.FromString(r.Limit.String())
		r.Limit = &limit
	}
	if r := t.RetryStrategy; r != nil && r.Backoff != nil {
		r.Backoff.Duration, r.Backoff.MaxDuration, r.Backoff.Cap = spoken(r.Backoff.Duration), spoken(r.Backoff.MaxDuration), spoken(r.Backoff.Cap)
		if one := intstr.FromInt32(1); r.Backoff.Factor == nil {
			r.Backoff.Factor = &one
		}
		factor := intstr.FromString(r.Backoff.Factor.String())
		r.Backoff.Factor = &factor
	}
	if t.ActiveDeadlineSeconds != nil {
		deadline := intstr.FromString(t.ActiveDeadlineSeconds.String())
		t.ActiveDeadlineSeconds = &deadline
	}
	for i := range t.Tolerations {
		if t.Tolerations[i].Operator == "" {
			t.Tolerations[i].Operator = corev1.TolerationOpEqual
		}
	}
	if t.Parallelism != nil && (*t.Parallelism == 0 || t.Container != nil || t.Script != nil || t.Resource != nil) {
		t.Parallelism = nil
	}
}

// left are the files and fields that a step gives, by where they are read from.
func left(t *wfv1.Template) []string {
	var gives []string
	for _, p := range t.Outputs.Parameters {
		text := "value " + source(p)
		if p.ValueFrom == nil && p.Value != nil {
			text += " = " + p.Value.String()
		}
		if p.ValueFrom != nil && p.ValueFrom.Default != nil {
			text += ", or " + kubernetes(p.ValueFrom.Default.String(), nil)
		}
		if p.GlobalName != "" {
			text += ", everywhere " + p.GlobalName
		}
		gives = append(gives, text)
	}
	for _, a := range t.Outputs.Artifacts {
		own := a.DeepCopy()
		if s3 := own.S3; s3 != nil && s3.Bucket == "mlpipeline" && strings.HasPrefix(s3.Endpoint, "minio-service.") { // Kubeflow Pipelines' own store
			own.S3 = nil
		}
		if !slices.Contains(shown, own.Name) {
			own.Name = ""
		}
		gives = append(gives, "file "+encode(own))
	}
	slices.Sort(gives)
	return gives
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
	case []string:
		return len(v) == 0
	case string:
		return v == ""
	}
	return v == nil
}

// container writes a container in the one form, and takes its mounts from it.
func (u *unfolder) container(c *corev1.Container, volumes map[string]corev1.VolumeSource, values map[string]string) any {
	env := map[string]bool{}
	for _, e := range c.Env {
		env[e.Name] = true
	}
	for i := range c.Command {
		c.Command[i] = asRead(c.Command[i], env, values)
	}
	for i := range c.Args {
		c.Args[i] = asRead(c.Args[i], env, values)
	}
	before := map[string]bool{}
	for i, e := range c.Env { // which know those before them
		own := maps.Clone(before)
		for name := range env {
			own[name] = before[name]
		}
		c.Env[i].Value = asRead(e.Value, own, values)
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
		mount := fillJSON(encode([]any{m, source}), values)
		mounts = append(mounts, mount)
	}
	c.VolumeMounts = nil
	slices.SortFunc(mounts, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
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
