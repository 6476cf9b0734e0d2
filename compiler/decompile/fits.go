package decompile

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// The forms of names that the DSL takes. What it would refuse, the decompiler refuses, so that each of its programs compiles.
var (
	objectName    = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)
	qualifiedName = regexp.MustCompile(`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)
	labelValue    = regexp.MustCompile(`^([a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)?$`)
	variableName  = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)
)

// fits records, at the step's template, what the DSL would refuse.
func (o *object) fits(n graph.Node) {
	if len(o.all.faults) > 0 { // what could not be read is empty
		return
	}
	if n.Container.Resource == nil {
		o.fitsContainer(n.Container)
	}
	for _, a := range n.Container.Artifacts {
		o.form(fileName, "artifact", graph.Text{{Text: a.Name}})
	}
	for _, g := range n.Container.Outputs {
		o.form(fileName, "output", graph.Text{{Text: g.Name}})
	}
	p := n.Pod
	if p == nil {
		return
	}
	o.form(objectName, "service account", p.ServiceAccount)
	o.form(objectName, "priority class", p.PriorityClass)
	o.form(objectName, "scheduler", p.Scheduler)
	for _, l := range slices.Concat(p.Labels, p.NodeSelector) {
		o.form(qualifiedName, "label", graph.Text{{Text: l.Name}})
		o.form(labelValue, "value of label "+l.Name, l.Value)
	}
	for _, a := range p.Annotations {
		o.form(qualifiedName, "annotation", graph.Text{{Text: a.Name}})
	}
	for _, t := range p.Tolerations {
		if t.Key != "" {
			o.form(qualifiedName, "toleration", graph.Text{{Text: t.Key}})
		}
	}
	o.fitsAffinity(p.Affinity)
	if r := p.Retry; r != nil {
		for _, t := range []graph.Text{r.Wait, r.MaxWait, r.MaxTime} {
			if d, ok := t.Constant(); ok && len(t) > 0 && !positive(d) {
				o.fault("the time %q of its retries cannot be expressed in the DSL: it must be more than nothing", d)
			}
		}
	}
	besides := slices.Concat(p.Sidecars, p.InitContainers)
	for i, s := range besides {
		taken := slices.ContainsFunc(besides[:i], func(other graph.Sidecar) bool { return other.Name == s.Name })
		if !stepName.MatchString(s.Name) || len(s.Name) > 50 || slices.Contains([]string{"main", "init", "wait"}, s.Name) || taken {
			o.fault("container %q cannot be called so in the DSL: lower-case letters, digits and -, not main, init or wait, and each once", s.Name)
		}
		o.fitsContainer(&s.Container)
	}
}

func positive(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d > 0
}

// form notes a text that is known and has not the form.
func (o *object) form(form *regexp.Regexp, what string, t graph.Text) {
	if text, ok := t.Constant(); ok && len(t) > 0 && !form.MatchString(text) {
		o.fault("%s %q cannot be expressed in the DSL, which takes names as Kubernetes has them", what, text)
	}
}

func (o *object) fitsContainer(c *graph.Container) {
	if image, ok := c.Image.Constant(); ok && image == "" {
		o.fault("a container without an image cannot be expressed in the DSL")
	}
	if len(c.Command) > 0 {
		if program, ok := c.Command[0].Constant(); ok && program == "" {
			o.fault("a command whose first word, the program, is empty cannot be expressed in the DSL")
		}
	}
	for _, e := range c.Env {
		o.form(variableName, "variable", graph.Text{{Text: e.Name}})
		for _, ref := range []*graph.KeyRef{e.Secret, e.ConfigMap} {
			if ref != nil {
				o.form(objectName, "secret or config map", graph.Text{{Text: ref.Name}})
			}
		}
	}
	for _, e := range c.EnvFrom {
		o.form(objectName, "secret or config map", graph.Text{{Text: e.Secret + e.ConfigMap}})
	}
	for i, m := range c.Mounts {
		if !strings.HasPrefix(m.Path, "/") || strings.Trim(m.Path, "/.") == "" || strings.ContainsAny(m.Path, ":{") {
			o.fault("a volume at %q cannot be expressed in the DSL: it must be an absolute path in the container", m.Path)
		}
		if slices.ContainsFunc(c.Mounts[:i], func(other graph.Mount) bool { return other.Path == m.Path }) {
			o.fault("two volumes at %s cannot be expressed in the DSL", m.Path)
		}
		for _, name := range []graph.Text{m.Volume.Claim, m.Volume.Secret, m.Volume.ConfigMap} {
			o.form(objectName, "volume", name)
		}
		if file, ok := m.Volume.HostPath.Constant(); ok && len(m.Volume.HostPath) > 0 && !strings.HasPrefix(file, "/") {
			o.fault("hostPath %q cannot be expressed in the DSL: it must be an absolute path of the node", file)
		}
		if m.Volume.Size != "" && !quantity.MatchString(m.Volume.Size) {
			o.fault("sizeLimit %q is not a quantity such as 10Gi", m.Volume.Size)
		}
	}
	for _, f := range c.Files {
		if f.Import == nil || len(f.Import.HTTP) == 0 {
			continue
		}
		if url, ok := f.Import.HTTP.Constant(); ok && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
			o.fault("%q is not the URL of a file: it must begin with http:// or https://", url)
		}
	}
}

func (o *object) fitsAffinity(a *graph.Affinity) {
	if a == nil {
		return
	}
	term := func(weight int, weighed bool, labels []graph.Requirement) {
		if weighed && (weight < 1 || weight > 100) {
			o.fault("the weight %d cannot be expressed in the DSL: it must be from 1 to 100", weight)
		}
		for _, r := range labels {
			o.form(qualifiedName, "label", graph.Text{{Text: r.Key}})
			wants := slices.Contains([]string{"In", "NotIn", "Gt", "Lt"}, r.Operator)
			if !wants && r.Operator != "Exists" && r.Operator != "DoesNotExist" || wants != (len(r.Values) > 0) {
				o.fault("%s %s with %d values is not a requirement on a label", r.Key, r.Operator, len(r.Values))
			}
		}
	}
	for i, terms := range [][]graph.NodeTerm{a.Nodes, a.PreferNodes} {
		for _, t := range terms {
			term(t.Weight, i == 1, t.Labels)
		}
	}
	for i, terms := range [][]graph.PodTerm{a.Pods, a.AvoidPods, a.PreferPods, a.ShunPods} {
		for _, t := range terms {
			term(t.Weight, i > 1, t.Labels)
			o.form(qualifiedName, "topology", graph.Text{{Text: t.Topology}})
		}
	}
}
