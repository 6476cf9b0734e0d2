package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// Options are the launcher's flags as they were written, by name. They are all text, because they come out of a workflow's
// parameters: an empty one is not set.
type Options option.Given

// Spec checks the options and reports all that is wrong with them at once.
func (o Options) Spec(kind *Kind, command string) (*Spec, error) {
	given := option.Given(o)
	values, faults := given.Read(kind.Command, kind.Title)
	p := &parser{given, faults}
	s := &Spec{Kind: kind, Step: given.Text("name"), Values: values, Shm: p.quantity("shm", given.Text("shm"))}
	s.Env, s.Data, s.Tolerations, s.Metrics = p.env(), p.data(), p.tolerations(), p.metrics()
	s.settleNetwork(len(given.Texts("network")) > 0)
	r := newRoles(p, s, command)
	kind.roles(r)
	s.Roles = r.all
	r.refuseOthers()
	p.topology(s)
	if err := option.AllowRestarts(s.RestartPolicy, given.Text("retries")); err != nil {
		p.faults = append(p.faults, option.Fault("restart-policy", err))
	}
	s.Code = p.code(s.Env)
	if err := errors.Join(p.faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// parser makes objects of Kubernetes out of options, and collects what is wrong. It passes over texts that are not of their form:
// those are among the faults already.
type parser struct {
	given  option.Given
	faults []error
}

func (p *parser) fault(flag, format string, args ...any) {
	p.faults = append(p.faults, option.Fault(flag, fmt.Errorf(format, args...)))
}

// quantity reads a Kubernetes quantity; "" and "0" mean no limit.
func (p *parser) quantity(flag, text string) resource.Quantity {
	if text = strings.TrimSpace(text); text == "" {
		return resource.Quantity{}
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		if _, formed := option.Quantity.Read(text); formed == nil {
			p.fault(flag, "%q: %w", text, err)
		}
		return resource.Quantity{}
	}
	return q
}

// env reads variables with a value and those whose value is an entry of a secret. Of the same name the last one counts.
func (p *parser) env() []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, flag := range []string{"env", "env-secret"} {
		for _, text := range p.given.Texts(flag) {
			name, value, err := option.ByFlag(flag).Form.ReadPair(text)
			if err != nil {
				continue
			}
			e := corev1.EnvVar{Name: name, Value: value}
			if flag == "env-secret" {
				secret, key, _ := strings.Cut(value, "/")
				e = corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}}}
			}
			env = append(slices.DeleteFunc(env, func(other corev1.EnvVar) bool { return other.Name == name }), e)
		}
	}
	return env
}

func (p *parser) data() []option.Volume {
	var volumes []option.Volume
	for _, text := range p.given.Texts("data") {
		v, err := option.ReadVolume(strings.TrimSpace(text))
		switch {
		case err != nil:
		case slices.ContainsFunc(volumes, func(other option.Volume) bool { return other.Path == v.Path }):
			p.fault("data", "two volumes are to be mounted on %s", v.Path)
		default:
			volumes = append(volumes, v)
		}
	}
	return volumes
}

func (p *parser) tolerations() []corev1.Toleration {
	var all []corev1.Toleration
	for _, text := range p.given.Texts("toleration") {
		if t, err := option.ReadToleration(strings.TrimSpace(text)); err == nil {
			all = append(all, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
		}
	}
	return all
}

func (p *parser) metrics() []scrape.Rule {
	var rules []scrape.Rule
	for _, text := range p.given.Texts("metric") {
		rule, err := scrape.ParseRule(text)
		if err != nil {
			p.fault("metric", "%w", err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

// topology checks that groups like "ps,worker;ps,evaluator" name roles of the job.
func (p *parser) topology(s *Spec) {
	for _, of := range []struct {
		flag   string
		groups *string
	}{{"affinity", &s.Topology.Affinity}, {"anti-affinity", &s.Topology.AntiAffinity}, {"task-order", &s.Topology.Order}} {
		*of.groups = strings.ReplaceAll(*of.groups, " ", "")
		for _, role := range strings.FieldsFunc(*of.groups, func(r rune) bool { return r == ',' || r == ';' }) {
			if s.role(role) == nil && len(s.Roles) > 0 {
				p.fault(of.flag, "%q: the job has no role %s: it has %s", *of.groups, role, s.roleNames())
			}
		}
	}
}

// code reads what to fetch. GIT_SYNC_BRANCH and GIT_SYNC_REV in the environment mean the same as the flags, as they do for Arena.
func (p *parser) code(env []corev1.EnvVar) *Code {
	c := &Code{Mode: p.given.Text("sync-mode"), Source: p.given.Text("sync-source"), Image: p.given.Text("sync-image"), Branch: p.given.Text("git-branch"), Revision: p.given.Text("git-revision")}
	if c.Source == "" {
		return nil
	}
	if c.Mode == "rsync" {
		if strings.HasPrefix(c.Source, "-") {
			p.fault("sync-source", "%q is not a place to copy from", c.Source)
		}
		return c
	}
	for _, e := range env {
		switch {
		case e.Name == "GIT_SYNC_BRANCH" && c.Branch == "":
			c.Branch = e.Value
		case e.Name == "GIT_SYNC_REV" && c.Revision == "":
			c.Revision = e.Value
		}
	}
	return c
}

// The networks of pods.
const (
	NetworkCNI  = "CNI"  // the cluster's pod network
	NetworkHost = "Host" // the node's own
	NetworkENI  = "ENI"  // a network interface of the cloud (Alibaba's Terway)
)

// annotationENI asks Alibaba Cloud's network for an interface of each pod's own.
const annotationENI = "k8s.aliyun.com/eni"

// settleNetwork chooses one network. The annotation goes before the host network, as with Arena: a pod cannot have both.
func (s *Spec) settleNetwork(chosen bool) {
	switch {
	case s.Network == NetworkENI, s.Annotations[annotationENI] == "true":
		s.Network = NetworkENI
		s.Annotations[annotationENI] = "true"
	case s.GPUTopology && !chosen:
		s.Network = NetworkHost
	}
}

func or(v, unset string) string {
	if v == "" {
		return unset
	}
	return v
}

func ptrTrue(b *bool) bool { return b != nil && *b }
