package samples

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Node is what one node of the cluster offers to pods.
type Node struct {
	MilliCPU int64 // thousandths of a core
	Memory   int64 // bytes
}

// Parameter is a parameter of a run.
type Parameter struct{ Name, Value string }

// Workers is how many workers a sample trains with: one would have nothing to reduce.
const Workers = 2

// memoryStep is what sizes of memory are rounded down to, so that people can read them.
const memoryStep = 64 << 20

// Size chooses the parameters of a sample's run. Each worker has so many GPUs, and no data volume. It asks for no more than lets all
// workers run at the same time on the nodes. Parameters that the pipeline does not declare are left out, and so are those whose
// default already fits. The detail says in one line what is asked for, and of how much.
func Size(workflow []byte, nodes []Node, gpus int) (parameters []Parameter, detail string, err error) {
	defaults, err := declared(workflow)
	if err != nil {
		return nil, "", err
	}
	for _, p := range []Parameter{{"workers", fmt.Sprint(Workers)}, {"gpus", fmt.Sprint(gpus)}, {"data", ""}} {
		if _, ok := defaults[p.Name]; ok {
			parameters = append(parameters, p)
		}
	}
	asked := map[string]resource.Quantity{}
	for _, limit := range []struct {
		name string
		most resource.Quantity
	}{
		{"cpu_limit", *resource.NewMilliQuantity(largest(nodes, Workers, func(n Node) int64 { return n.MilliCPU }), resource.DecimalSI)},
		{"memory_limit", wholeSteps(largest(nodes, Workers, func(n Node) int64 { return n.Memory }))},
	} {
		text, ok := defaults[limit.name]
		if !ok {
			continue
		}
		want, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, "", fmt.Errorf("parameter %s: %q is not a quantity: %w", limit.name, text, err)
		}
		if len(nodes) > 0 && want.Cmp(limit.most) > 0 {
			want = limit.most
			parameters = append(parameters, Parameter{limit.name, want.String()})
		}
		asked[limit.name] = want
	}
	return parameters, describe(len(parameters) > 0, asked, nodes), nil
}

// declared reads the defaults of the parameters that a workflow takes.
func declared(workflow []byte) (map[string]string, error) {
	var w struct {
		Spec struct {
			Arguments struct {
				Parameters []struct{ Name, Value string }
			}
		}
	}
	if err := yaml.Unmarshal(workflow, &w); err != nil {
		return nil, fmt.Errorf("read the parameters of the workflow: %w", err)
	}
	defaults := map[string]string{}
	for _, p := range w.Spec.Arguments.Parameters {
		defaults[p.Name] = p.Value
	}
	return defaults, nil
}

// largest is the most that each of count equal pods can have while all of them run: a node that offers x holds k pods of x/k each.
func largest(nodes []Node, count int, of func(Node) int64) int64 {
	var shares []int64
	for _, n := range nodes {
		for k := 1; k <= count; k++ {
			shares = append(shares, of(n)/int64(k))
		}
	}
	if len(shares) < count {
		return 0
	}
	slices.Sort(shares)
	return shares[len(shares)-count]
}

// wholeSteps rounds bytes down, but never to nothing.
func wholeSteps(bytes int64) resource.Quantity {
	steps := max(1, bytes/memoryStep)
	return *resource.NewQuantity(steps*memoryStep, resource.BinarySI)
}

// describe is the line about what a sample asks for.
func describe(sized bool, asked map[string]resource.Quantity, nodes []Node) string {
	each := "as the pipeline says"
	if sized {
		each = fmt.Sprintf("%d workers", Workers)
	}
	cpu, hasCPU := asked["cpu_limit"]
	memory, hasMemory := asked["memory_limit"]
	switch {
	case hasCPU && hasMemory:
		each += fmt.Sprintf(" x %s CPU, %s", cpu.String(), memory.String())
	case hasCPU:
		each += fmt.Sprintf(" x %s CPU", cpu.String())
	case hasMemory:
		each += " x " + memory.String()
	}
	var all Node
	for _, n := range nodes {
		all.MilliCPU += n.MilliCPU
		all.Memory += n.Memory
	}
	return fmt.Sprintf("%s: this cluster offers %s CPU, %.1f GiB", each, resource.NewMilliQuantity(all.MilliCPU, resource.DecimalSI), float64(all.Memory)/(1<<30))
}
