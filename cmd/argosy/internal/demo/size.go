package demo

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/sdk/client"
)

// Node is what one node of the cluster offers to pods.
type Node struct {
	CPU    resource.Quantity
	Memory resource.Quantity
}

// demoWorkers is how many workers the demo trains with: one would have nothing to reduce.
const demoWorkers = 2

// memoryStep is what sizes of memory are rounded down to, so that people can read them.
const memoryStep = 64 << 20

// size chooses the parameters of the demo's run. It trains on CPUs, without a data volume, and asks each worker for no more than lets
// all of them run at the same time on the nodes. Parameters that the pipeline does not declare are left out, and so are those whose
// default already fits. The detail says in one line what is asked for, and of how much.
func size(workflow []byte, nodes []Node) (parameters []client.Parameter, detail string, err error) {
	defaults, err := declared(workflow)
	if err != nil {
		return nil, "", err
	}
	for _, p := range []client.Parameter{{Name: "workers", Value: fmt.Sprint(demoWorkers)}, {Name: "gpus", Value: "0"}, {Name: "data"}} {
		if _, ok := defaults[p.Name]; ok {
			parameters = append(parameters, p)
		}
	}
	asked := map[string]resource.Quantity{}
	for _, limit := range []struct {
		name string
		most resource.Quantity
	}{
		{"cpu_limit", largest(nodes, demoWorkers, func(n Node) resource.Quantity { return n.CPU })},
		{"memory_limit", wholeSteps(largest(nodes, demoWorkers, func(n Node) resource.Quantity { return n.Memory }))},
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
			parameters = append(parameters, client.Parameter{Name: limit.name, Value: want.String()})
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
func largest(nodes []Node, count int, of func(Node) resource.Quantity) resource.Quantity {
	var shares []int64 // thousandths
	for _, n := range nodes {
		all := of(n)
		for k := 1; k <= count; k++ {
			shares = append(shares, all.MilliValue()/int64(k))
		}
	}
	if len(shares) < count {
		return resource.Quantity{}
	}
	slices.Sort(shares)
	return *resource.NewMilliQuantity(shares[len(shares)-count], resource.DecimalSI)
}

// wholeSteps rounds bytes down, but never to nothing.
func wholeSteps(q resource.Quantity) resource.Quantity {
	steps := max(1, q.Value()/memoryStep)
	return *resource.NewQuantity(steps*memoryStep, resource.BinarySI)
}

// describe is the line about what the demo asks for.
func describe(sized bool, asked map[string]resource.Quantity, nodes []Node) string {
	each := "as the pipeline says"
	if sized {
		each = fmt.Sprintf("%d workers", demoWorkers)
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
	var allCPU, allMemory resource.Quantity
	for _, n := range nodes {
		allCPU.Add(n.CPU)
		allMemory.Add(n.Memory)
	}
	return fmt.Sprintf("%s: this cluster offers %s CPU, %.1f GiB", each, allCPU.String(), float64(allMemory.Value())/(1<<30))
}
