package admission

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// dataAllowance is how much more memory than its container's limit a process may map. Programs map more than they use: stacks of threads,
// heaps that they reserve. The limit stops a process that grows too fast to be noticed before it takes the whole machine.
const dataAllowance = 1 << 30

// maxProcesses is how many processes, threads included, a container may have, on a machine that has room for many.
const maxProcesses = 1 << 14

// limiter keeps containers within their limits. The kernel enforces them where it has control groups. Elsewhere
//   - a container is bound to whole processors, its limit rounded up;
//   - the pod's holder adds up its memory and counts its processes from time to time;
//   - RLIMIT_DATA bounds what each process maps. RLIMIT_AS would not do: CUDA, the JVM and Go reserve far more addresses than they use.
//
// RLIMIT_NPROC counts the processes of all pods that run as one user. It cannot limit a container, but it leaves the machine some
// processes when a container starts them faster than the holder counts.
type Limiter struct {
	groups *cgroup.Tree // nil where there are none
	counts bool         // the groups count processes
	most   int          // processes that the machine can run

	mu   sync.Mutex
	all  []int         // processors that may be used at all
	load map[int]int64 // thousandths of a processor: limits that share each
}

func NewLimiter(groups *cgroup.Tree) (*Limiter, error) {
	l := &Limiter{groups: groups, counts: groups != nil && groups.Counts(), load: map[int]int64{}}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("find out which processors may be used: %w", err)
	}
	for n := 0; len(l.all) < set.Count(); n++ {
		if set.IsSet(n) {
			l.all = append(l.all, n)
		}
	}
	var err error
	l.most, err = machine.MaxProcesses()
	return l, err
}

// limit applies the limits of a pod's container to one life of it. Other containers use the folders in memory named common too. free
// gives back what the limits took.
func (l *Limiter) Limit(pod types.UID, c *corev1.Container, life int32, common []string, spec *container.Spec, command *shim.Command) (free func(), err error) {
	limits := cgroup.Limits{
		MilliCPU:  c.Resources.Limits.Cpu().MilliValue(),
		Request:   c.Resources.Requests.Cpu().MilliValue(),
		Memory:    c.Resources.Limits.Memory().Value(),
		Processes: min(maxProcesses, l.most/4),
	}
	spec.MaxProcesses, spec.MaxInMemory = uint64(l.most/2), limits.Memory
	if !l.counts {
		command.Processes = limits.Processes
	}
	if l.groups != nil && (l.counts || limits.MilliCPU+limits.Request+limits.Memory > 0) {
		name := fmt.Sprintf("%s.%s.%d", pod, c.Name, life)
		command.Cgroup, err = l.groups.Make(name, limits)
		return func() { l.groups.Remove(name) }, err
	}
	if l.groups != nil {
		return func() {}, nil
	}
	if limits.Memory > 0 {
		command.Memory, spec.MaxData = limits.Memory, uint64(limits.Memory)+dataAllowance
		command.Common = common
	}
	spec.CPUs = l.take(limits.MilliCPU)
	return func() { l.give(spec.CPUs, limits.MilliCPU) }, nil
}

// forget removes a pod's groups, those of an earlier kubelet too.
func (l *Limiter) Forget(uid types.UID) {
	if l.groups != nil {
		l.groups.RemoveAll(string(uid) + ".")
	}
}

// take chooses the processors with the least load for a limit. Nil means all processors.
func (l *Limiter) take(milliCPU int64) []int {
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

func (l *Limiter) give(cpus []int, milliCPU int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range cpus {
		l.load[n] -= milliCPU / int64(len(cpus))
	}
}
