package dsl

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Option configures a whole pipeline, in New.
type Option interface{ ofPipeline(*Pipeline) }

// StepOption configures a step of any kind. Pipeline.Defaults applies one to many steps.
type StepOption interface{ ofStep(*Step) }

// Both configures a pipeline or a step.
type Both interface {
	Option
	StepOption
}

type pipelineOption func(*Pipeline)

func (o pipelineOption) ofPipeline(p *Pipeline) { o(p) }

type stepOption func(*Step)

func (o stepOption) ofStep(s *Step) { o(s) }

// podOption is a step's option that is about its pod, and so not for sidecars.
func podOption(name string, set func(*Step, *graph.Pod)) stepOption {
	return func(s *Step) {
		if s.beside != "" {
			s.Fault("%s is of the whole step: it cannot be set for container %s alone", name, s.beside)
			return
		}
		if s.node.Pod == nil {
			s.node.Pod = &graph.Pod{}
		}
		set(s, s.node.Pod)
	}
}

type bothOption struct {
	pipelineOption
	stepOption
}

// Defaults sets options of all steps recorded after this call. A step's own options take precedence.
func (p *Pipeline) Defaults(opts ...StepOption) {
	if p != nil {
		p.defaults = append(slices.Clone(p.defaults), opts...)
	}
}

// With adds options to the defaults of the steps that it records.
func (p *Pipeline) With(steps func(), opts ...StepOption) {
	if p == nil {
		return
	}
	outer := p.defaults
	p.Defaults(opts...)
	defer func() { p.defaults = outer }()
	if steps != nil {
		steps()
	}
}

// Set sets options of the whole pipeline, as New does.
func (p *Pipeline) Set(opts ...Option) {
	if p == nil {
		return
	}
	for _, opt := range opts {
		if opt != nil {
			opt.ofPipeline(p)
		}
	}
}

// Description describes the pipeline in a line or two.
func Description(s string) Option {
	return pipelineOption(func(p *Pipeline) { p.description = s })
}

// Parallelism limits how many pods of a run exist at a time.
func Parallelism(pods int) Option {
	return pipelineOption(func(p *Pipeline) {
		if pods < 1 {
			p.fault(caller(), "", "Parallelism is %d: it must be at least 1", pods)
		}
		p.settings.Parallelism = pods
	})
}

// TTL removes ended runs from the cluster after a time; failed runs may have a longer one. Zero keeps them.
func TTL(success, failure time.Duration) Option {
	return pipelineOption(func(p *Pipeline) {
		if success < 0 || failure < 0 {
			p.fault(caller(), "", "TTL: a time is negative")
		}
		ttl := &graph.TTL{}
		if success > 0 {
			ttl.Success = success.String()
		}
		if failure > 0 {
			ttl.Failure = failure.String()
		}
		p.settings.TTL = ttl
	})
}

// ImagePullSecrets names the secrets with which the kubelet pulls the steps' images.
func ImagePullSecrets(names ...string) Option {
	return pipelineOption(func(p *Pipeline) {
		for _, name := range names {
			if strings.TrimSpace(name) != name || name == "" { // Kubernetes takes all others, and then finds no such secret
				p.fault(caller(), "", "ImagePullSecrets: %q is not a name", name)
			}
		}
		p.settings.ImagePullSecrets = names
	})
}

// PasteValues lets Kubernetes expand $(NAME) and $$ in values too, when they are part of commands, arguments and variables, as packages of
// Kubeflow Pipelines' SDKs do. Without it values arrive unchanged.
func PasteValues() Option {
	return pipelineOption(func(p *Pipeline) { p.settings.Pasted = true })
}

// Timeout ends a step that has not ended after this time, or in New a whole run. Each retry has the full time.
func Timeout(d Value[time.Duration]) Both {
	check := func(fault func(string, ...any)) {
		if known, ok := Known(d); ok {
			if t, err := time.ParseDuration(known); err != nil || t < time.Second {
				fault("Timeout is %s: it must be at least a second", known)
			}
		}
	}
	return bothOption{
		func(p *Pipeline) {
			p.settings.Timeout = p.constant("Timeout", d)
			check(func(format string, args ...any) { p.fault(caller(), "", format, args...) })
		},
		podOption("Timeout", func(s *Step, pod *graph.Pod) {
			check(s.Fault)
			pod.Timeout = s.text("Timeout", d)
		}),
	}
}

// ServiceAccount sets the service account of the step, or in New of every step. Default: pipeline-runner.
func ServiceAccount(name Value[string]) Both {
	return bothOption{
		func(p *Pipeline) {
			p.settings.ServiceAccount = p.constant("ServiceAccount", name)
			if s := p.settings.ServiceAccount; s != "" && !objectName.MatchString(s) {
				p.fault(caller(), "", "ServiceAccount: %s", badName(s))
			}
		},
		podOption("ServiceAccount", func(s *Step, pod *graph.Pod) { pod.ServiceAccount = s.object("ServiceAccount", name) }),
	}
}

// Labels puts labels on the step's pods, or with New on the run's workflow.
func Labels(labels map[string]Value[string]) Both {
	return bothOption{
		func(p *Pipeline) {
			for _, key := range slices.Sorted(maps.Keys(labels)) {
				v := p.constant("Labels "+key, labels[key])
				checkLabel("Labels", key, labels[key], func(format string, args ...any) { p.fault(caller(), "", format, args...) })
				p.settings.Labels = put(p.settings.Labels, key, graph.Text{{Text: v}})
			}
		},
		podOption("Labels", func(s *Step, pod *graph.Pod) {
			for _, key := range slices.Sorted(maps.Keys(labels)) {
				checkLabel("Labels", key, labels[key], s.Fault)
				pod.Labels = put(pod.Labels, key, s.text("Labels "+key, labels[key]))
			}
		}),
	}
}

// Annotations puts annotations on the step's pods, or with New on the run's workflow.
func Annotations(annotations map[string]Value[string]) Both {
	return bothOption{
		func(p *Pipeline) {
			for _, key := range slices.Sorted(maps.Keys(annotations)) {
				v := p.constant("Annotations "+key, annotations[key])
				checkKey("Annotations", key, func(format string, args ...any) { p.fault(caller(), "", format, args...) })
				p.settings.Annotations = put(p.settings.Annotations, key, graph.Text{{Text: v}})
			}
		},
		podOption("Annotations", func(s *Step, pod *graph.Pod) {
			for _, key := range slices.Sorted(maps.Keys(annotations)) {
				checkKey("Annotations", key, s.Fault)
				pod.Annotations = put(pod.Annotations, key, s.text("Annotations "+key, annotations[key]))
			}
		}),
	}
}

// put adds a pair, or replaces the one of the same name, and keeps the list sorted.
func put(pairs []graph.Pair, name string, v graph.Text) []graph.Pair {
	i, found := slices.BinarySearchFunc(pairs, name, func(p graph.Pair, name string) int { return strings.Compare(p.Name, name) })
	if found {
		pairs[i].Value = v
		return pairs
	}
	return slices.Insert(pairs, i, graph.Pair{Name: name, Value: v})
}

// constant returns the text of a value that must be known now.
func (p *Pipeline) constant(what string, v AnyValue) string {
	t := v.recorded()
	for _, f := range t.faults {
		p.fault(f.At, "", "%s: %s", what, f.Message)
	}
	switch {
	case !v.IsSet():
		p.fault(caller(), "", "%s is not set", what)
		return ""
	case len(t.refs()) > 0:
		p.fault(caller(), "", "%s of a whole pipeline must be known now: use dsl.Lit", what)
		return ""
	}
	s, _ := Known(v)
	if err := checkText(s); err != nil {
		p.fault(caller(), "", "%s %v", what, err)
	}
	return s
}

// text returns a value that an option must have.
func (s *Step) text(what string, v AnyValue) graph.Text {
	if !v.IsSet() {
		s.Fault("%s is not set", what)
	}
	return s.pipeline.use(s.node, what, v)
}

// object returns the name of an object of Kubernetes.
func (s *Step) object(what string, v Value[string]) graph.Text {
	if known, ok := Known(v); ok && !objectName.MatchString(known) && len(v.recorded().refs()) == 0 {
		s.Fault("%s: %s", what, badName(known))
	}
	return s.text(what, v)
}
