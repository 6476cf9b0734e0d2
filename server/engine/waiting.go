package engine

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// waitingOf says what a node waits for that has no pod yet: a lock, or room in the namespace's quota. What a pod waits for, the
// pod itself says (see launcher/pending).
func waitingOf(n *wfv1.NodeStatus) string {
	if n.Fulfilled() {
		return ""
	}
	if s := n.SynchronizationStatus; s != nil && s.Waiting != "" {
		return pending.Locked(s.Waiting).Text
	}
	if n.Phase != wfv1.NodePending {
		return ""
	}
	if v := pending.Refused(n.Message); v.Cause == pending.Quota {
		return v.Text
	}
	return ""
}
