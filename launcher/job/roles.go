package job

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/train/option"
)

// roles makes the groups of pods that a kind of job has out of the options.
type roles struct {
	p       *parser
	s       *Spec
	all     []Role
	workers int
	base    Role                         // what roles have that say nothing of their own
	given   map[string]map[string]string // by flag and role
	order   []string                     // of the roles that flags named
	labels  map[string]map[string]string // of nodes, by role
}

func newRoles(p *parser, s *Spec, command string) *roles {
	r := &roles{p: p, s: s, workers: number(p.given.Text("workers"), 1), given: map[string]map[string]string{}, labels: map[string]map[string]string{}}
	r.base = Role{
		Image: p.given.Text("image"), Command: command, GPUs: number(p.given.Text("gpus"), 0),
		CPU: p.quantity("cpu", p.given.Text("cpu")), Memory: p.quantity("memory", p.given.Text("memory")), Selector: p.labels("selector"),
	}
	if strings.TrimSpace(command) == "" {
		p.faults = append(p.faults, errors.New("COMMAND: must be set"))
	}
	for i := range option.Table {
		if o := &option.Table[i]; o.Role {
			r.read(o)
		}
	}
	return r
}

// read reads ROLE=VALUE, in order.
func (r *roles) read(o *option.Option) {
	values := map[string]string{}
	r.given[o.Flag] = values
	for _, text := range r.p.given.Texts(o.Flag) {
		role, value, _ := strings.Cut(text, "=")
		if !slices.Contains(r.order, role) {
			r.order = append(r.order, role)
		}
		switch key, label, _ := strings.Cut(value, "="); {
		case value == "":
		case o.Form.Keyed():
			if r.labels[role] == nil {
				r.labels[role] = maps.Clone(r.base.Selector)
			}
			r.labels[role][key] = label
		default:
			values[role] = value
		}
	}
}

// number reads a whole number. It returns unset for any other text.
func number(text string, unset int) int {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return n
	}
	return unset
}

// labels reads KEY=VALUE.
func (p *parser) labels(flag string) map[string]string {
	labels := map[string]string{}
	for _, text := range p.given.Texts(flag) {
		if key, value, ok := strings.Cut(text, "="); ok {
			labels[key] = value
		}
	}
	return labels
}

// add makes the role of that name with so many pods, unless a flag says how many.
func (r *roles) add(name string, replicas int, trains bool) {
	role := r.base
	role.Name, role.Trains = name, trains
	role.Replicas = number(r.given["role-replicas"][name], replicas)
	if role.Replicas == 0 {
		return
	}
	if !trains {
		role.GPUs = 0 // what serves others computes nothing itself, unless asked to
	}
	role.GPUs = number(r.given["role-gpus"][name], role.GPUs)
	role.Image = or(r.given["role-image"][name], role.Image)
	role.Command = or(r.given["role-command"][name], role.Command)
	if text, ok := r.given["role-cpu"][name]; ok {
		role.CPU = r.p.quantity("role-cpu="+name, text)
	}
	if text, ok := r.given["role-memory"][name]; ok {
		role.Memory = r.p.quantity("role-memory="+name, text)
	}
	if labels, ok := r.labels[name]; ok {
		role.Selector = labels
	}
	ends, _ := option.Truth.Read(r.given["role-ends"][name])
	role.Ends = ends == "true"
	r.all = append(r.all, role)
}

// ranks settles how many ranks each pod that trains has.
func (r *roles) ranks(unset int) { r.s.Slots = cmp.Or(r.s.Slots, unset) }

// ranksOfGPUs gives each pod as many ranks as it has GPUs, or one.
func (r *roles) ranksOfGPUs() {
	gpus := 0
	if len(r.all) > 0 {
		gpus = r.all[0].GPUs
	}
	r.ranks(max(gpus, 1))
}

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
	if s.TensorBoard.Enabled {
		longest = max(longest, len(tensorBoardSuffix))
	}
	for _, r := range s.Roles {
		longest = max(longest, len("-"+r.Name+"-"+strconv.Itoa(max(r.Replicas-1, 0))))
	}
	return longest
}
