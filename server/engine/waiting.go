package engine

import (
	"fmt"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// waitingOf says what a node waits for that has no pod yet: a lock, or room in the namespace's quota. What a pod waits for, the
// pod itself says (see launcher/pending).
func waitingOf(n *wfv1.NodeStatus) string {
	if n.Fulfilled() {
		return ""
	}
	if s := n.SynchronizationStatus; s != nil && s.Waiting != "" {
		return fmt.Sprintf("another step or run holds the lock %s", s.Waiting)
	}
	if n.Phase != wfv1.NodePending {
		return ""
	}
	if _, quota, ok := strings.Cut(n.Message, "exceeded quota: "); ok {
		return "the namespace's quota has no room for its pod: " + strings.Join(strings.Fields(quota), " ")
	}
	return ""
}
