package seed

import (
	"time"

	"github.com/argosy-ml/argosy/server/run"
)

// Nodes gives the nodes of a run: its steps, one after the other.
func (w *World) Nodes(r run.Run) []run.Node {
	steps := run.Node{
		ID: r.Workflow, Name: r.Workflow, DisplayName: r.Workflow, Type: "Steps", Template: "main",
		Phase: r.Status, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Children: []string{r.Workflow + "-0"}, Harvested: run.Final(r.Status), LogRevision: 1,
	}
	found := []run.Node{steps}
	for i, name := range []string{"load", "train"} {
		n := steps
		n.ID, n.DisplayName, n.Type, n.Template, n.BoundaryID = r.Workflow+"-"+string(rune('0'+i)), name, "Pod", name, steps.ID
		n.Name, n.PodName, n.Children = r.Workflow+"."+name, n.ID, nil
		if i == 0 {
			n.Phase, n.Children = run.Succeeded, []string{r.Workflow + "-1"}
		}
		n.Inputs = r.Parameters
		found = append(found, n)
	}
	return found
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
