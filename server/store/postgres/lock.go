package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The lock that tells that a process has the store open; its second part is the schema, as one database may hold several stores.
const lockKey = 0x4172676f // "Argo"

// lock gives what a connection does before it may write: it takes the lock, for as long as it lives. A process that
// loses its connection loses the lock with it, and writes again only if no other process has taken the lock.
func lock(patience time.Duration) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, c *pgx.Conn) error {
		err := takeLock(ctx, c, patience)
		if err != nil {
			_ = c.Close(ctx) // the pool will not
		}
		return err
	}
}

func takeLock(ctx context.Context, c *pgx.Conn, patience time.Duration) error {
	// The server shall notice within seconds that the machine of this connection is gone: until then the lock is held.
	set := fmt.Sprintf("SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET lock_timeout = %d", patience.Milliseconds())
	if _, err := c.Exec(ctx, set); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "SELECT pg_advisory_lock($1::int, hashtext(current_schema()))", lockKey)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "55P03" {
		return &inUseError{holder(ctx, c)}
	}
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "SET lock_timeout = 0")
	return err
}

// holder describes the process that has the lock.
func holder(ctx context.Context, c *pgx.Conn) string {
	const ask = `SELECT a.application_name || ', connected since ' || to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ')
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid = $1::int::oid AND l.objid = hashtext(current_schema())::oid LIMIT 1`
	var found string
	if err := c.QueryRow(ctx, ask, lockKey).Scan(&found); err != nil {
		return "it could not be found out which: " + err.Error()
	}
	return found
}

// inUseError says that another process has the store open.
type inUseError struct{ holder string }

func (e *inUseError) Error() string {
	return fmt.Sprintf("another Argosy has the store open (%s); only one at a time may write to it: stop it, or give this one a database of its own", e.holder)
}

func inUse(err error) bool { return errors.As(err, new(*inUseError)) }
