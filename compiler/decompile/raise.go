package decompile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// raiser makes a graph out of a workflow: what the compiler's lowering does, the other way round.
type raiser struct {
	reader
	g         graph.Pipeline
	templates map[string]*object
	uses      map[string]int // how many tasks run a template, or name it as where the workflow begins or ends
	spec      *object
	first     map[string]outputs // of the tasks with which the workflow begins
	volumes   map[string]*object
	claims    map[string]bool
	params    map[string]bool
	entry     string // the template with which the workflow begins
	exit      string // and that which it runs at its end
	fromSDK   bool   // of Kubeflow Pipelines

	groups map[string]int  // how many conditions and loops there are, for their names
	names  map[string]bool // of nodes, in the pipeline or the sub-pipeline that is raised
	subs   map[string]int  // the sub-pipelines of templates, in g.Subs
	sub    string          // the sub-pipeline that is raised; empty for the pipeline
	types  types

	pasted, literal places // of values in commands and variables

	around []string                    // the loops around what is raised
	kept   map[string]map[string]place // files that may be collected, by sub-pipelines and their names in keys
}

// The parts of a raiser.
type (
	tasks struct{ *raiser } // of steps and DAGs, in their order
	steps struct{ *raiser } // what a template runs
	pods  struct{ *raiser } // and where and how
)

func newRaiser() *raiser {
	return &raiser{
		templates: map[string]*object{}, uses: map[string]int{}, volumes: map[string]*object{}, claims: map[string]bool{}, params: map[string]bool{},
		groups: map[string]int{}, names: map[string]bool{}, subs: map[string]int{}, types: newTypes(),
		kept: map[string]map[string]place{},
	}
}

// The annotations that the compiler writes by itself, or that only say who compiled when.
var ownAnnotations = []string{
	"pipelines.kubeflow.org/pipeline_spec", "argosy.dev/sdk_version", "pipelines.kubeflow.org/kfp_sdk_version", "pipelines.kubeflow.org/pipeline_compilation_time",
}

// ownLabels are those of Kubeflow Pipelines' compiler.
var ownLabels = []string{"pipelines.kubeflow.org/kfp_sdk_version", "pipelines.kubeflow.org/pipeline-sdk-type"}

// ownNotes are what its compiler notes on a step about the component that it was made of.
var ownNotes = []string{componentAnnotation, "pipelines.kubeflow.org/component_ref", "pipelines.kubeflow.org/arguments.parameters"}

// about is what the annotation pipeline_spec says.
type about struct {
	Name, Description string
	Inputs            []struct {
		Name, Description string
		Type              any // a word, or for Kubeflow Pipelines a structure
		Minimum, Maximum  json.Number
	}
}

func (r *raiser) workflow(wf *object) {
	if k := wf.text("kind"); k != "Workflow" {
		wf.fault("it is of kind %q: it must be a Workflow", k)
		return
	}
	wf.get("apiVersion")
	spec := r.metadata(wf.object("metadata"))
	s := wf.object("spec")
	wf.get("status")
	wf.finish()
	if s == nil {
		wf.fault("it has no spec")
		return
	}
	for _, t := range s.list("templates") {
		r.templates[t.text("name")] = t
	}
	r.entry, r.exit = s.text("entrypoint"), s.text("onExit")
	r.fromSDK = r.fromSDK && s.text("serviceAccountName") == "pipeline-runner"
	r.countUses(r.entry, r.exit)
	r.spec = s
	for _, key := range []string{"nodeSelector", "tolerations", "affinity"} {
		s.get(key) // each step that has none of its own reads it
	}
	r.settings(s)
	for _, v := range s.list("volumes") {
		r.volumes[v.text("name")] = v
	}
	inputs := r.parameters(s.object("arguments"), spec)
	s.finish()

	r.g.Nodes = r.root(s, r.entry, inputs)
	if r.exit != "" {
		r.g.Exit = r.root(s, r.exit, inputs)
	}
}

// countUses counts how often each template is named.
func (r *raiser) countUses(entry, exit string) {
	before := len(r.faults)
	r.uses[entry]++
	r.uses[exit]++
	for _, t := range r.templates {
		for _, j := range (tasks{r}).jobs(t) {
			r.uses[j.text("template")]++
		}
	}
	r.faults = r.faults[:before] // whatever is wrong in what is run comes again
}

// root raises where the workflow begins, or what it does at its end.
func (r *raiser) root(at *object, name string, inputs map[string]graph.Text) []graph.Node {
	t := r.templates[name]
	if t == nil {
		at.fault("there is no template %q", name)
		return nil
	}
	s := &scope{inputs: map[string]graph.Text{}, tasks: map[string]outputs{}, files: map[string]file{}, at: t.node, path: t.path}
	r.first = s.tasks
	if in := t.object("inputs"); in != nil {
		for _, p := range in.list("parameters") {
			name := p.text("name")
			value, ok := inputs[name]
			if own := p.get("value"); !ok && own != nil {
				value, ok = graph.Text{{Text: own.Value}}, true
			}
			if !ok {
				p.fault("the workflow has no parameter %s that could be its value", name)
			}
			s.inputs[name] = value
			p.finish()
		}
		in.finish()
	}
	if isGroup(t) {
		return tasks{r}.nodes(t, s)
	}
	n, _ := steps{r}.step(name, t, s)
	return []graph.Node{n}
}

func (r *raiser) metadata(m *object) about {
	var spec about
	name := ""
	r.fromSDK = true
	if m != nil {
		name = strings.TrimSuffix(m.text("generateName"), "-")
		if n := m.text("name"); n != "" {
			name = n
		}
		m.get("namespace")
		m.get("creationTimestamp")
		for _, a := range m.pairs("annotations") {
			if a[0] == "pipelines.kubeflow.org/v2_pipeline" && a[1] == "true" {
				m.fault("it was compiled in the v2-compatible mode, which the server refuses: compile it with dsl.PipelineExecutionMode.V1_LEGACY")
			}
			if a[0] == ownAnnotations[0] && json.Unmarshal([]byte(a[1]), &spec) == nil && spec.Name != "" {
				name = spec.Name
			}
			r.fromSDK = r.fromSDK && a[0] != "argosy.dev/sdk_version"
			if !slices.Contains(ownAnnotations, a[0]) {
				r.g.Settings.Annotations = append(r.g.Settings.Annotations, graph.Pair{Name: a[0], Value: graph.Text{{Text: a[1]}}})
			}
		}
		for _, l := range m.pairs("labels") {
			if !slices.Contains(ownLabels, l[0]) {
				r.g.Settings.Labels = append(r.g.Settings.Labels, graph.Pair{Name: l[0], Value: graph.Text{{Text: l[1]}}})
			}
		}
		for _, l := range r.g.Settings.Labels {
			m.form(qualifiedName, "label", graph.Text{{Text: l.Name}})
			m.form(labelValue, "value of label "+l.Name, l.Value)
		}
		for _, a := range r.g.Settings.Annotations {
			m.form(qualifiedName, "annotation", graph.Text{{Text: a.Name}})
		}
		m.finish()
	}
	sortPairs(r.g.Settings.Annotations)
	sortPairs(r.g.Settings.Labels)
	if strings.TrimSpace(name) == "" {
		name = "pipeline"
	}
	r.g.Name, r.g.Description = name, spec.Description
	return spec
}

func sortPairs(pairs []graph.Pair) {
	slices.SortFunc(pairs, func(a, b graph.Pair) int { return strings.Compare(a.Name, b.Name) })
}

// settings reads what concerns the workflow as a whole.
func (r *raiser) settings(s *object) {
	to := &r.g.Settings
	if a := s.text("serviceAccountName"); a != "" && a != "pipeline-runner" {
		to.ServiceAccount = a
		s.form(objectName, "service account", graph.Text{{Text: a}})
	}
	if n := s.number("parallelism"); n > 0 {
		to.Parallelism = int(n)
	}
	if n := s.number("activeDeadlineSeconds"); n > 0 {
		to.Timeout = (time.Duration(n) * time.Second).String()
	}
	if ttl := s.object("ttlStrategy"); ttl != nil {
		to.TTL = &graph.TTL{}
		if n := ttl.number("secondsAfterSuccess"); n > 0 {
			to.TTL.Success = (time.Duration(n) * time.Second).String()
		}
		if n := ttl.number("secondsAfterFailure"); n > 0 {
			to.TTL.Failure = (time.Duration(n) * time.Second).String()
		}
		if n := ttl.number("secondsAfterCompletion"); n > 0 {
			whole := (time.Duration(n) * time.Second).String()
			if to.TTL.Success == "" {
				to.TTL.Success = whole
			}
			if to.TTL.Failure == "" {
				to.TTL.Failure = whole
			}
		}
		ttl.finish()
	}
	if n := s.number("ttlSecondsAfterFinished"); n > 0 && to.TTL == nil { // as Argo called it before 3.0
		whole := (time.Duration(n) * time.Second).String()
		to.TTL = &graph.TTL{Success: whole, Failure: whole}
	}
	for _, secret := range s.list("imagePullSecrets") {
		name := secret.text("name")
		if to.ImagePullSecrets = append(to.ImagePullSecrets, name); name == "" || strings.TrimSpace(name) != name {
			secret.fault("%q is not a name of a secret", name)
		}
		secret.finish()
	}
	for _, c := range s.list("volumeClaimTemplates") {
		r.claim(c)
	}
}

func (r *raiser) claim(c *object) {
	metadata, s := c.object("metadata"), c.object("spec")
	if metadata == nil || s == nil {
		c.fault("it has no metadata or no spec")
		return
	}
	out := graph.Claim{Name: metadata.text("name"), StorageClass: s.text("storageClassName")}
	metadata.get("creationTimestamp")
	switch modes := s.texts("accessModes"); {
	case len(modes) == 1 && (modes[0] == "ReadWriteOnce" || modes[0] == "ReadWriteMany"):
		out.Mode = modes[0]
	default:
		s.fault("access modes %v cannot be expressed in the DSL, which has ReadWriteOnce and ReadWriteMany", modes)
	}
	if res := s.object("resources"); res != nil {
		if requests := res.object("requests"); requests != nil {
			out.Size = requests.text("storage")
			requests.finish()
		}
		res.finish()
	}
	metadata.finish()
	s.finish()
	c.get("status")
	c.finish()
	if !stepName.MatchString(out.Name) {
		c.fault("its name %q cannot be that of a claim in the DSL: lower-case letters, digits and -", out.Name)
	}
	if out.StorageClass != "" {
		s.form(objectName, "storage class", graph.Text{{Text: out.StorageClass}})
	}
	if !quantity.MatchString(out.Size) {
		c.fault("its size is %q: it must be a quantity such as 10Gi", out.Size)
	}
	r.claims[out.Name] = true
	r.g.Settings.Claims = append(r.g.Settings.Claims, out)
}

var paramName = regexp.MustCompile(`^[a-zA-Z][-_a-zA-Z0-9]*$`)

// parameters declares the workflow's parameters and returns their values for where it begins.
func (r *raiser) parameters(arguments *object, spec about) map[string]graph.Text {
	inputs := map[string]graph.Text{}
	if arguments == nil {
		return inputs
	}
	for _, p := range arguments.list("parameters") {
		g := graph.Param{Name: p.text("name"), Type: graph.String, Description: p.text("description")}
		for _, in := range spec.Inputs {
			if in.Name != g.Name {
				continue
			}
			if word, ok := in.Type.(string); ok {
				g.Type = typeNamed(word)
			}
			if g.Description == "" {
				g.Description = in.Description
			}
			g.Min, g.Max = in.Minimum.String(), in.Maximum.String()
		}
		if g.Default = p.text("value"); !p.given("value") {
			g.Required = true
		}
		g.Choices = p.texts("enum")
		for _, text := range append(slices.Clone(g.Choices), g.Default) {
			if !fits(g.Type, text) && (!g.Required || text != "") {
				g.Type, g.Min, g.Max = graph.String, "", ""
			}
		}
		if !paramName.MatchString(g.Name) {
			p.fault("the name %q cannot be that of a parameter in the DSL: it must begin with a letter and hold only letters, digits, - and _", g.Name)
		}
		p.finish()
		r.params[g.Name] = true
		r.g.Params = append(r.g.Params, g)
		inputs[g.Name] = graph.Text{{Ref: &graph.Ref{Param: g.Name}}}
	}
	arguments.finish()
	return inputs
}

// typeNamed is the type that a word of Kubeflow Pipelines stands for.
func typeNamed(word string) graph.Type {
	switch word {
	case "Integer", "Float", "Bool", "JsonArray", "JsonObject":
		return graph.Type(word)
	case "List":
		return graph.List
	case "Dict":
		return graph.Object
	}
	return graph.String
}

// fits reports whether text is how a value of the type is written: 0.10 does not fit Float, which writes 0.1.
func fits(t graph.Type, text string) bool {
	var v any
	switch t {
	case graph.Integer:
		n, err := strconv.Atoi(text)
		return err == nil && strconv.Itoa(n) == text
	case graph.Float:
		f, err := strconv.ParseFloat(text, 64)
		out, wrong := json.Marshal(f)
		return err == nil && wrong == nil && string(out) == text
	case graph.Bool:
		return text == "true" || text == "false"
	case graph.List:
		return json.Unmarshal([]byte(text), &v) == nil && strings.HasPrefix(text, "[") && compact(text) == text
	case graph.Object:
		return json.Unmarshal([]byte(text), &v) == nil && strings.HasPrefix(text, "{") && compact(text) == text
	}
	return true
}

// group names a condition or a loop, as the DSL will.
func (r *raiser) group(prefix string) string {
	r.groups[prefix]++
	return fmt.Sprintf("%s-%d", prefix, r.groups[prefix])
}

var (
	stepName  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	groupName = regexp.MustCompile(`^(condition|for-loop|branch)-[0-9]+$`)
)

// name makes a name of the DSL for what is called so in the workflow, which is not taken yet.
func (r *raiser) name(called string) string {
	name := called
	const most = 50
	if !stepName.MatchString(name) || len(name) > most || groupName.MatchString(name) {
		name = strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }), "-")
		if name == "" || name[0] < 'a' || groupName.MatchString(name) {
			name = strings.TrimSuffix("step-"+name, "-")
		}
		name = strings.TrimRight(name[:min(len(name), most)], "-")
	}
	return r.free(name)
}

// free returns the name, or name-2, name-3 and so on where it is taken, and takes it.
func (r *raiser) free(name string) string {
	candidate := name
	for i := 2; r.names[candidate]; i++ {
		suffix := fmt.Sprintf("-%d", i)
		candidate = strings.TrimRight(name[:min(len(name), 50-len(suffix))], "-") + suffix
	}
	r.names[candidate] = true
	return candidate
}
