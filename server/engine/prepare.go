package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// podGCDelay is how long the pods of steps stay at least, so that their logs can be read when they have ended.
const podGCDelay = time.Minute

// timeToLive is how long a Workflow stays in the cluster after its end, in seconds, as with KFP: 7 days. Its run stays.
const timeToLive = 7 * 24 * 60 * 60

// Prepare makes of a manifest the Workflow of a run, in the order of KFP v1.
func (e *Engine) Prepare(ctx context.Context, manifest []byte, o run.Options) (run.Prepared, error) {
	wf, err := Parse(manifest)
	if err != nil {
		return run.Prepared{}, err
	}
	labels, rules := maps.Clone(wf.Labels), rulesOf(wf)
	if err := override(wf, o.Parameters); err != nil {
		return run.Prepared{}, err
	}
	expandMacros(wf, o, time.Now())
	fillIn(wf, o.Bucket)
	given, defaults := valuesOf(wf, o.Parameters)
	if err := rules.check(given); err != nil {
		return run.Prepared{}, err
	}
	setServiceAccount(wf, o.ServiceAccount)
	decorateTemplates(wf)
	if err := setCaching(ctx, wf, o.Reusable); err != nil {
		return run.Prepared{}, err
	}
	name(wf, o)
	setMetadata(wf, o)
	keepPods(wf)
	setTimeToLive(wf)
	steps := demandsOf(wf, o.RunID)
	nameParameters(wf, steps.found)
	if err := e.validate(ctx, wf.DeepCopy(), validate.ValidateOpts{}); err != nil {
		return run.Prepared{}, err
	}
	prepared, err := write(wf, o.RunID)
	if err != nil {
		return run.Prepared{}, err
	}
	p := run.Prepared{
		Name: wf.Name, ServiceAccount: wf.Spec.ServiceAccountName, Workflow: prepared, Parameters: given, Defaults: defaults, Labels: labels,
	}
	p.Shortages, p.Checked = e.tooBig(ctx, wf.Namespace, steps.found)
	p.Risks = e.apart(ctx, wf.Namespace, steps.found)
	if o.Concerns {
		p.Concerns = e.concerns(ctx, steps)
	}
	return p, nil
}

// override puts the request's parameters in place of the manifest's.
func override(wf *wfv1.Workflow, given []run.Parameter) error {
	known := wf.Spec.Arguments.Parameters
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
	}
	values := map[string]string{}
	for _, p := range given {
		if !slices.Contains(names, p.Name) {
			return apierr.New(apierr.Invalid, "Unrecognized input parameter: %s. %s", p.Name, knownParameters(names))
		}
		if _, twice := values[p.Name]; twice {
			return apierr.New(apierr.Invalid, "parameter %s is given twice", p.Name)
		}
		values[p.Name] = p.Value
	}
	for i := range known {
		p := &known[i]
		value, ok := values[p.Name]
		switch {
		case ok:
			*p = wfv1.Parameter{Name: p.Name, Value: wfv1.AnyStringPtr(value), Enum: p.Enum}
		case p.Value == nil && p.ValueFrom == nil:
			return apierr.New(apierr.Invalid, "parameter %s has no default; give it a value", p.Name)
		}
	}
	return nil
}

// valuesOf gives the values that a Workflow has: of the parameters that were given, in that order, and of the others.
func valuesOf(wf *wfv1.Workflow, given []run.Parameter) (values, defaults []run.Parameter) {
	values = slices.Clone(given)
	for _, p := range wf.Spec.Arguments.Parameters {
		i := slices.IndexFunc(given, func(g run.Parameter) bool { return g.Name == p.Name })
		switch {
		case i >= 0:
			values[i].Value = p.Value.String()
		case p.Value != nil:
			defaults = append(defaults, run.Parameter{Name: p.Name, Value: p.Value.String()})
		}
	}
	return values, defaults
}

func knownParameters(names []string) string {
	if len(names) == 0 {
		return "The pipeline has no parameters."
	}
	return "The pipeline's parameters are: " + strings.Join(names, ", ") + "."
}

func setServiceAccount(wf *wfv1.Workflow, requested string) {
	if requested != "" {
		wf.Spec.ServiceAccountName = requested
	}
	if wf.Spec.ServiceAccountName == "" {
		wf.Spec.ServiceAccountName = defaultServiceAccount
	}
}

func decorateTemplates(wf *wfv1.Workflow) {
	for i := range wf.Spec.Templates {
		t := &wf.Spec.Templates[i]
		if _, set := t.Metadata.Annotations[annotationIstio]; !set {
			setIn(&t.Metadata.Annotations, annotationIstio, "false") // a mesh's sidecar would keep the step's pod from ending
		}
		for j := range t.Outputs.Artifacts {
			if a := &t.Outputs.Artifacts[j]; a.Name == metricsArtifact || a.Name == uiArtifact {
				a.Optional = true
			}
		}
	}
}

func setMetadata(wf *wfv1.Workflow, o run.Options) {
	wf.TypeMeta = metav1.TypeMeta{APIVersion: workflowAPI, Kind: workflowKind}
	wf.ObjectMeta = metav1.ObjectMeta{Name: wf.Name, Namespace: o.Namespace, Labels: wf.Labels, Annotations: wf.Annotations}
	wf.Status = wfv1.WorkflowStatus{}
	setIn(&wf.Labels, labelRunID, o.RunID)
	delete(wf.Labels, labelPersisted)
	hold(wf)
	if o.Tick != nil {
		setIn(&wf.Labels, labelSchedule, o.Tick.Schedule)
		setIn(&wf.Labels, labelScheduleEpoch, strconv.FormatInt(o.Tick.At.Unix(), 10))
		setIn(&wf.Labels, labelScheduleIndex, strconv.FormatInt(o.Tick.Index, 10))
		setIn(&wf.Labels, labelScheduled, "true")
	}
	setIn(&wf.Annotations, annotationRunName, o.RunName)
	if wf.Spec.PodMetadata == nil {
		wf.Spec.PodMetadata = &wfv1.Metadata{}
	}
	setIn(&wf.Spec.PodMetadata.Labels, labelRunID, o.RunID)
}

// Names of Workflows become labels, which are at most 63 characters long.
const (
	maxName      = 63
	suffixLength = 5
)

var notInName = regexp.MustCompile(`[^a-z0-9-]+`)

// name fixes the Workflow's name now, so that creating it twice cannot make two.
func name(wf *wfv1.Workflow, o run.Options) {
	if o.Tick != nil {
		wf.GenerateName, wf.Name = "", o.Tick.Workflow
		return
	}
	base := wf.GenerateName
	if base == "" {
		base = wf.Name
	}
	base = strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "-"), "-")
	if base == "" {
		base = "run"
	}
	base = strings.TrimRight(base[:min(len(base), maxName-suffixLength-1)], "-")
	wf.GenerateName, wf.Name = "", base+"-"+rand.String(suffixLength)
}

// uid asks for the Workflow's uid, which does not exist before the Workflow does: the run's id stands in for it.
const uid = "{{workflow.uid}}"

// write gives the Workflow as the store keeps it and the cluster gets it.
func write(wf *wfv1.Workflow, runID string) ([]byte, error) {
	text, err := json.Marshal(wf)
	if err != nil {
		return nil, apierr.New(apierr.Internal, "the workflow cannot be written").Because(err)
	}
	return bytes.ReplaceAll(text, []byte(uid), []byte(runID)), nil
}

// keepPods delays the removal of pods that the manifest asks for until their logs are safe.
func keepPods(wf *wfv1.Workflow) {
	gc := wf.Spec.PodGC
	if gc == nil || gc.Strategy == "" {
		return
	}
	if delay, err := time.ParseDuration(gc.DeleteDelayDuration); err != nil || delay < podGCDelay {
		gc.DeleteDelayDuration = podGCDelay.String()
	}
}

// setTimeToLive has Argo delete the Workflow some time after its end, unless the manifest says when. The finalizer keeps it until
// the run is recorded, and a retry creates it again.
func setTimeToLive(wf *wfv1.Workflow) {
	ttl := wf.Spec.TTLStrategy
	if ttl == nil {
		ttl = &wfv1.TTLStrategy{}
		wf.Spec.TTLStrategy = ttl
	}
	if ttl.SecondsAfterCompletion == nil {
		seconds := int32(timeToLive)
		ttl.SecondsAfterCompletion = &seconds
	}
}

func setIn(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}
