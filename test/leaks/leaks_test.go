package leaks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/test/leaks"
)

// tests leave a goroutine that stays until goleak has looked for it and given up.
type tests struct{ found chan error }

func (s tests) Run() int {
	stay := make(chan struct{})
	go func() { <-stay }()
	go func() {
		s.found <- goleak.Find()
		close(stay)
	}()
	return 0
}

// A goroutine that ends late is no leak. The test is not parallel: goleak would find those of others.
func TestLateGoroutines(t *testing.T) {
	s := tests{make(chan error, 1)}
	require.Zero(t, leaks.Main(s).Run())
	require.Error(t, <-s.found)
	require.NoError(t, goleak.Find())
}
