package job

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

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

// quantity reads a Kubernetes quantity; "" and "0" mean no limit.
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

// env reads variables with a value, NAME=VALUE, and those whose value is an entry of a secret, NAME=SECRET/KEY.
func (p *parser) env(values, secrets []string) []corev1.EnvVar {
	var env []corev1.EnvVar
	set := func(flag, form, item string, to func(*corev1.EnvVar, string)) {
		if item == "" {
			return
		}
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			p.fault(flag, "%q has no value: write %s", item, form)
			return
		}
		if why := validation.IsEnvVarName(name); len(why) > 0 {
			p.fault(flag, "%q is not the name of a variable: %s", name, strings.Join(why, "; "))
			return
		}
		env = slices.DeleteFunc(env, func(e corev1.EnvVar) bool { return e.Name == name }) // the last one wins
		v := corev1.EnvVar{Name: name}
		to(&v, value)
		env = append(env, v)
	}
	for _, item := range values {
		set("env", "NAME=VALUE", item, func(v *corev1.EnvVar, value string) { v.Value = value })
	}
	for _, item := range secrets {
		set("env-secret", "NAME=SECRET/KEY", item, func(v *corev1.EnvVar, value string) {
			secret, key, _ := strings.Cut(value, "/")
			if len(validation.IsDNS1123Subdomain(secret)) > 0 || len(validation.IsConfigMapKey(key)) > 0 {
				p.fault("env-secret", "%q is not an entry of a secret: write NAME=SECRET/KEY", item)
			}
			v.ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}}
		})
	}
	return env
}

func (p *parser) data(items []string) []Mount {
	var mounts []Mount
	for _, item := range items {
		item = strings.TrimSpace(item)
		if item == "" {
			continue // "leave data empty" is how a pipeline goes without a volume
		}
		name, dir, ok := strings.Cut(item, ":")
		if !ok || !path.IsAbs(dir) {
			p.fault("data", "%q: write CLAIM:/PATH or /FOLDER:/PATH, the name of a persistent volume claim or a folder of the node, and where to mount it; leave it empty for none", item)
			continue
		}
		m := Mount{Path: path.Clean(dir)}
		if path.IsAbs(name) {
			m.Host = path.Clean(name)
		} else {
			m.Claim = name
			if why := validation.IsDNS1123Subdomain(name); len(why) > 0 {
				p.fault("data", "%q is not the name of a volume claim: %s", name, strings.Join(why, "; "))
				continue
			}
		}
		if slices.ContainsFunc(mounts, func(other Mount) bool { return other.Path == m.Path }) {
			p.fault("data", "two volumes are to be mounted on %s", m.Path)
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// bareLauncher tells whether an MPIJob's launcher is to be without volumes: it has them unless that is set to false.
func (p *parser) bareLauncher(v string) bool {
	mounts := p.boolean("mounts-on-launcher", v)
	return mounts != nil && !*mounts
}

// port reads a port, 0 where none is set.
func (p *parser) port(flag, v string) int {
	n := p.integer(flag, v, 0, 0)
	if n > 65535 {
		p.fault(flag, "must be a port, 1 to 65535, not %d", n)
	}
	return n
}

// ofMPIJob refuses what only an MPIJob has.
func (p *parser) ofMPIJob(kind *Kind, o *Options) {
	if kind == &mpiJob {
		return
	}
	for _, f := range []struct{ flag, v string }{{"gputopology", o.GPUTopology}, {"mounts-on-launcher", o.MountsOnLauncher}, {"ssh-port", o.SSHPort}} {
		if strings.TrimSpace(f.v) != "" {
			p.fault(f.flag, "only an MPIJob has it, not %s: leave it empty", kind.Article())
		}
	}
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

func (p *parser) cleanPodPolicy(kind *Kind, v string) CleanPodPolicy {
	if strings.TrimSpace(v) != "" && (kind == &volcanoJob || kind == &singleJob) {
		p.fault("clean-pod-policy", "%s keeps its ended pods until it goes itself: leave it empty, and see --ttl-after-finished", kind.Article())
		return ""
	}
	switch policy := CleanPodPolicy(strings.TrimSpace(v)); policy {
	case "":
		return CleanRunning
	case CleanAll, CleanRunning, CleanNone:
		return policy
	default:
		p.fault("clean-pod-policy", "%q is not one of Running, All and None", v)
		return ""
	}
}

func (p *parser) restartPolicy(kind *Kind, v string) corev1.RestartPolicy {
	switch policy := corev1.RestartPolicy(strings.TrimSpace(v)); policy {
	case "", corev1.RestartPolicyNever:
		return corev1.RestartPolicyNever
	case corev1.RestartPolicyOnFailure:
		if !kind.restarts {
			p.fault("restart-policy", "the pods of %s do not start again by themselves: leave it empty, and see --retries", kind.Article())
		}
		return policy
	default:
		p.fault("restart-policy", "%q is neither Never nor OnFailure", v)
		return ""
	}
}

func (p *parser) pullPolicy(v string) corev1.PullPolicy {
	switch policy := corev1.PullPolicy(strings.TrimSpace(v)); policy {
	case "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
		return policy
	default:
		p.fault("image-pull-policy", "%q is not one of Always, IfNotPresent and Never", v)
		return ""
	}
}

func (p *parser) network(v string) Network {
	for _, n := range []Network{NetworkCNI, NetworkHost, NetworkENI} {
		if strings.EqualFold(strings.TrimSpace(v), string(n)) {
			return n
		}
	}
	if strings.TrimSpace(v) != "" {
		p.fault("network", "%q is not one of CNI, Host and ENI", v)
	}
	return NetworkCNI
}

// boolean reads true or false; nil means that it is not set. Python writes True.
func (p *parser) boolean(flag, v string) *bool {
	v = strings.ToLower(strings.TrimSpace(v))
	if v == "" {
		return nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		p.fault(flag, "%q is neither true nor false", v)
	}
	return &b
}

func (p *parser) ttl(v string) *time.Duration {
	if strings.TrimSpace(v) == "" {
		return nil
	}
	d := p.duration("ttl-after-finished", v)
	return &d
}

func (p *parser) objectName(flag, v string) string {
	v = strings.TrimSpace(v)
	if v == "" {
		return ""
	}
	if why := validation.IsDNS1123Subdomain(v); len(why) > 0 {
		p.fault(flag, "%q is not the name of an object: %s", v, strings.Join(why, "; "))
	}
	return v
}

func (p *parser) names(flag string, items []string) []string {
	var names []string
	for _, item := range items {
		if name := p.objectName(flag, item); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// devices reads RESOURCE=COUNT, as in amd.com/gpu=8.
func (p *parser) devices(items []string) map[string]int {
	devices := map[string]int{}
	for name, count := range p.pairs("device", items, nil) {
		if n := p.integer("device", count, 0, 0); n > 0 {
			devices[name] = n
		}
	}
	return devices
}

// tolerations reads Arena's form KEY=VALUE:EFFECT,OPERATOR, where all but KEY may be left out; "all" tolerates everything.
func (p *parser) tolerations(items []string) []corev1.Toleration {
	var all []corev1.Toleration
	for _, item := range items {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if item == "all" {
			all = append(all, corev1.Toleration{Operator: corev1.TolerationOpExists})
			continue
		}
		rest, operator, _ := strings.Cut(item, ",")
		pair, effect, _ := strings.Cut(rest, ":")
		key, value, valued := strings.Cut(pair, "=")
		t := corev1.Toleration{Key: key, Value: value, Operator: corev1.TolerationOperator(operator), Effect: corev1.TaintEffect(effect)}
		if operator == "" {
			t.Operator = corev1.TolerationOpExists
			if valued {
				t.Operator = corev1.TolerationOpEqual
			}
		}
		if t.Operator == corev1.TolerationOpExists {
			t.Value = ""
		}
		switch why := validation.IsQualifiedName(key); {
		case len(why) > 0:
			p.fault("toleration", "%q: %q is not a key: %s", item, key, strings.Join(why, "; "))
		case len(validation.IsValidLabelValue(t.Value)) > 0:
			p.fault("toleration", "%q: %q is not the value of a taint", item, t.Value)
		case !slices.Contains([]corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}, t.Effect):
			p.fault("toleration", "%q: the effect %q is not one of NoSchedule, PreferNoSchedule and NoExecute", item, effect)
		case t.Operator != corev1.TolerationOpExists && t.Operator != corev1.TolerationOpEqual:
			p.fault("toleration", "%q: the operator %q is neither Exists nor Equal", item, operator)
		default:
			all = append(all, t)
		}
	}
	return all
}

// topology checks that groups like "ps,worker;ps,evaluator" name roles of the job.
func (p *parser) topology(o *Options, s *Spec) Topology {
	for _, f := range []struct{ flag, text string }{
		{"affinity", o.Affinity}, {"anti-affinity", o.AntiAffinity}, {"task-order", o.Order},
	} {
		for _, role := range strings.FieldsFunc(f.text, func(r rune) bool { return r == ',' || r == ';' }) {
			if s.role(strings.TrimSpace(role)) == nil && len(s.Roles) > 0 {
				p.fault(f.flag, "%q: the job has no role %s: it has %s", f.text, strings.TrimSpace(role), s.roleNames())
			}
		}
	}
	if (s.Kind == &mpiJob || s.Kind == &singleJob) && o.Affinity+o.AntiAffinity+o.Order != "" {
		p.fault("affinity", "no scheduler learns of it for %s: leave it, --anti-affinity and --task-order empty", s.Kind.Article())
	}
	strip := func(text string) string { return strings.ReplaceAll(text, " ", "") }
	return Topology{strip(o.Affinity), strip(o.AntiAffinity), strip(o.Order)}
}

func (s *Spec) roleNames() string {
	var names []string
	for _, r := range s.Roles {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

func (p *parser) tensorBoard(o *Options) *TensorBoard {
	if !ptrTrue(p.boolean("tensorboard", o.TensorBoard)) {
		return nil
	}
	return &TensorBoard{
		Image:  or(strings.TrimSpace(o.TensorBoardImage), "tensorflow/tensorflow:2.19.0"),
		LogDir: p.dir("logdir", o.LogDir, "/training_logs"),
	}
}

// code reads what to fetch. GIT_SYNC_BRANCH and GIT_SYNC_REV in the environment
// mean the same as the flags, as they do for Arena.
func (p *parser) code(o *Options, env []corev1.EnvVar) *Code {
	c := &Code{
		Mode: or(strings.TrimSpace(o.SyncMode), "git"), Source: strings.TrimSpace(o.SyncSource), Image: strings.TrimSpace(o.SyncImage),
		Branch: strings.TrimSpace(o.GitBranch), Revision: strings.TrimSpace(o.GitRevision),
	}
	if c.Mode != "git" && c.Mode != "rsync" {
		p.fault("sync-mode", "%q is neither git nor rsync", c.Mode)
	}
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
