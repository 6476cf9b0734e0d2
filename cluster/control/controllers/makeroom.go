package controllers

import (
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"
)

// makeRoom is a plugin of Volcano's scheduler. It lets a gang into its queue while the cluster is full, if pods that run could make room
// for it: those of lower priority in its queue, and those in other queues that their gangs do not need. Volcano's own plugins would
// keep it out, and the actions preempt and reclaim look only at gangs that are in.
type makeRoom struct{}

func newMakeRoom(framework.Arguments) framework.Plugin { return makeRoom{} }

func (makeRoom) Name() string { return "make-room" }

func (p makeRoom) OnSessionOpen(ssn *framework.Session) {
	ssn.AddJobEnqueueableFn(p.Name(), func(o any) int {
		gang, ok := o.(*api.JobInfo)
		if !ok || !open(ssn.Queues[gang.Queue]) {
			return util.Abstain
		}
		for _, other := range ssn.Jobs {
			if yields(other, gang) {
				return util.Permit
			}
		}
		return util.Abstain
	})
}

func (makeRoom) OnSessionClose(*framework.Session) {}

func open(q *api.QueueInfo) bool {
	return q != nil && q.Queue.Status.State == scheduling.QueueStateOpen
}

// yields tells whether a job has pods that could make room for the gang.
func yields(other, gang *api.JobInfo) bool {
	if other.Queue == gang.Queue {
		return other.Priority < gang.Priority && !other.Allocated.IsEmpty()
	}
	return !other.GetElasticResources().IsEmpty()
}
