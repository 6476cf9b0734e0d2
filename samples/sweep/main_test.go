package main

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
)

// With another program in place of each step, the pipeline itself is followed: what runs, how often, and with what.
func TestSweepGoesOnWithTheBestRate(t *testing.T) {
	t.Parallel()
	run := func(best float64) *dsltest.Result {
		train := func(c dsltest.Call) (dsltest.Outputs, error) { return dsltest.Outputs{"accuracy": c.Args[1]}, nil }
		return dsltest.Run(t, Sweep(), dsltest.Params{"learning_rates": []float64{0.1, best, 0.3}}, dsltest.Steps{
			"train": train, "train-2": train,
			"choose": func(c dsltest.Call) (dsltest.Outputs, error) {
				require.Equal(t, "[0.1,"+strconv.FormatFloat(best, 'g', -1, 64)+",0.3]", c.Args[0])
				require.Equal(t, c.Args[0], c.Args[1], "the accuracies in the order of the rates")
				return dsltest.Outputs{"rate": best, "accuracy": best}, nil
			},
		})
	}
	good := run(0.95)
	require.Len(t, good.Of("train"), 3)
	require.Equal(t, []string{"train", "choose", "train-2", "show", "tidy"}, good.Steps())
	require.Equal(t, []string{"--rate", "0.95", "--epochs", "10"}, good.Of("train-2")[0].Args[:4])
	require.Equal(t, []string{"train", "choose", "give-up", "tidy"}, run(0.5).Steps())
}
