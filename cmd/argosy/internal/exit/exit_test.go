package exit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
)

func TestCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{&client.Error{Status: 500}, 1},
		{&client.Error{Status: 400}, 2},
		{exit.Usagef("x"), 2},
		{&client.Error{Status: 404}, 3},
		{fmt.Errorf("run: %w", &client.Error{Status: 409}), 3},
		{exit.With(exit.Refused, errors.New("locked")), 3},
		{&client.Unreachable{Err: errors.New("refused")}, 4},
		{exit.Environmentf("no cluster: %w", &client.Error{Status: 404}), 4},
		{fmt.Errorf("wait: %w", exit.With(exit.Timeout, context.DeadlineExceeded)), 5},
		{context.Canceled, 130},
	} {
		require.Equal(t, c.code, exit.Code(c.err), "%v", c.err)
	}
	require.NoError(t, exit.With(exit.Usage, nil))
}

// TestDocs: the documentation has the same table as the command.
func TestDocs(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../../docs/command.md")
	require.NoError(t, err)
	for _, m := range exit.Meanings {
		require.Contains(t, string(docs), fmt.Sprintf("\n| %d | %s |\n", m.Code, m.Text))
	}
}
