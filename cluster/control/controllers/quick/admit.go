package quick

import (
	"time"

	"github.com/argoproj/argo-workflows/v3/workflow/controller"
	"github.com/argoproj/argo-workflows/v3/workflow/sync"
)

// admitFirst admits a workflow that Argo's throttler does not know yet. Argo queues a new workflow before it informs the throttler. A
// worker that is quicker than the next statement finds it refused: the workflow is then Pending as if too many ran, and Argo never records
// how its pods are named, so that clients look for their logs under other names.
type admitFirst struct{ sync.Throttler }

// Admit adds the workflow where the throttler refuses it. Of one that waits for its turn that changes nothing.
func (t admitFirst) Admit(key sync.Key) bool {
	if t.Throttler.Admit(key) {
		return true
	}
	t.Add(key, 0, time.Now()) // Argo's own call follows, and sets the priority
	return t.Throttler.Admit(key)
}

// admitNew gives the controller its admitFirst. The controller must not run yet.
func admitNew(c *controller.WorkflowController) error {
	throttler, err := field[controller.WorkflowController, sync.Throttler]("throttler")
	if err != nil {
		return err
	}
	t := throttler(c)
	*t = admitFirst{*t}
	return nil
}
