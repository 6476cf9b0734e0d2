package doctor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A stop while the kernel is tried is a stop, and no refusal of the kernel's.
func TestNamespacesOfAStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Namespaces(ctx), context.Canceled)
}
