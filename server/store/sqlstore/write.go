package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// How long a transaction is tried again, and how often Keep looks.
const (
	patience  = 3 * time.Second
	keepEvery = 5 * time.Second
)

// alone runs f in one transaction, which is durable when alone returns without error. A transaction that the database gave
// up, or whose connection broke before it was committed, is begun again: f may run more than once.
func (s *db) alone(ctx context.Context, f func(*query.Queries) error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 10*time.Millisecond, 500*time.Millisecond
	var err error
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		var again bool
		if again, err = s.transaction(ctx, f); again {
			return struct{}{}, err
		}
		return struct{}{}, backoff.Permanent(err)
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(patience))
	return err
}

// transaction runs f in a transaction and tells, when that fails, whether it may be tried again.
func (s *db) transaction(ctx context.Context, f func(*query.Queries) error) (again bool, err error) {
	tx, err := s.writes.BeginTx(ctx, &s.driver.Write)
	if err != nil {
		if s.driver.InUse != nil && s.driver.InUse(err) {
			return false, apierr.New(apierr.Unavailable, "%v", err)
		}
		return unreachable(err), trouble("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
	if err := f(query.New(s.driver.conn(tx))); err != nil {
		return givenUp(err) || unreachable(err), err
	}
	if err := tx.Commit(); err != nil { // when the connection broke, the commit is uncertain
		return givenUp(err), trouble("commit", err)
	}
	return false, nil
}

// Keep watches over the right to write until ctx ends. It fails when another process has taken the store over.
func (s *db) Keep(ctx context.Context) error {
	if s.driver.InUse == nil {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	for {
		if err := s.writes.PingContext(ctx); err != nil && s.driver.InUse(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// trouble wraps an error of the database for the log; the caller can do nothing about it but try again.
func trouble(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	because := fmt.Errorf("store: %s: %w", doing, err)
	if unreachable(err) {
		return apierr.New(apierr.Unavailable, "the store does not answer; try again in a moment").Because(because)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return apierr.New(apierr.Internal, "the store failed").Because(because)
}

// stateOf gives the SQLSTATE of an error; empty when it has none, as those of SQLite.
func stateOf(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}

// givenUp tells whether the database gave a transaction up because of another one.
func givenUp(err error) bool {
	state := stateOf(err)
	return state == "40001" || state == "40P01" // serialization failure, deadlock
}

// unreachable tells whether err is the connection's, or that of a server that starts, stops or takes no more connections.
func unreachable(err error) bool {
	if state := stateOf(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") || state == "53300"
	}
	var network *net.OpError // net.Error would take the end of the caller's own time for one
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}
