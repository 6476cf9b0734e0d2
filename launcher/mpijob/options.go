package mpijob

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Options are the launcher's flags as they were written. They are all text,
// because they come out of a workflow's parameters: an empty one is not set.
type Options struct {
	Name, Image, WorkingDir        string
	Workers, Slots, GPUs           string
	CPU, Memory, Shm               string
	Env, Data, Annotations, Labels []string
	SyncMode, SyncSource           string
	GitBranch, GitRevision         string
	Metrics                        []string
	PendingTimeout, RunningTimeout string
	CleanPodPolicy, Retries        string
}

// Spec checks the options and reports all that is wrong with them at once.
func (o *Options) Spec(command string) (*Spec, error) {
	p := parser{}
	s := &Spec{
		Step:       p.required("name", o.Name),
		Image:      p.required("image", o.Image),
		Command:    p.required("COMMAND", command),
		WorkingDir: p.dir("working-dir", o.WorkingDir, "/root"),
		Workers:    p.integer("workers", o.Workers, 1, 1),
		GPUs:       p.integer("gpus", o.GPUs, 0, 0),
		CPU:        p.quantity("cpu", o.CPU),
		Memory:     p.quantity("memory", o.Memory),
		Shm:        p.quantity("shm", o.Shm),
		Env:        p.env(o.Env),
		Data:       p.data(o.Data),

		Annotations: p.pairs("annotation", o.Annotations, nil),
		Labels:      p.pairs("label", o.Labels, validation.IsValidLabelValue),
		Metrics:     p.metrics(o.Metrics),
		Retries:     p.integer("retries", o.Retries, 0, 0),

		CleanPodPolicy: p.policy(o.CleanPodPolicy),
		PendingTimeout: p.duration("pending-timeout", o.PendingTimeout),
		RunningTimeout: p.duration("running-timeout", o.RunningTimeout),
	}
	s.Slots = p.integer("slots", o.Slots, max(s.GPUs, 1), 1)
	s.Git = p.git(o, s.Env)
	if err := errors.Join(p.faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// parser collects what is wrong.
type parser struct{ faults []error }

func (p *parser) fault(flag, format string, args ...any) {
	if flag != "COMMAND" {
		flag = "--" + flag
	}
	p.faults = append(p.faults, fmt.Errorf("%s: %w", flag, fmt.Errorf(format, args...)))
}

func (p *parser) required(flag, v string) string {
	if strings.TrimSpace(v) == "" {
		p.fault(flag, "must be set")
	}
	return v
}

func (p *parser) integer(flag, v string, unset, least int) int {
	v = strings.TrimSpace(v)
	if v == "" {
		return unset
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		p.fault(flag, "%q is not a whole number", v)
		return unset
	}
	if int(n) < least {
		if n == 0 {
			return unset // "0 slots" means: whatever is usual
		}
		p.fault(flag, "must be at least %d, not %d", least, n)
		return unset
	}
	return int(n)
}

// quantity reads a Kubernetes quantity; "" and "0" mean that there is no limit.
func (p *parser) quantity(flag, v string) resource.Quantity {
	v = strings.TrimSpace(v)
	if v == "" {
		return resource.Quantity{}
	}
	q, err := resource.ParseQuantity(v)
	if err != nil {
		p.fault(flag, "%q is not a quantity: write it as 500m, 2, 512Mi or 10Gi", v)
		return resource.Quantity{}
	}
	if q.Sign() < 0 {
		p.fault(flag, "must not be negative, and is %s", v)
	}
	return q
}

func (p *parser) duration(flag, v string) time.Duration {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		p.fault(flag, "%q is not a duration: write it as 90s, 30m or 12h", v)
	} else if d < 0 {
		p.fault(flag, "must not be negative, and is %s", v)
	}
	return d
}

func (p *parser) dir(flag, v, unset string) string {
	v = strings.TrimSpace(v)
	if v == "" {
		return unset
	}
	if !path.IsAbs(v) {
		p.fault(flag, "%q is not an absolute path", v)
	}
	return path.Clean(v)
}

func (p *parser) env(items []string) []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, item := range items {
		if item == "" {
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			p.fault("env", "%q has no value: write NAME=VALUE", item)
			continue
		}
		if why := validation.IsEnvVarName(name); len(why) > 0 {
			p.fault("env", "%q is not the name of a variable: %s", name, strings.Join(why, "; "))
			continue
		}
		env = slices.DeleteFunc(env, func(e corev1.EnvVar) bool { return e.Name == name }) // the last one wins
		env = append(env, corev1.EnvVar{Name: name, Value: value})
	}
	return env
}

func (p *parser) data(items []string) []Claim {
	var claims []Claim
	for _, item := range items {
		item = strings.TrimSpace(item)
		if item == "" {
			continue // "leave data empty" is how a pipeline goes without a volume
		}
		name, dir, ok := strings.Cut(item, ":")
		if !ok || !path.IsAbs(dir) {
			p.fault("data", "%q: write CLAIM:/PATH, the name of a persistent volume claim and where to mount it; leave it empty for none", item)
			continue
		}
		if why := validation.IsDNS1123Subdomain(name); len(why) > 0 {
			p.fault("data", "%q is not the name of a volume claim: %s", name, strings.Join(why, "; "))
			continue
		}
		if slices.ContainsFunc(claims, func(c Claim) bool { return c.Path == path.Clean(dir) }) {
			p.fault("data", "two claims are to be mounted on %s", path.Clean(dir))
			continue
		}
		claims = append(claims, Claim{Name: name, Path: path.Clean(dir)})
	}
	return claims
}

func (p *parser) pairs(flag string, items []string, check func(string) []string) map[string]string {
	m := map[string]string{}
	for _, item := range items {
		if item == "" {
			continue
		}
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			p.fault(flag, "%q has no value: write KEY=VALUE", item)
			continue
		}
		if why := validation.IsQualifiedName(key); len(why) > 0 {
			p.fault(flag, "%q is not a key: %s", key, strings.Join(why, "; "))
			continue
		}
		if check != nil {
			if why := check(value); len(why) > 0 {
				p.fault(flag, "%q is not a value for %s: %s", value, key, strings.Join(why, "; "))
				continue
			}
		}
		m[key] = value
	}
	return m
}

func (p *parser) metrics(items []string) []scrape.Rule {
	var rules []scrape.Rule
	for _, item := range items {
		if strings.TrimSpace(item) == "" {
			continue
		}
		rule, err := scrape.ParseRule(item)
		if err != nil {
			p.fault("metric", "%w", err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

func (p *parser) policy(v string) kubeflow.CleanPodPolicy {
	switch policy := kubeflow.CleanPodPolicy(strings.TrimSpace(v)); policy {
	case "":
		return kubeflow.CleanPodPolicyRunning
	case kubeflow.CleanPodPolicyAll, kubeflow.CleanPodPolicyRunning, kubeflow.CleanPodPolicyNone:
		return policy
	default:
		p.fault("clean-pod-policy", "%q is none of Running, All and None", v)
		return ""
	}
}

// git reads what to fetch. GIT_SYNC_BRANCH and GIT_SYNC_REV in the environment
// mean the same as the flags, as they do for Arena.
func (p *parser) git(o *Options, env []corev1.EnvVar) *Git {
	mode, repo := strings.TrimSpace(o.SyncMode), strings.TrimSpace(o.SyncSource)
	if mode != "" && mode != "git" {
		p.fault("sync-mode", "%q is not supported: only git is", mode)
	}
	if repo == "" {
		return nil
	}
	g := &Git{Repo: repo, Branch: strings.TrimSpace(o.GitBranch), Revision: strings.TrimSpace(o.GitRevision)}
	for _, e := range env {
		switch {
		case e.Name == "GIT_SYNC_BRANCH" && g.Branch == "":
			g.Branch = e.Value
		case e.Name == "GIT_SYNC_REV" && g.Revision == "":
			g.Revision = e.Value
		}
	}
	return g
}
