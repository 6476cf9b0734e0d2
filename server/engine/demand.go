package engine

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/server/run"
)

// maxLooked bounds how many steps of a Workflow, of those that differ, are looked at before its run begins: each takes a fraction of a millisecond.
const maxLooked = 500

// stepDemand is what a step will need of the cluster.
type stepDemand struct {
	step, template string
	capacity.Demand
}

// demandsOf gives what the steps of a Workflow will need, as far as it is known before they run: not that of steps whose resources
// are outputs of others, or items of a loop, and of steps that run on a condition.
func demandsOf(wf *wfv1.Workflow, runID string) *walker {
	w := &walker{wf: wf, seen: map[string]bool{}, globals: scope{map[string]string{}, map[string]string{}}}
	w.globals.set("workflow.name", wf.Name, "")
	w.globals.set("workflow.namespace", wf.Namespace, "")
	w.globals.set("workflow.uid", runID, "")
	var given wfv1.Arguments // what the first template is given: the pipeline's parameters, by their names
	for _, p := range wf.Spec.Arguments.Parameters {
		if p.Value != nil {
			w.globals.set("workflow.parameters."+p.Name, strings.ReplaceAll(p.Value.String(), uid, runID), p.Name)
			given.Parameters = append(given.Parameters, wfv1.Parameter{Name: p.Name, Value: wfv1.AnyStringPtr("{{workflow.parameters." + p.Name + "}}")})
		}
	}
	for _, first := range []string{wf.Spec.Entrypoint, wf.Spec.OnExit} {
		w.walk(first, first, given, w.globals)
	}
	return w
}

// scope is what is known of the values that a template's placeholders stand for.
type scope struct {
	values     map[string]string
	parameters map[string]string // the pipeline's parameter that a value is
}

func (s scope) set(name, value, parameter string) {
	s.values[name], s.parameters[name] = value, parameter
}

var (
	placeholder = regexp.MustCompile(`^\{\{[^{}]*\}\}$`)
	reference   = regexp.MustCompile(`\b(inputs|workflow)\.parameters(?:\.([\w-]+)|\['([^']+)'\])`)
)

// parameter is the pipeline's parameter that a text stands for; empty where it stands for something else, or for more.
func (s scope) parameter(text string) string {
	if found := reference.FindAllStringSubmatch(text, -1); len(found) == 1 && placeholder.MatchString(text) {
		return s.parameters[found[0][1]+".parameters."+found[0][2]+found[0][3]]
	}
	return ""
}

// walker goes through a Workflow's templates as a run will.
type walker struct {
	wf      *wfv1.Workflow
	globals scope
	seen    map[string]bool
	found   []stepDemand
	// What the pods of steps refer to.
	references []needed
	deadlocks  []run.Concern // of jobs that resource templates create
}

func (w *walker) walk(step, template string, given wfv1.Arguments, outer scope) {
	t := w.wf.GetTemplateByName(template)
	if t == nil || len(w.seen) >= maxLooked {
		return
	}
	inner := w.inputs(t, given, outer)
	key := template
	for _, p := range t.Inputs.Parameters {
		key += "\x00" + inner.values["inputs.parameters."+p.Name]
	}
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	if t.DAG != nil {
		for _, task := range t.DAG.Tasks {
			if task.When == "" {
				w.walk(task.Name, task.Template, task.Arguments, inner)
			}
		}
	}
	for _, group := range t.Steps {
		for _, s := range group.Steps {
			if s.When == "" {
				w.walk(s.Name, s.Template, s.Arguments, inner)
			}
		}
	}
	if d, ok := w.leaf(t, inner); ok {
		w.found = append(w.found, stepDemand{step, template, d})
		if launched(t.Container) != nil { // the pods of its job, beside its own
			for i := range d.Groups {
				w.refer(step, &d.Groups[i].Pod, inner)
			}
		}
	}
	if pod := w.whole(t); pod != nil {
		w.refer(step, pod, inner)
	}
	if t.Resource != nil {
		text, _ := filledIn(t.Resource.Manifest, inner.values)
		if why := Deadlock(text); why != "" {
			w.deadlocks = append(w.deadlocks, run.Concern{Step: step, Why: why})
		}
	}
}

// inputs is what is known inside of a template that is given arguments.
func (w *walker) inputs(t *wfv1.Template, given wfv1.Arguments, outer scope) scope {
	inner := scope{maps.Clone(w.globals.values), maps.Clone(w.globals.parameters)}
	for _, p := range t.Inputs.Parameters {
		value := p.Value
		if value == nil {
			value = p.Default
		}
		if arg := given.GetParameterByName(p.Name); arg != nil && arg.Value != nil {
			value = arg.Value
		}
		if value == nil {
			continue
		}
		if text, ok := filledIn(value.String(), outer.values); ok {
			inner.set("inputs.parameters."+p.Name, text, outer.parameter(value.String()))
		}
	}
	return inner
}

// leaf is what a template needs that runs containers: those of its own pod, or those of the job that it launches.
func (w *walker) leaf(t *wfv1.Template, s scope) (capacity.Demand, bool) {
	if words := launched(t.Container); words != nil {
		return w.job(t.Name, words, s)
	}
	pod, parameters, ok := w.pod(t, s)
	if !ok {
		return capacity.Demand{}, false
	}
	d := capacity.Demand{Groups: []capacity.Group{{Replicas: 1, Pod: *pod}}, Parameters: parameters, Queue: w.queue(t, s)}
	for _, claim := range w.wf.Spec.VolumeClaimTemplates {
		if mounts(t, claim.Name) {
			d.Claims = append(d.Claims, capacity.Claim{Name: w.wf.Name + "-" + claim.Name, Spec: claim.Spec}) // as Argo names it
		}
	}
	return d, true
}

// queue is the queue of Volcano that a template's pods are in; empty where they are in none, or it is not known yet.
func (w *walker) queue(t *wfv1.Template, s scope) string {
	annotations := map[string]string{}
	if w.wf.Spec.PodMetadata != nil {
		maps.Copy(annotations, w.wf.Spec.PodMetadata.Annotations)
	}
	maps.Copy(annotations, t.Metadata.Annotations)
	queue, known := filledIn(job.QueueOf(cmp.Or(t.SchedulerName, w.wf.Spec.SchedulerName), annotations), s.values)
	if !known {
		return ""
	}
	return queue
}

// launched are the launcher's own arguments in a container that runs it.
func launched(c *corev1.Container) []string {
	if c == nil {
		return nil
	}
	words := slices.Concat(c.Command, c.Args)
	i := slices.IndexFunc(words, func(word string) bool { return path.Base(word) == launcherImage })
	if i < 0 && strings.HasPrefix(path.Base(c.Image), launcherImage) && len(c.Command) == 0 { // the image's own command
		return c.Args
	}
	if i < 0 {
		return nil
	}
	return words[i+1:]
}

// setBy are the launcher's options that set a resource.
var setBy = map[string]corev1.ResourceName{"cpu": corev1.ResourceCPU, "memory": corev1.ResourceMemory, "gpus": "nvidia.com/gpu"}

// job reads the launcher's command line, and makes the job that it will make.
func (w *walker) job(step string, words []string, s scope) (capacity.Demand, bool) {
	args := make([]string, len(words))
	parameters := map[corev1.ResourceName]string{}
	for i, word := range words {
		option, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if i > 0 && !strings.HasPrefix(word, "--") {
			option, value = strings.TrimPrefix(words[i-1], "--"), word
		}
		if parameter := s.parameter(value); parameter != "" && setBy[option] != "" {
			parameters[setBy[option]] = parameter
		}
		text, _ := filledIn(word, s.values) // what is not known yet either matters not, or cannot be read
		args[i] = inContainer.Replace(text)
	}
	spec, err := job.Parse(args)
	if err != nil { // the launcher says so itself, or values are missing that come later
		return capacity.Demand{}, false
	}
	made, err := job.Build(spec, job.Identity{Namespace: w.wf.Namespace, Workflow: w.wf.Name, Node: step})
	if err != nil {
		return capacity.Demand{}, false
	}
	d := spec.Demand(made)
	d.Parameters = parameters
	return d, true
}

// pod is as much of a step's pod as decides where it fits.
func (w *walker) pod(t *wfv1.Template, s scope) (pod *corev1.PodSpec, parameters map[corev1.ResourceName]string, ok bool) {
	p := w.whole(t)
	if p == nil {
		return nil, nil, false
	}
	return s.patched(placement(p), w.wf.Spec.PodSpecPatch, t.PodSpecPatch)
}

// whole is a step's pod as the template has it; nil for one that has none.
func (w *walker) whole(t *wfv1.Template) *corev1.PodSpec {
	var p corev1.PodSpec
	switch {
	case t.Container != nil:
		p.Containers = []corev1.Container{*t.Container}
	case t.Script != nil:
		p.Containers = []corev1.Container{t.Script.Container}
	case t.ContainerSet != nil:
		for i := range t.ContainerSet.Containers {
			p.Containers = append(p.Containers, t.ContainerSet.Containers[i].Container)
		}
	default:
		return nil
	}
	if t.ContainerSet == nil {
		p.Containers[0].Name = common.MainContainerName
	}
	for i := range t.Sidecars {
		p.Containers = append(p.Containers, t.Sidecars[i].Container)
	}
	for i := range t.InitContainers {
		p.InitContainers = append(p.InitContainers, t.InitContainers[i].Container)
	}
	for _, v := range slices.Concat(w.wf.Spec.Volumes, t.Volumes) {
		if mounts(t, v.Name) {
			p.Volumes = append(p.Volumes, v)
		}
	}
	p.NodeSelector, p.Affinity, p.Tolerations = w.wf.Spec.NodeSelector, w.wf.Spec.Affinity, w.wf.Spec.Tolerations
	if len(t.NodeSelector) > 0 {
		p.NodeSelector = t.NodeSelector
	}
	if t.Affinity != nil {
		p.Affinity = t.Affinity
	}
	if len(t.Tolerations) > 0 {
		p.Tolerations = t.Tolerations
	}
	return &p
}

// placement is as much of a pod as decides where it fits.
func placement(p *corev1.PodSpec) *corev1.PodSpec {
	bare := func(all []corev1.Container) (kept []corev1.Container) {
		for _, c := range all {
			kept = append(kept, corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy})
		}
		return kept
	}
	kept := &corev1.PodSpec{
		Containers: bare(p.Containers), InitContainers: bare(p.InitContainers), Overhead: p.Overhead, Resources: p.Resources,
		NodeName: p.NodeName, NodeSelector: p.NodeSelector, Affinity: p.Affinity, Tolerations: p.Tolerations,
	}
	for _, v := range p.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			kept.Volumes = append(kept.Volumes, v)
		}
	}
	return kept
}

// patched fills values into a pod and applies the patches that Argo will; not ok where a value is not known yet.
func (s scope) patched(p *corev1.PodSpec, patches ...string) (*corev1.PodSpec, map[corev1.ResourceName]string, bool) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, nil, false
	}
	filled, ok := filledIn(string(text), s.values)
	parameters := map[corev1.ResourceName]string{}
	for _, patch := range patches {
		if patch == "" {
			continue
		}
		s.setIn(patch, parameters)
		var known bool
		patch, known = filledIn(patch, s.values)
		change, err := sigsyaml.YAMLToJSON([]byte(patch))
		if err != nil || !known {
			return nil, nil, false
		}
		merged, err := strategicpatch.StrategicMergePatch([]byte(filled), change, corev1.PodSpec{})
		if err != nil {
			return nil, nil, false
		}
		filled = string(merged)
	}
	pod := &corev1.PodSpec{}
	if !ok || json.Unmarshal([]byte(filled), pod) != nil {
		return nil, nil, false
	}
	return placement(pod), parameters, true
}

// setIn notes which of the pipeline's parameters a patch sets resources to.
func (s scope) setIn(patch string, into map[corev1.ResourceName]string) {
	var p struct {
		Containers []struct {
			Resources struct {
				Limits, Requests map[corev1.ResourceName]string
			}
		}
	}
	if sigsyaml.Unmarshal([]byte(patch), &p) != nil {
		return
	}
	for _, c := range p.Containers {
		for _, list := range []map[corev1.ResourceName]string{c.Resources.Requests, c.Resources.Limits} {
			for name, text := range list {
				if parameter := s.parameter(text); parameter != "" {
					into[name] = parameter
				}
			}
		}
	}
}
