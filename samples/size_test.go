package samples

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestSize(t *testing.T) {
	t.Parallel()
	type offered struct{ cpu, memory string }
	for name, c := range map[string]struct {
		nodes       []offered
		cpu, memory string // empty: the pipeline's own, 2 CPUs and 10Gi
		detail      string
	}{
		"one core":                 {[]offered{{"1", "3584Mi"}}, "500m", "1792Mi", "2 workers x 500m CPU, 1792Mi: this cluster offers 1 CPU, 3.5 GiB"},
		"two cores":                {[]offered{{"2", "24064Mi"}}, "1", "", "2 workers x 1 CPU, 10Gi: this cluster offers 2 CPU, 23.5 GiB"},
		"three cores":              {[]offered{{"3", "64Gi"}}, "1500m", "", "2 workers x 1500m CPU, 10Gi: this cluster offers 3 CPU, 64.0 GiB"},
		"four cores":               {[]offered{{"4", "15872Mi"}}, "", "7936Mi", "2 workers x 2 CPU, 7936Mi: this cluster offers 4 CPU, 15.5 GiB"},
		"64 cores":                 {[]offered{{"64", "256Gi"}}, "", "", "2 workers x 2 CPU, 10Gi: this cluster offers 64 CPU, 256.0 GiB"},
		"a share of a core":        {[]offered{{"750m", "1Gi"}}, "375m", "512Mi", "2 workers x 375m CPU, 512Mi: this cluster offers 750m CPU, 1.0 GiB"},
		"two nodes, one each":      {[]offered{{"1", "12Gi"}, {"1", "12Gi"}}, "1", "", "2 workers x 1 CPU, 10Gi: this cluster offers 2 CPU, 24.0 GiB"},
		"two nodes, both on one":   {[]offered{{"3", "24Gi"}, {"500m", "1Gi"}}, "1500m", "", "2 workers x 1500m CPU, 10Gi: this cluster offers 3500m CPU, 25.0 GiB"},
		"memory that is not round": {[]offered{{"8", "20479Mi"}}, "", "10176Mi", "2 workers x 2 CPU, 10176Mi: this cluster offers 8 CPU, 20.0 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nodes []Node
			for _, n := range c.nodes {
				nodes = append(nodes, node(n.cpu, n.memory))
			}
			want := []Parameter{{Name: "workers", Value: "2"}, {Name: "gpus", Value: "0"}, {Name: "data"}}
			if c.cpu != "" {
				want = append(want, Parameter{Name: "cpu_limit", Value: c.cpu})
			}
			if c.memory != "" {
				want = append(want, Parameter{Name: "memory_limit", Value: c.memory})
			}
			got, detail, err := Size(taking("workers", "1", "gpus", "1", "data", "x", "cpu_limit", "2", "memory_limit", "10Gi"), nodes, 0)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, c.detail, detail)
		})
	}
}

func TestSizeWithGPUs(t *testing.T) {
	t.Parallel()
	got, _, err := Size(taking("workers", "1", "gpus", "0"), nil, 1)
	require.NoError(t, err)
	require.Equal(t, []Parameter{{"workers", "2"}, {"gpus", "1"}}, got)
}

func TestSizeOfOtherSamples(t *testing.T) {
	t.Parallel()
	small := []Node{node("1", "1Gi")}
	got, detail, err := Size(taking("rate", "0.1"), small, 0)
	require.NoError(t, err)
	require.Empty(t, got, "a parameter that the pipeline does not take would be refused")
	require.Equal(t, "as the pipeline says: this cluster offers 1 CPU, 1.0 GiB", detail)

	_, _, err = Size(taking("cpu_limit", "two"), small, 0)
	require.ErrorContains(t, err, `parameter cpu_limit: "two" is not a quantity`)
}

// node offers so much.
func node(cpu, memory string) Node {
	c, m := resource.MustParse(cpu), resource.MustParse(memory)
	return Node{c.MilliValue(), m.Value()}
}

// taking is a workflow with parameters: a name, its default, and so on.
func taking(pairs ...string) []byte {
	text := "spec:\n  arguments:\n    parameters:\n"
	for i := 0; i < len(pairs); i += 2 {
		text += fmt.Sprintf("    - {name: %s, value: %q}\n", pairs[i], pairs[i+1])
	}
	return []byte(text)
}
