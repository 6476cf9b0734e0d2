package supervisor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/cluster/host/readiness"
)

// The children under test are this test binary, told by its first argument what to do.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "child-") {
		os.Exit(childMain(os.Args[1], os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

func childMain(what string, args []string) int {
	switch what {
	case "child-serves":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		if err := readiness.Announce(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		<-term
		return 0
	case "child-ignores-sigterm":
		signal.Ignore(syscall.SIGTERM)
		if err := readiness.Announce(); err != nil {
			return 2
		}
		select {}
	case "child-fails":
		fmt.Fprintln(os.Stderr, "the reason is "+args[0])
		return 7
	case "child-supervises": // a supervisor that will be killed
		pids := make(chan int, 1)
		s := New(Config{
			Program: os.Args[0],
			Log:     func(string) string { return os.DevNull },
			Event: func(e Event) {
				if e.Kind == Ready {
					pids <- e.PID
				}
			},
		})
		if err := s.Start(Child{Name: "grandchild", Args: []string{"child-serves"}}); err != nil {
			return 2
		}
		fmt.Println(<-pids)
		select {}
	}
	return 1
}

func TestDeadChildIsRestarted(t *testing.T) {
	t.Parallel()
	s, events := supervise(t)
	require.NoError(t, s.Start(Child{Name: "a", Args: []string{"child-serves"}}))
	require.NoError(t, s.Wait(t.Context(), "a"))
	first := events.await(t, "a", Ready, 0)

	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	require.ErrorContains(t, events.await(t, "a", Exited, 0).Err, "killed")
	second := events.await(t, "a", Ready, 1)
	require.NotEqual(t, first.PID, second.PID)
}

func TestFollowerRestartsWithItsLeader(t *testing.T) {
	t.Parallel()
	s, events := supervise(t)
	require.NoError(t, s.Start(Child{Name: "leader", Args: []string{"child-serves"}}))
	require.NoError(t, s.Start(Child{Name: "follower", Args: []string{"child-serves"}, Follows: "leader"}))
	require.NoError(t, s.Start(Child{Name: "other", Args: []string{"child-serves"}}))
	require.NoError(t, s.Wait(t.Context(), "leader", "follower", "other"))

	require.NoError(t, syscall.Kill(events.await(t, "leader", Ready, 0).PID, syscall.SIGKILL))
	events.await(t, "leader", Ready, 1)
	events.await(t, "follower", Ready, 1)
	require.Zero(t, events.count("other", Exited))
}

func TestStopGoesFromTheHighestStageDown(t *testing.T) {
	t.Parallel()
	s, events := supervise(t)
	for i, name := range []string{"store", "controller", "node"} {
		require.NoError(t, s.Start(Child{Name: name, Args: []string{"child-serves"}, Stage: i}))
	}
	require.NoError(t, s.Wait(t.Context(), "store", "controller", "node"))
	s.Stop()
	require.Equal(t, []string{"node", "controller", "store"}, events.order(Exited))
	s.Stop() // idempotent
	require.Error(t, s.Start(Child{Name: "late", Args: []string{"child-serves"}}))
}

func TestStubbornChildIsKilledAfterItsGrace(t *testing.T) {
	t.Parallel()
	s, events := supervise(t)
	const grace = 50 * time.Millisecond
	require.NoError(t, s.Start(Child{Name: "a", Args: []string{"child-ignores-sigterm"}, Grace: grace}))
	require.NoError(t, s.Wait(t.Context(), "a"))
	start := time.Now()
	s.Stop()
	require.GreaterOrEqual(t, time.Since(start), grace)
	require.ErrorContains(t, events.await(t, "a", Exited, 0).Err, "killed")
}

func TestChildThatNeverServesIsGivenUp(t *testing.T) {
	t.Parallel()
	s, events := supervise(t)
	require.NoError(t, s.Start(Child{Name: "a", Args: []string{"child-fails", "a full moon"}}))
	err := s.Wait(t.Context(), "a")
	require.ErrorContains(t, err, "exit status 7")
	require.ErrorContains(t, err, "the reason is a full moon", "the last lines of its log are part of the error")
	require.Equal(t, attempts, events.count("a", Exited))
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _ := supervise(t)
	never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	require.NoError(t, s.Start(Child{Name: "a", Args: []string{"child-serves"}, Ready: never}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Wait(ctx, "a"), context.DeadlineExceeded)
}

func TestInheritedFiles(t *testing.T) {
	t.Parallel()
	s, events := supervise(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	// The announcement comes after the inherited files; a wrong number would end in a failed write.
	require.NoError(t, s.Start(Child{Name: "a", Args: []string{"child-serves"}, Files: []*os.File{r, w}, Grace: 5 * time.Minute}))
	require.NoError(t, s.Wait(t.Context(), "a"))
	s.Stop()
	require.NoError(t, events.await(t, "a", Exited, 0).Err)
	require.NoError(t, w.Close(), "the supervisor leaves the files open")
}

func TestChildrenDieWithAKilledSupervisor(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "child-supervises")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var grandchild int
	_, err = fmt.Fscan(out, &grandchild)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(grandchild, 0), "it lives")

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { return gone(grandchild) }, 5*time.Minute, 5*time.Millisecond)
}

func TestBigLogIsMovedAtTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.log")
	require.NoError(t, os.WriteFile(path, make([]byte, maxLog), 0o600))
	f, err := OpenLog(path)
	require.NoError(t, err)
	_, err = f.WriteString("one\ntwo\nthree\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	old, err := os.Stat(path + ".1")
	require.NoError(t, err)
	require.EqualValues(t, maxLog, old.Size())
	require.Equal(t, "\na.log ends with:\n    two\n    three", Tail(path, 2))
	require.Empty(t, Tail(path+".none", 2))
}

// gone reports whether a process ended; a zombie counts.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(state, "Z")
}

func supervise(t *testing.T) (*Supervisor, *journal) {
	t.Helper()
	dir, events := t.TempDir(), &journal{}
	events.changed.L = &events.mu
	s := New(Config{
		Program: os.Args[0],
		Log:     func(name string) string { return filepath.Join(dir, name+".log") },
		Event:   events.add,
	})
	t.Cleanup(s.Stop)
	return s, events
}

// journal keeps events and lets a test wait for one.
type journal struct {
	mu      sync.Mutex
	changed sync.Cond
	events  []Event
}

func (j *journal) add(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
	j.changed.Broadcast()
}

func (j *journal) await(t *testing.T, child string, kind Kind, restarts int) Event {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		for _, e := range j.events {
			if e.Child == child && e.Kind == kind && e.Restarts == restarts {
				return e
			}
		}
		j.changed.Wait()
	}
}

func (j *journal) count(child string, kind Kind) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e.Child == child && e.Kind == kind {
			n++
		}
	}
	return n
}

func (j *journal) order(kind Kind) (children []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e.Kind == kind {
			children = append(children, e.Child)
		}
	}
	return children
}
