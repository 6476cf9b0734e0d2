package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// maxGroup bounds how many writes are committed as one.
const maxGroup = 64

// A job is a write that waits for its commit.
type job struct {
	ctx  context.Context //nolint:containedctx // of the caller that waits for it
	f    func(*query.Queries) error
	err  error
	done chan struct{} // closed when err is known
}

// commits collects writes: those that come while one is being committed are committed together afterwards, since to make
// something durable takes the disk far longer than to write it. There is no goroutine for it: of those who wait, one does the
// work of all.
type commits struct {
	mu    sync.Mutex
	queue []*job
	turn  chan struct{} // held by the one who works
}

func newCommits() *commits { return &commits{turn: make(chan struct{}, 1)} }

// write runs f in a transaction, which is durable when write returns without error. Others may share the transaction; the
// result of f is its own. f may run more than once.
func (s *db) write(ctx context.Context, f func(*query.Queries) error) (err error) {
	if s.onWrite != nil {
		begun := time.Now()
		defer func() { s.onWrite(time.Since(begun), err != nil) }()
	}
	j := &job{ctx: ctx, f: f, done: make(chan struct{})}
	c := s.commits
	c.mu.Lock()
	c.queue = append(c.queue, j)
	c.mu.Unlock()
	for {
		select {
		case <-j.done:
			return j.err
		case c.turn <- struct{}{}:
			s.work()
		case <-ctx.Done():
			if c.withdraw(j) {
				return ctx.Err()
			}
			<-j.done // it has begun; its outcome is open
			return j.err
		}
	}
}

func (c *commits) take() []*job {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.queue), maxGroup)
	jobs := slices.Clone(c.queue[:n])
	c.queue = slices.Delete(c.queue, 0, n)
	return jobs
}

// withdraw takes back a job that has not begun.
func (c *commits) withdraw(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.queue, j)
	if i < 0 {
		return false
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	return true
}

// work does the jobs that wait together, or, when something other than a job itself fails, one by one.
func (s *db) work() {
	jobs := s.commits.take()
	done := 0
	defer func() {
		for _, j := range jobs[done:] { // after a panic
			j.err = apierr.New(apierr.Internal, "the store failed")
			close(j.done)
		}
		<-s.commits.turn
	}()
	shared := len(jobs) > 1 && s.together(jobs)
	var down error // the store does not answer: the others need not find that out one after the other
	for _, j := range jobs {
		switch {
		case down != nil:
			j.err = down
		case !shared:
			if j.err = s.alone(j.ctx, j.f); j.err != nil && apierr.KindOf(j.err) == apierr.Unavailable {
				down = j.err
			}
		}
		done++
		close(j.done)
	}
}

// together runs jobs in one transaction, each in a savepoint of its own, to which the transaction returns if the job fails. It
// reports whether the outcome of each job is known.
func (s *db) together(jobs []*job) bool {
	ctx := context.Background() // that one caller has gone must not undo what the others wait for
	tx, err := s.writes.BeginTx(ctx, &s.driver.Write)
	if err != nil {
		return false
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
	for _, j := range jobs {
		if j.err = j.ctx.Err(); j.err == nil && !s.within(ctx, tx, j) {
			return false
		}
	}
	err = tx.Commit()
	if givenUp(err) {
		return false
	}
	for _, j := range jobs {
		if err != nil && j.err == nil { // when the connection broke, the commit is uncertain
			j.err = trouble("commit", err)
		}
	}
	return true
}

// within does a job in a transaction, and tells whether the transaction can go on.
func (s *db) within(ctx context.Context, tx *sql.Tx, j *job) bool {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT job"); err != nil {
		return false
	}
	if j.err = j.f(query.New(s.driver.conn(tx))); j.err != nil {
		if givenUp(j.err) || unreachable(j.err) || j.ctx.Err() != nil { // a statement that is interrupted takes the transaction with it
			return false
		}
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO job"); err != nil {
			return false
		}
	}
	_, err := tx.ExecContext(ctx, "RELEASE job")
	return err == nil
}
