package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/store/conformance"
	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(pgtest.Main(m)) }

func open(t *testing.T, address string) *sqlstore.Store {
	t.Helper()
	s, err := postgres.OpenWith(t.Context(), address, patience) // the one before may still let go of it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Store { return open(t, pgtest.Database(t)) })
}
