package job

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// roles makes the groups of pods that a kind of job has out of the options.
type roles struct {
	p        *parser
	s        *Spec
	all      []Role
	workers  int
	slots    string
	base     Role // what roles have that say nothing of their own
	given    map[string]map[string]string
	order    []string // of the roles that flags named
	selector map[string]map[string]string
}

func newRoles(p *parser, o *Options, s *Spec, command string) *roles {
	r := &roles{
		p: p, s: s, slots: o.Slots, workers: p.integer("workers", o.Workers, 1, 1),
		given: map[string]map[string]string{}, selector: map[string]map[string]string{},
	}
	r.base = Role{
		Image: p.required("image", o.Image), Command: p.required("COMMAND", command),
		GPUs: p.integer("gpus", o.GPUs, 0, 0), CPU: p.quantity("cpu", o.CPU), Memory: p.quantity("memory", o.Memory),
		Selector: p.pairs("selector", o.Selector, validation.IsValidLabelValue),
	}
	for _, f := range []struct {
		flag   string
		values []string
	}{
		{"role-replicas", o.Role.Replicas},
		{"role-image", o.Role.Image},
		{"role-command", o.Role.Command},
		{"role-gpus", o.Role.GPUs},
		{"role-cpu", o.Role.CPU},
		{"role-memory", o.Role.Memory},
		{"role-ends", o.Role.Ends},
	} {
		for role, value := range r.split(f.flag, f.values) {
			if r.given[f.flag] == nil {
				r.given[f.flag] = map[string]string{}
			}
			r.given[f.flag][role] = value
		}
	}
	for role, pair := range r.split("role-selector", o.Role.Selector) {
		if r.selector[role] == nil {
			r.selector[role] = maps.Clone(r.base.Selector)
		}
		maps.Copy(r.selector[role], p.pairs("role-selector", []string{pair}, validation.IsValidLabelValue))
	}
	return r
}

// split reads ROLE=VALUE, in order.
func (r *roles) split(flag string, items []string) func(yield func(role, value string) bool) {
	return func(yield func(role, value string) bool) {
		for _, item := range items {
			role, value, ok := strings.Cut(item, "=")
			switch {
			case item == "":
				continue
			case !ok:
				r.p.fault(flag, "%q has no value: write ROLE=VALUE", item)
				continue
			case len(validation.IsDNS1123Label(role)) > 0:
				r.p.fault(flag, "%q is not the name of a role: use lower-case letters, digits and -", role)
				continue
			}
			if !slices.Contains(r.order, role) {
				r.order = append(r.order, role)
			}
			if value != "" && !yield(role, value) {
				return
			}
		}
	}
}

// add makes the role of that name with so many pods, unless a flag says how many.
func (r *roles) add(name string, replicas int, trains bool) {
	role := r.base
	role.Name, role.Trains = name, trains
	role.Replicas = replicas
	if text, ok := r.given["role-replicas"][name]; ok {
		role.Replicas = r.p.integer("role-replicas="+name, text, replicas, 0)
	}
	if role.Replicas == 0 {
		return
	}
	if !trains {
		role.GPUs = 0 // what serves others computes nothing itself, unless asked to
	}
	role.GPUs = r.p.integer("role-gpus="+name, r.given["role-gpus"][name], role.GPUs, 0)
	role.Image = or(r.given["role-image"][name], role.Image)
	role.Command = or(r.given["role-command"][name], role.Command)
	if text, ok := r.given["role-cpu"][name]; ok {
		role.CPU = r.p.quantity("role-cpu="+name, text)
	}
	if text, ok := r.given["role-memory"][name]; ok {
		role.Memory = r.p.quantity("role-memory="+name, text)
	}
	if selector, ok := r.selector[name]; ok {
		role.Selector = selector
	}
	role.Ends = ptrTrue(r.p.boolean("role-ends="+name, r.given["role-ends"][name]))
	r.all = append(r.all, role)
}

// ranks settles how many ranks each pod that trains has.
func (r *roles) ranks(unset int) { r.s.Slots = r.p.integer("slots", r.slots, unset, 1) }

// masterAndWorkers is how PyTorchJob and XGBoostJob split their workers.
func (r *roles) masterAndWorkers() {
	r.add("master", 1, true)
	r.add("worker", r.workers-1, true)
	r.ranks(1)
}

// refuseOthers tells of flags for roles that jobs of this kind do not have.
func (r *roles) refuseOthers() {
	if r.s.Slots == 0 {
		r.s.Slots = 1
	}
	if r.s.Kind == &volcanoJob || len(r.all) == 0 {
		return
	}
	for _, name := range r.order {
		known := slices.ContainsFunc(r.all, func(x Role) bool { return x.Name == name })
		if r.given["role-replicas"][name] != "" && !known && strings.TrimLeft(r.given["role-replicas"][name], "0 ") != "" {
			r.p.fault("role-replicas", "%s has no role %s", r.s.Kind.Article(), name)
		}
	}
}

// podSuffix is the longest that is added to the job's name for a pod.
func (s *Spec) podSuffix() int {
	longest := len(s.Kind.suffix)
	if s.TensorBoard != nil {
		longest = max(longest, len(tensorBoardSuffix))
	}
	for _, r := range s.Roles {
		longest = max(longest, len("-"+r.Name+"-"+strconv.Itoa(max(r.Replicas-1, 0))))
	}
	return longest
}
