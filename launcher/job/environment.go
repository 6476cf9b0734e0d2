package job

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/launcher/probe"
	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Bounds of what is recorded of a job's environment.
const (
	maxFacts    = 48
	maxFactText = 200 // bytes; what scaling reports take
)

// environment is what a job ran on, as far as it can be found out: its pods, their nodes, and what programs say of themselves.
type environment struct {
	mu    sync.Mutex
	pods  map[string]*corev1.Pod // that train, by place; the newest of each
	facts map[string]string      // that the output told
	probe probe.Reader
}

func newEnvironment() *environment {
	return &environment{pods: map[string]*corev1.Pod{}, facts: map[string]string{}}
}

// saw takes note of the pods that train. They may be gone at the end.
func (e *environment) saw(spec *Spec, pods []*corev1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, pod := range pods {
		role, index := spec.Kind.place(pod)
		if r := spec.role(role); r == nil || !r.Trains || pod.Spec.NodeName == "" {
			continue
		}
		place := fmt.Sprintf("%s/%d", role, index)
		if old := e.pods[place]; old == nil || !pod.CreationTimestamp.Before(&old.CreationTimestamp) {
			e.pods[place] = pod
		}
	}
}

// Lines of programs that say what they are.
var told = []struct {
	fact    string
	mark    []byte // each line that tells has it
	pattern *regexp.Regexp
}{
	{"mpi", []byte(scrape.LauncherSays), regexp.MustCompile(`^argosy: (mpirun .+)$`)},
	{"nccl", []byte("NCCL"), regexp.MustCompile(`NCCL version (\S+)`)},
	{"nccl network", []byte("NCCL"), regexp.MustCompile(`NCCL INFO Using network (\S+)`)},
	{"cuda driver", []byte("NCCL"), regexp.MustCompile(`cudaDriverVersion (\d+)`)},
}

// listens gives a writer for what a pod prints.
func (e *environment) listens() io.WriteCloser {
	return scrape.Lines(func(_ int, line []byte) {
		if bytes.HasPrefix(line, []byte(probe.Mark)) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.probe.Line(line)
			return
		}
		for _, t := range told {
			if !bytes.Contains(line, t.mark) {
				continue
			}
			if found := t.pattern.FindSubmatch(line); found != nil {
				e.mu.Lock()
				e.facts[t.fact] = string(found[1])
				e.mu.Unlock()
			}
		}
	})
}

// environmentFacts are what is known of the job that ended.
// The world is as mpirun told it, nil when it did not.
func (l *Launcher) environmentFacts(ctx context.Context, e *environment, world *scrape.World) map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	facts := maps.Clone(e.facts)
	maps.Copy(facts, e.probe.Facts(l.Spec.World()))
	pods := slices.Collect(maps.Values(e.pods))
	if len(pods) == 0 {
		return facts
	}
	add := func(name string, values ...string) {
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		slices.Sort(values)
		if values = slices.Compact(values); len(values) > 0 {
			facts[name] = strings.Join(values, "; ")
		}
	}
	var images, commits, networks []string
	nodes := map[string]int{} // ranks by node
	for _, pod := range pods {
		nodes[pod.Spec.NodeName] += l.Spec.Slots
		images = append(images, digest(pod, trainContainer(l.Spec, pod)))
		commits = append(commits, commit(pod))
		networks = append(networks, networkOf(pod))
	}
	add("image", images...)
	add("commit", commits...)
	add("network", networks...)
	add("placement", placement(provedRanks(nodes, pods, world)))
	add("cpu binding", binding(l.Spec))
	for _, v := range l.Spec.Env {
		if v.ValueFrom == nil && recorded(v.Name) {
			add("env "+v.Name, v.Value)
		}
	}
	l.nodeFacts(ctx, slices.Sorted(maps.Keys(nodes)), add)
	return facts
}

// nodeFacts tells of the nodes, where they may be read.
func (l *Launcher) nodeFacts(ctx context.Context, names []string, add func(name string, values ...string)) {
	if own := l.ID.Pod; own != nil && len(names) == 1 && names[0] == own.Spec.NodeName {
		add("cpu", processor()) // this machine is the one that trained
	}
	if l.Survey == nil {
		return
	}
	nodes, err := l.Survey.Nodes(ctx)
	if err != nil {
		return // without the right to read them nothing is known
	}
	values := map[string][]string{}
	for _, n := range nodes {
		if !slices.Contains(names, n.Name) {
			continue
		}
		info := n.Status.NodeInfo
		for name, value := range map[string]string{
			"machine": cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Labels["beta.kubernetes.io/instance-type"]),
			"kernel":  info.KernelVersion, "os": info.OSImage, "architecture": info.Architecture,
			"cpus": count(n.Status.Capacity.Cpu().Value(), 1, ""), "memory": count(n.Status.Capacity.Memory().Value(), 1<<30, " GiB"),
			// NVIDIA's feature discovery puts these on nodes.
			"gpu": n.Labels["nvidia.com/gpu.product"], "gpu driver": n.Labels["nvidia.com/cuda.driver-version.full"],
			"cuda": n.Labels["nvidia.com/cuda.runtime-version.full"],
		} {
			values[name] = append(values[name], value)
		}
	}
	for name, list := range values {
		add(name, list...)
	}
}

// count writes an amount in whole units: machines of one kind differ in the bytes that their kernels take. None is empty.
func count(amount, unit int64, name string) string {
	if amount <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%s", (amount+unit/2)/unit, name)
}

// provedRanks is how many ranks ran on each node: by mpirun's own map where there is one, since it may start ranks elsewhere than in the workers.
func provedRanks(nodes map[string]int, pods []*corev1.Pod, world *scrape.World) map[string]int {
	if world == nil {
		return nodes
	}
	proved := map[string]int{}
	for i, host := range world.Hosts {
		name, _, _ := strings.Cut(host, ".")
		at := "no worker's pod, but " + name
		for _, pod := range pods {
			if pod.Name == name || cmp.Or(pod.Spec.Hostname, pod.Name) == name || pod.Spec.HostNetwork && pod.Spec.NodeName == name {
				at = pod.Spec.NodeName
			}
		}
		proved[at] += world.PerHost[i]
	}
	return proved
}

// placement says how many ranks each node had: with names where there is room.
func placement(ranks map[string]int) string {
	var named []string
	counts := map[int]int{}
	for _, node := range slices.Sorted(maps.Keys(ranks)) {
		named = append(named, fmt.Sprintf("%s: %d", node, ranks[node]))
		counts[ranks[node]]++
	}
	if text := strings.Join(named, ", "); len(text) <= maxFactText {
		return text
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d nodes with %d", counts[n], n))
	}
	return strings.Join(parts, ", ")
}

// trainContainer is the name of the container that trains; of a worker of an MPIJob it is another than the one that speaks.
func trainContainer(s *Spec, pod *corev1.Pod) string {
	if s.Kind == &mpiJob {
		return containerWorker
	}
	if len(pod.Spec.Containers) == 1 {
		return pod.Spec.Containers[0].Name
	}
	return s.Kind.container
}

// digest is the image as the node fetched it.
func digest(pod *corev1.Pod, container string) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == container {
			return strings.TrimPrefix(s.ImageID, "docker-pullable://")
		}
	}
	return ""
}

var commitHash = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// commit is what the pod's code was at, as the launcher's git-sync leaves it.
func commit(pod *corev1.Pod) string {
	for _, s := range pod.Status.InitContainerStatuses {
		if t := s.State.Terminated; s.Name == codeContainerName && t != nil && commitHash.MatchString(strings.TrimSpace(t.Message)) {
			return strings.TrimSpace(t.Message)
		}
	}
	return ""
}

// networkOf says which network a pod has, beside its cluster's own.
func networkOf(pod *corev1.Pod) string {
	switch more := pod.Annotations["k8s.v1.cni.cncf.io/networks"]; {
	case pod.Spec.HostNetwork:
		return "that of the node"
	case more != "":
		return "pod network and " + more
	case pod.Annotations["k8s.aliyun.com/eni"] == "true":
		return "a network interface of the cloud"
	}
	return "pod network"
}

var bindTo = regexp.MustCompile(`--?bind-to[= ]+(\S+)`)

// binding returns mpirun's option for binding ranks to processors; empty for other kinds of jobs.
func binding(s *Spec) string {
	if s.Kind != &mpiJob {
		return ""
	}
	if found := bindTo.FindStringSubmatch(s.Roles[0].Command); found != nil {
		return found[1]
	}
	for _, v := range mergeEnv(openMPIEnv(s, 0), s.Env) {
		if v.Name == "OMPI_MCA_hwloc_base_binding_policy" {
			return v.Value
		}
	}
	return ""
}

// recordedPrefixes begin the names of variables that are recorded. They tune libraries; what else a job is given may be secret.
var recordedPrefixes = []string{"NCCL_", "OMP_", "HOROVOD_", "OMPI_MCA_", "PRTE_MCA_", "UCX_", "FI_", "GLOO_", "KMP_", "MKL_", "TF_NUM_", "XLA_FLAGS"}

func recorded(name string) bool {
	return slices.ContainsFunc(recordedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// processor is the model of this machine's.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// writeEnvironment leaves the facts as a JSON object, within bounds.
func writeEnvironment(file string, facts map[string]string) error {
	if len(facts) == 0 {
		return nil
	}
	kept := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		value := strings.Join(strings.Fields(facts[name]), " ")
		if len(value) > maxFactText {
			value = strings.ToValidUTF8(value[:maxFactText-3], "") + "..."
		}
		// Workflow engines put values for what stands in double braces.
		if len(kept) < maxFacts && len(name) <= maxFactText && !strings.Contains(name+value, "{{") {
			kept[name] = value
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the environment: %w", err)
	}
	return writeFile(file, string(text))
}
