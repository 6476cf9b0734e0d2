package source

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// podOptions are what a step asks of the cluster.
func (w steps) podOptions(n graph.Node) []string {
	p := n.Pod
	if p == nil {
		return nil
	}
	var options []string
	add := func(format string, args ...any) { options = append(options, fmt.Sprintf(format, args...)) }
	mapping := func(option string, pairs []graph.Pair) {
		if len(pairs) > 0 {
			add("dsl.%s(%s)", option, w.pairs(pairs))
		}
	}
	mapping("Labels", p.Labels)
	mapping("Annotations", p.Annotations)
	mapping("NodeSelector", p.NodeSelector)
	if len(p.Tolerations) > 0 {
		parts := make([]string, len(p.Tolerations))
		for i, t := range p.Tolerations {
			parts[i] = "dsl.Toleration{" + w.toleration(t) + "}"
		}
		add("dsl.Tolerate(%s)", lines(parts))
	}
	if p.Affinity != nil {
		add("dsl.Near(dsl.Affinity{%s})", w.affinity(p.Affinity))
	}
	for _, o := range []struct {
		option string
		text   graph.Text
	}{{"ServiceAccount", p.ServiceAccount}, {"Priority", p.PriorityClass}, {"Scheduler", p.Scheduler}} {
		if len(o.text) > 0 {
			add("dsl.%s(%s)", o.option, w.value(o.text))
		}
	}
	if len(p.Timeout) > 0 {
		add("dsl.Timeout(%s)", w.as(p.Timeout, "time.Duration"))
	}
	if p.Retry != nil {
		add("dsl.Retries(dsl.Retry{%s})", w.retry(p.Retry))
	}
	options = append(options, w.cache(p.Cache)...)
	for _, s := range p.InitContainers {
		add("dsl.InitContainer(%s)", w.beside(s))
	}
	for _, s := range p.Sidecars {
		add("dsl.Sidecar(%s)", w.beside(s))
	}
	if len(p.Patch) > 0 {
		add("dsl.PodSpecPatch(%s)", w.value(p.Patch))
	}
	return options
}

func (w steps) beside(s graph.Sidecar) string {
	parts := append([]string{fmt.Sprintf("%q, %s", s.Name, w.container(&s.Container, nil, nil))}, w.containerOptions(&s.Container)...)
	if s.OwnMounts {
		parts = append(parts, "dsl.OwnMounts()")
	}
	return strings.Join(parts, ", ")
}

func (w steps) cache(c *graph.Cache) []string {
	if c == nil {
		return nil
	}
	if c.Off {
		return []string{"dsl.NoCache()"}
	}
	var options []string
	if len(c.Key) > 0 {
		options = append(options, "dsl.CacheKey("+w.value(c.Key)+")")
	}
	if c.MaxAge != "" {
		options = append(options, "dsl.CacheFor("+duration(c.MaxAge)+")")
	}
	return options
}

func (w steps) toleration(t graph.Toleration) string {
	var fields []string
	if t.Key != "" {
		fields = append(fields, fmt.Sprintf("Key: %q", t.Key))
	}
	if t.Operator == "Equal" {
		fields = append(fields, "Value: "+w.value(t.Value))
	}
	if t.Effect != "" {
		fields = append(fields, fmt.Sprintf("Effect: %q", t.Effect))
	}
	if t.Seconds != nil {
		fields = append(fields, "For: "+duration((time.Duration(*t.Seconds)*time.Second).String()))
	}
	return strings.Join(fields, ", ")
}

func (w steps) affinity(a *graph.Affinity) string {
	var fields []string
	nodes := func(name string, terms []graph.NodeTerm) {
		parts := make([]string, len(terms))
		for i, t := range terms {
			parts[i] = "{" + weight(t.Weight) + w.labels(t.Labels) + "}"
		}
		if len(parts) > 0 {
			fields = append(fields, fmt.Sprintf("%s: []dsl.NodeTerm{%s}", name, lines(parts)))
		}
	}
	pods := func(name string, terms []graph.PodTerm) {
		parts := make([]string, len(terms))
		for i, t := range terms {
			parts[i] = fmt.Sprintf("{%s%s, Topology: %q}", weight(t.Weight), w.labels(t.Labels), t.Topology)
		}
		if len(parts) > 0 {
			fields = append(fields, fmt.Sprintf("%s: []dsl.PodTerm{%s}", name, lines(parts)))
		}
	}
	nodes("Nodes", a.Nodes)
	nodes("PreferNodes", a.PreferNodes)
	pods("Pods", a.Pods)
	pods("PreferPods", a.PreferPods)
	pods("AvoidPods", a.AvoidPods)
	pods("ShunPods", a.ShunPods)
	return lines(fields)
}

func weight(n int) string {
	if n == 0 {
		return ""
	}
	return "Weight: " + strconv.Itoa(n) + ", "
}

func (w steps) labels(rs []graph.Requirement) string {
	parts := make([]string, len(rs))
	for i, r := range rs {
		parts[i] = fmt.Sprintf("{Key: %q, Operator: %q", r.Key, r.Operator)
		if len(r.Values) > 0 {
			values := make([]string, len(r.Values))
			for j, v := range r.Values {
				values[j] = w.word(v)
			}
			parts[i] += ", Values: dsl.Args(" + strings.Join(values, ", ") + ")"
		}
		parts[i] += "}"
	}
	return "Labels: []dsl.Requirement{" + lines(parts) + "}"
}

func (w steps) retry(r *graph.Retry) string {
	fields := []string{"Limit: " + w.as(r.Limit, "int")}
	if r.Policy != "" {
		fields = append(fields, fmt.Sprintf("Policy: %q", r.Policy))
		if name, ok := map[string]string{"OnFailure": "RetryOnFailure", "OnError": "RetryOnError", "OnTransientError": "RetryOnTransientError", "Always": "RetryAlways"}[r.Policy]; ok {
			fields[1] = "Policy: dsl." + name
		}
	}
	if r.When != "" {
		fields = append(fields, "When: "+literal(r.When))
	}
	if len(r.Wait) > 0 {
		parts := []string{"Wait: " + w.as(r.Wait, "time.Duration")}
		if r.Factor != 2 {
			parts = append(parts, "Factor: "+strconv.Itoa(r.Factor))
		}
		if len(r.MaxWait) > 0 {
			parts = append(parts, "MaxWait: "+w.as(r.MaxWait, "time.Duration"))
		}
		if len(r.MaxTime) > 0 {
			parts = append(parts, "MaxTime: "+w.as(r.MaxTime, "time.Duration"))
		}
		fields = append(fields, "Backoff: dsl.Backoff{"+strings.Join(parts, ", ")+"}")
	}
	return lines(fields)
}
