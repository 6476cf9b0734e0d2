package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
)

func TestItEndsWhenTheModelIsGoodEnough(t *testing.T) {
	t.Parallel()
	rounds := 0
	run := dsltest.Run(t, UntilGood(), nil, dsltest.Steps{"epoch": func(dsltest.Call) (dsltest.Outputs, error) {
		rounds++
		return dsltest.Outputs{"accuracy": 0.3 * float64(rounds), "enough": rounds == 3, "next-round": rounds + 1}, nil
	}})
	require.Equal(t, "Succeeded", run.Status)
	require.Len(t, run.Of("epoch"), 3)
	require.Contains(t, run.Of("epoch")[2].Args, "3", "the number of the round")
	require.Contains(t, run.Of("show")[0].Command, "0.8999999999999999", "the last round's accuracy")
}
