package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
)

const (
	soon     = 200 * time.Millisecond
	patience = 5 * time.Minute
)

func TestDataSurvivesReopening(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := open(t, address)
	accept(t, s, "r")
	require.NoError(t, s.Close())
	_, err := open(t, address).Run(t.Context(), "r")
	require.NoError(t, err)
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	require.NoError(t, open(t, address).Close())
	_, err := plainly(t, "pgx", address).ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), address)
	require.ErrorContains(t, err, "schema 9999, written by a newer Argosy")
}

// TestOneAtATime: a second process learns which one has the store, and gets it when that one ends.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	first := open(t, address)
	_, err := postgres.OpenWith(t.Context(), address, soon)
	require.ErrorContains(t, err, fmt.Sprintf("another Argosy has the store open (argosy, process %d on ", os.Getpid()))
	require.ErrorContains(t, err, "stop it")

	other := pgtest.Database(t)
	open(t, other) // another database has a lock of its own

	opened := make(chan error, 1)
	go func() {
		s, err := postgres.OpenWith(t.Context(), address, patience)
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(soon):
	}
	require.NoError(t, first.Close())
	require.NoError(t, <-opened)
}

// TestLostLock: a process whose connection broke, and whose store another has taken meanwhile, can write no more and says so.
func TestLostLock(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	first, err := postgres.OpenWith(t.Context(), address, soon)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, first.Close()) })
	accept(t, first, "before")
	db := plainly(t, "pgx", address)
	taken := make(chan error, 1)
	go func() {
		second, err := postgres.OpenWith(t.Context(), address, patience)
		if err == nil {
			t.Cleanup(func() { second.Close() }) //nolint:errcheck // the test is about the first
		}
		taken <- err
	}()
	require.Eventually(t, func() bool { // until the second waits for the lock, which it then gets before the first can again
		var waiting int
		err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted").Scan(&waiting)
		return err == nil && waiting > 0
	}, 5*time.Minute, 5*time.Millisecond)
	_, err = db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND locktype = 'advisory' AND granted")
	require.NoError(t, err)
	require.NoError(t, <-taken)

	err = first.Accept(t.Context(), run.Run{ID: "after"}, []byte("m"), []byte("{}"))
	require.ErrorContains(t, err, "another Argosy has the store open")
	require.Equal(t, apierr.Unavailable, apierr.KindOf(err))
	require.ErrorContains(t, first.Keep(t.Context()), "another Argosy has the store open")
	_, err = first.Run(t.Context(), "before")
	require.NoError(t, err, "it can still read")
}

// TestBrokenConnections ends the connections of a store, as a firewall or an administrator may. Callers see no error.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := open(t, address)
	db := plainly(t, "pgx", address)
	for i := range 20 {
		accept(t, s, fmt.Sprint(i))
		_, err := s.Run(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		require.NoError(t, err)
		if i%2 == 0 {
			_, err = s.Run(t.Context(), fmt.Sprint(i))
			require.NoError(t, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	go func() { kept <- s.Keep(ctx) }()
	cancel()
	require.NoError(t, <-kept)
}

// TestOutage stops the server: calls fail as worth a retry, those under way wait a little, and all goes on once it is back.
func TestOutage(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	s := open(t, server.Database(t))
	accept(t, s, "before")
	server.Stop(t)
	err := s.Submitted(t.Context(), "before")
	require.Equal(t, apierr.Unavailable, apierr.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "try again")
	_, err = s.Run(t.Context(), "before")
	require.Equal(t, apierr.Unavailable, apierr.KindOf(err), "%v", err)
	begin := time.Now()
	var calls sync.WaitGroup
	for range 30 {
		calls.Go(func() {
			if err := s.Submitted(t.Context(), "before"); err == nil || apierr.KindOf(err) != apierr.Unavailable {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	require.Less(t, time.Since(begin), time.Minute, "many calls wait no longer than few")
	written := make(chan error, 1)
	go func() {
		for {
			err := s.Accept(t.Context(), run.Run{ID: "during", CreatedAt: noon}, []byte("m"), []byte("{}"))
			if err == nil || apierr.KindOf(err) != apierr.Unavailable { // it waits for some seconds; a start may take longer
				written <- err
				return
			}
		}
	}()
	server.Start(t)
	require.NoError(t, <-written)
	require.NoError(t, s.Submitted(t.Context(), "before"))
	_, err = s.Run(t.Context(), "during")
	require.NoError(t, err)
}

// TestOthersWrite: a transaction that the database aborts because of a concurrent one is repeated.
func TestOthersWrite(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	s := open(t, address)
	require.NoError(t, s.CreateExperiment(t.Context(), experiment.Experiment{ID: "e", Name: "e"}))
	accept(t, s, "r")
	other, err := plainly(t, "pgx", address).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer other.Rollback() //nolint:errcheck // it is committed
	_, err = other.ExecContext(t.Context(), `UPDATE runs SET warnings = '["theirs"]'`)
	require.NoError(t, err)
	written := make(chan error, 1)
	go func() { written <- s.AddWarning(t.Context(), "r", "w") }()
	db := plainly(t, "pgx", address)
	require.Eventually(t, func() bool { // until the store's own waits for the other
		var waiting int
		err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND locktype = 'transactionid' AND NOT granted").Scan(&waiting)
		return err == nil && waiting > 0
	}, 5*time.Minute, 5*time.Millisecond)
	require.NoError(t, other.Commit())
	require.NoError(t, <-written)
	r, err := s.Run(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, []string{"theirs", "w"}, r.Warnings)
}

// TestPasswordsStaySecret: no error of an address that cannot be used quotes its password.
func TestPasswordsStaySecret(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for _, address := range []string{
		"postgres://user:SECRET@%zz/db", "postgres://user:SECRET@host:port/db", "postgres://user:SEC/SECRET@host/db", "postgres://user:SEC SECRET@host/db",
		"postgres://user:SECRET@host/db?sslmode=nonsense", "postgres://host/db?password=SECRET&sslmode=nonsense", "postgres://user:SEC#SECRET@host/db",
		"postgres://user:SECRET@" + closed.Addr().String() + "/db", "postgres://" + closed.Addr().String() + "/db?user=u&password=SECRET",
	} {
		_, err := postgres.Open(t.Context(), address)
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "SECRET", address)
		err = postgres.Backup(t.Context(), address, t.TempDir()+"/b")
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "SECRET", address)
	}
	wrong := strings.Replace(pgtest.Database(t), "argosy@", "nobody:SECRET@", 1)
	_, err = postgres.Open(t.Context(), wrong)
	require.ErrorContains(t, err, "nobody")
	require.NotContains(t, err.Error(), "SECRET")
}
