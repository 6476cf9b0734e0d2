package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cache"
)

// Labels and annotations about the cache that manifests (KFP v1, and our DSL's cache key) and the server set on templates,
// and so on their pods.
const (
	labelCaching        = "pipelines.kubeflow.org/enable_caching"
	labelReused         = "pipelines.kubeflow.org/reused_from_cache"
	annotationStaleness = "pipelines.kubeflow.org/max_cache_staleness"
	annotationExecution = "pipelines.kubeflow.org/execution_cache_key"

	annotationCacheKey = "argosy.dev/cache-key"    // stands for all that the step is given
	annotationFamily   = "argosy.dev/cache-family" // of the template
	annotationInputs   = "argosy.dev/cache-inputs" // a digest of the input parameters, which pods do not show
)

// inputsDigest is what Argo makes the digest with. The values themselves may be too long for an annotation.
const inputsDigest = "{{=sprig.sha256sum(toJson(inputs.parameters))}}"

// setCaching labels templates as KFP v1 does, and has the pods of those wait for the server whose outputs may be there.
// Where nothing of a template was ever kept nothing waits.
func setCaching(ctx context.Context, wf *wfv1.Workflow, reusable func(context.Context, []string) ([]string, error)) error {
	var families []string
	for i := range wf.Spec.Templates {
		t := &wf.Spec.Templates[i]
		on := reusable != nil && isCacheable(t)
		if t.Metadata.Labels[labelCacheEnabled] == "" {
			setIn(&t.Metadata.Labels, labelCacheEnabled, strconv.FormatBool(reusable != nil))
		}
		if !on {
			continue
		}
		family, err := familyOf(wf, t)
		if err != nil {
			return err
		}
		families = append(families, family)
		setIn(&t.Metadata.Annotations, annotationFamily, family)
		if len(t.Inputs.Parameters) > 0 {
			setIn(&t.Metadata.Annotations, annotationInputs, inputsDigest)
		}
	}
	if len(families) == 0 {
		return nil
	}
	known, err := reusable(ctx, families)
	if err != nil {
		return err
	}
	for i := range wf.Spec.Templates {
		if t := &wf.Spec.Templates[i]; slices.Contains(known, t.Metadata.Annotations[annotationFamily]) && mayReuse(t) {
			addGate(t)
		}
	}
	return nil
}

// isCacheable tells the templates whose steps run a container that the manifest does not exclude.
func isCacheable(t *wfv1.Template) bool {
	return (t.Container != nil || t.Script != nil) && !t.IsDaemon() && !cachingOff(t.Metadata.Labels)
}

func cachingOff(labels map[string]string) bool {
	return labels[labelCacheEnabled] == "false" || labels[labelCaching] == "false"
}

// mayReuse tells templates that do not forbid it at once (P0D).
func mayReuse(t *wfv1.Template) bool {
	age, limited, err := cache.MaxAge(t.Metadata.Annotations[annotationStaleness])
	return err != nil || !limited || age > 0 // with an error it may be a placeholder
}

// given is what KFP v1 makes a step's cache key from: its command, files, inputs and outputs.
// The places of its outputs are left out: they differ from run to run.
type given struct {
	Container      *wfv1.Template       `json:"container"`
	Inputs         wfv1.Artifacts       `json:"inputs,omitempty"`
	Parameters     string               `json:"parameters,omitempty"`
	Outputs        wfv1.Outputs         `json:"outputs"`
	Volumes        []corev1.Volume      `json:"volumes,omitempty"`
	InitContainers []wfv1.UserContainer `json:"initContainers,omitempty"`
	Sidecars       []wfv1.UserContainer `json:"sidecars,omitempty"`
}

func givenBy(t *wfv1.Template, volumes []corev1.Volume) given {
	g := given{Container: &wfv1.Template{}, Inputs: t.Inputs.Artifacts, Volumes: volumes}
	if t.Container != nil {
		g.Container.Container = essence(t.Container)
	}
	if t.Script != nil {
		g.Container.Script = &wfv1.ScriptTemplate{Container: *essence(&t.Script.Container), Source: t.Script.Source}
	}
	for _, p := range t.Outputs.Parameters {
		g.Outputs.Parameters = append(g.Outputs.Parameters, wfv1.Parameter{Name: p.Name, ValueFrom: p.ValueFrom, GlobalName: p.GlobalName})
	}
	for _, a := range t.Outputs.Artifacts {
		g.Outputs.Artifacts = append(g.Outputs.Artifacts, wfv1.Artifact{
			Name: a.Name, Path: a.Path, Archive: a.Archive, Optional: a.Optional, GlobalName: a.GlobalName,
		})
	}
	for _, list := range []struct {
		from []wfv1.UserContainer
		to   *[]wfv1.UserContainer
	}{{t.InitContainers, &g.InitContainers}, {t.Sidecars, &g.Sidecars}} {
		for _, c := range list.from {
			*list.to = append(*list.to, wfv1.UserContainer{Container: *essence(&c.Container)})
		}
	}
	return g
}

// essence is the part of a container that shapes its outputs. Resources are not in it.
func essence(c *corev1.Container) *corev1.Container {
	return &corev1.Container{
		Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, WorkingDir: c.WorkingDir,
		Env: c.Env, EnvFrom: c.EnvFrom, VolumeMounts: c.VolumeMounts,
	}
}

// familyOf digests a template as the manifest has it. Templates with a cache key of their own differ by their name and by the
// pipeline's: the same key elsewhere means something else.
func familyOf(wf *wfv1.Workflow, t *wfv1.Template) (string, error) {
	g := givenBy(t, t.Volumes)
	if t.Metadata.Annotations[annotationCacheKey] != "" {
		return digestOf("keyed", wf.GenerateName+wf.Name, t.Name, g.Outputs)
	}
	return digestOf("template", g)
}

func digestOf(parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", apierr.New(apierr.Internal, "the template cannot be written").Because(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// keyOf digests what a step is given, of its pod. It is empty for steps that must run: exit handlers, which are there for
// what they do, and those whose template the pod does not show whole.
func keyOf(pod *corev1.Pod) (string, error) {
	if cachingOff(pod.Labels) || pod.Labels[labelCacheEnabled] != "true" || isExitPod(pod) {
		return "", nil
	}
	if key := pod.Annotations[annotationCacheKey]; key != "" {
		return digestOf(pod.Annotations[annotationFamily], key)
	}
	t, err := templateOf(pod)
	if t == nil || err != nil {
		return "", err
	}
	g := givenBy(t, nil)
	g.Parameters = pod.Annotations[annotationInputs]
	for _, v := range pod.Spec.Volumes {
		if mounts(t, v.Name) {
			g.Volumes = append(g.Volumes, v)
		}
	}
	return digestOf(g)
}

// templateOf reads the template that Argo's executor gets with a pod; nil when it is too long to lie in it.
func templateOf(pod *corev1.Pod) (*wfv1.Template, error) {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, e := range c.Env {
			if e.Name != common.EnvVarTemplate || e.Value == common.EnvVarTemplateOffloaded {
				continue
			}
			t := &wfv1.Template{}
			if err := json.Unmarshal([]byte(e.Value), t); err != nil {
				return nil, apierr.New(apierr.Internal, "the template of pod %s cannot be read", pod.Name).Because(err)
			}
			return t, nil
		}
	}
	return nil, nil
}

func mounts(t *wfv1.Template, volume string) bool {
	var all []corev1.VolumeMount
	if t.Container != nil {
		all = append(all, t.Container.VolumeMounts...)
	}
	if t.Script != nil {
		all = append(all, t.Script.VolumeMounts...)
	}
	for _, c := range slices.Concat(t.InitContainers, t.Sidecars) {
		all = append(all, c.VolumeMounts...)
	}
	return slices.ContainsFunc(all, func(m corev1.VolumeMount) bool { return m.Name == volume })
}

// Outputs returns the outputs of a Workflow's nodes from the status that Argo wrote. It leaves out nodes with files outside an S3 bucket,
// which the server cannot keep track of.
func (e *Engine) Outputs(workflow []byte) (map[string][]byte, error) {
	var wf struct {
		Status struct {
			Nodes map[string]struct {
				Outputs json.RawMessage `json:"outputs"`
			} `json:"nodes"`
		} `json:"status"`
	}
	if err := json.Unmarshal(workflow, &wf); err != nil {
		return nil, apierr.New(apierr.Internal, "the recorded workflow cannot be read").Because(err)
	}
	outputs := map[string][]byte{}
	for id, n := range wf.Status.Nodes {
		if len(n.Outputs) == 0 {
			n.Outputs = json.RawMessage("{}")
		}
		var left wfv1.Outputs
		if err := json.Unmarshal(n.Outputs, &left); err != nil {
			return nil, apierr.New(apierr.Internal, "the recorded workflow cannot be read").Because(err)
		}
		if !slices.ContainsFunc(left.Artifacts, func(a wfv1.Artifact) bool { return a.S3 == nil || a.S3.Key == "" }) {
			outputs[id] = n.Outputs
		}
	}
	return outputs, nil
}
