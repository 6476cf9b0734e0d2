package train_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// One worker and two, on both networks, twice each: the second time the other way round.
func ExampleSweep() {
	p := dsl.New("network")
	workers := train.Vary("workers", 1, 2)
	network := train.Vary("network", train.Host, train.ENI)
	train.Sweep(p, train.Matrix{Axes: []train.AnyAxis{workers, network}, Repeats: 2}, func(c train.Cell) {
		train.MPIJob(p, "train", train.MPI{
			Image:   dsl.Lit("my/trainer:1"),
			Workers: workers.Of(c),
			Network: network.Of(c),
			Slots:   dsl.Lit(8),
			Command: dsl.Lit("mpirun python3 train.py"),
			Metrics: []train.Metric{{Name: "images/sec", Reduce: train.SumOverRanks}},
		})
	})
	g, err := p.Graph()
	if err != nil {
		fmt.Println(err)
		return
	}
	items, err := g.Nodes[0].Each.Items.List()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item)
	}
	// Output:
	// map[network:ENI repeat:1 workers:1]
	// map[network:Host repeat:1 workers:2]
	// map[network:Host repeat:1 workers:1]
	// map[network:ENI repeat:1 workers:2]
	// map[network:ENI repeat:2 workers:2]
	// map[network:Host repeat:2 workers:1]
	// map[network:Host repeat:2 workers:2]
	// map[network:ENI repeat:2 workers:1]
}

func TestSweep(t *testing.T) {
	t.Parallel()
	p := dsl.New("sweep", dsl.Parallelism(8))
	wait := train.Vary("wait", time.Second, time.Minute)
	before := dsl.Run(p, "prepare", dsl.Container{Image: image})
	train.Sweep(p, train.Matrix{Axes: []train.AnyAxis{wait}, Seed: 7, AtOnce: 2}, func(c train.Cell) {
		train.PyTorchJob(p, "fit", train.PyTorch{Image: image, Command: command, PendingTimeout: wait.Of(c)}, dsl.After(before))
	})
	dsl.Run(p, "last", dsl.Container{Image: image})
	g, err := p.Graph()
	require.NoError(t, err)
	require.Equal(t, 2, g.Settings.Parallelism)
	items, err := g.Nodes[1].Each.Items.List()
	require.NoError(t, err)
	require.Len(t, items, 10, "five repeats unless set")
	values := map[any]int{}
	for _, item := range items {
		values[item.(map[string]any)["wait"]]++
	}
	require.Equal(t, map[any]int{"1s": 5, "1m0s": 5}, values)
	fit := g.Nodes[1].Each.Nodes[0].Pod
	require.True(t, fit.Cache.Off, "a measurement is made, not taken from another pass")
	stated, _ := fit.Annotations[0].Value.Constant()
	require.Equal(t, "wait=1s,1m0s; 5 repeats in the order of seed 7, at most 2 at once", stated)
	require.Nil(t, g.Nodes[2].Pod, "what comes after the sweep has its options no more")
}
