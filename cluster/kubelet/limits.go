package kubelet

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/cgroup"
	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podholder"
)

// dataAllowance is how far above a container's limit each of its processes may go in memory that it maps and need not use: stacks
// of threads, heaps that are laid out in advance. It keeps one that grows too fast to be noticed from taking the whole machine.
const dataAllowance = 1 << 30

// limiter keeps containers within their limits. With control groups the kernel does; without them, a container may use as many
// whole processors as its limit begins, its memory is added up from time to time (by the pod's holder), and each of its processes
// has a limit of what it may map. RLIMIT_DATA and not RLIMIT_AS: CUDA, the JVM and Go reserve far more addresses than they use.
type limiter struct {
	groups *cgroup.Tree // nil where there are none

	mu   sync.Mutex
	all  []int         // processors that may be used at all
	load map[int]int64 // thousandths of a processor: limits that share each
}

func newLimiter(groups *cgroup.Tree) (*limiter, error) {
	l := &limiter{groups: groups, load: map[int]int64{}}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("find out which processors may be used: %w", err)
	}
	for n := 0; len(l.all) < set.Count(); n++ {
		if set.IsSet(n) {
			l.all = append(l.all, n)
		}
	}
	return l, nil
}

// limit applies a container's limits to a life of it. free gives back what was taken for that.
func (l *limiter) limit(p *pod, c *corev1.Container, life int32, spec *container.Spec, command *podholder.Command) (free func(), err error) {
	limits := cgroup.Limits{
		MilliCPU: c.Resources.Limits.Cpu().MilliValue(),
		Request:  c.Resources.Requests.Cpu().MilliValue(),
		Memory:   c.Resources.Limits.Memory().Value(),
	}
	if limits == (cgroup.Limits{}) {
		return func() {}, nil
	}
	if l.groups != nil {
		name := fmt.Sprintf("%s.%s.%d", p.obj.UID, c.Name, life)
		command.Cgroup, err = l.groups.Make(name, limits)
		return func() { l.groups.Remove(name) }, err
	}
	if limits.Memory > 0 {
		command.Memory, spec.MaxData = limits.Memory, uint64(limits.Memory)+dataAllowance
	}
	spec.CPUs = l.take(limits.MilliCPU)
	return func() { l.give(spec.CPUs, limits.MilliCPU) }, nil
}

// forget removes what is left of a pod's groups; those that an earlier kubelet made have nobody else who would.
func (l *limiter) forget(uid types.UID) {
	if l.groups != nil {
		l.groups.RemoveAll(string(uid) + ".")
	}
}

// take chooses processors for a limit: those with the least on them. Nil means all.
func (l *limiter) take(milliCPU int64) []int {
	count := int((milliCPU + 999) / 1000)
	if count == 0 || count >= len(l.all) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	order := slices.Clone(l.all)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.load[a], l.load[b]) })
	chosen := order[:count]
	slices.Sort(chosen)
	for _, n := range chosen {
		l.load[n] += milliCPU / int64(count)
	}
	return chosen
}

func (l *limiter) give(cpus []int, milliCPU int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range cpus {
		l.load[n] -= milliCPU / int64(len(cpus))
	}
}
