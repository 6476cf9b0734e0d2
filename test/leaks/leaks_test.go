package leaks

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
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

// A goroutine that ends late is not a leak. The test is not parallel, because goleak would find goroutines of other tests.
func TestLateGoroutines(t *testing.T) {
	s := tests{make(chan error, 1)}
	require.Zero(t, patient{m: s}.Run())
	require.Error(t, <-s.found)
	require.NoError(t, goleak.Find())
}
