package quick

import (
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/argoproj/argo-workflows/v3/workflow/controller"
)

// resync is the pause after which Argo looks at every workflow again (workflowResyncPeriod).
const resync = 20 * time.Minute

// duePrecision rounds due times: each look at a workflow computes the same deadline slightly differently.
const duePrecision = 10 * time.Millisecond

// dueQueue keeps every time at which Argo wants to look at a workflow. The usual queue keeps one time per workflow, the earliest: a change
// of the workflow drops the look at its deadline, at the end of its suspension or of a retry's pause. Argo's usual pause of ten seconds after
// a change hides that for shorter times; here the pause is milliseconds.
type dueQueue struct {
	workqueue.TypedRateLimitingInterface[string]

	mu     sync.Mutex
	due    map[string][]time.Time
	begun  time.Time
	looked map[string]bool // keys that had their first look; nil once firstLooks is over
}

// firstLooks is how long after its start the controller looks at each workflow again after the first look.
//
// An earlier controller may have made a pod and been killed before it recorded the pod in the workflow. The first look finds the pod and
// records it as pending. If the pod had ended by then, no event follows, and the workflow would stay as it is until the resync. One more
// look comes soon, and one later for a slow machine.
const firstLooks = 5 * time.Minute

var looksAgain = []time.Duration{time.Second, 15 * time.Second}

func newDueQueue(q workqueue.TypedRateLimitingInterface[string]) *dueQueue {
	return &dueQueue{TypedRateLimitingInterface: q, due: map[string][]time.Time{}, begun: time.Now(), looked: map[string]bool{}}
}

// Done ends a look. The first look at a workflow soon after the start causes others.
func (q *dueQueue) Done(key string) {
	q.TypedRateLimitingInterface.Done(key)
	if q.isFirst(key) {
		for _, d := range looksAgain {
			q.AddAfter(key, d)
		}
	}
}

func (q *dueQueue) isFirst(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.looked == nil || time.Since(q.begun) > firstLooks {
		q.looked = nil
		return false
	}
	first := !q.looked[key]
	q.looked[key] = true
	return first
}

func (q *dueQueue) AddAfter(key string, d time.Duration) {
	if d > 0 && d != resync { // which follows each look, and which each look may put off
		at := time.Now().Add(d).Truncate(duePrecision).Add(duePrecision)
		q.mu.Lock()
		if !slices.ContainsFunc(q.due[key], at.Equal) {
			q.due[key] = append(q.due[key], at)
		}
		q.mu.Unlock()
		d = time.Until(at)
	}
	q.TypedRateLimitingInterface.AddAfter(key, d)
}

// Get asks again for the next time of a key that is due.
func (q *dueQueue) Get() (key string, shutdown bool) {
	key, shutdown = q.TypedRateLimitingInterface.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	later := slices.DeleteFunc(q.due[key], func(at time.Time) bool { return !at.After(now) })
	if len(later) == 0 {
		delete(q.due, key)
		return key, shutdown
	}
	q.due[key] = later
	q.TypedRateLimitingInterface.AddAfter(key, time.Until(slices.MinFunc(later, time.Time.Compare)))
	return key, shutdown
}

// lookWhenDue gives the controller its dueQueue. The controller must not run yet.
func lookWhenDue(c *controller.WorkflowController) error {
	queue, err := field[controller.WorkflowController, workqueue.TypedRateLimitingInterface[string]]("wfQueue")
	if err != nil {
		return err
	}
	q := queue(c)
	*q = newDueQueue(*q)
	return nil
}
