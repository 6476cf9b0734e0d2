package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/client"
)

// nodeRows are the nodes of a job with the pods on each, such as "ps 0, worker 0-1".
func nodeRows(workers []client.Worker) (rows [][]string) {
	byNode := map[string][]client.Worker{}
	for _, w := range workers {
		if w.Node != "" {
			byNode[w.Node] = append(byNode[w.Node], w)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		rows = append(rows, []string{node, pods(byNode[node])})
	}
	return rows
}

// pods names workers by role and number, those that follow each other as one range.
func pods(workers []client.Worker) string {
	workers = slices.SortedFunc(slices.Values(workers), func(a, b client.Worker) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
	})
	var parts []string
	for first := 0; first < len(workers); {
		last := first
		for last+1 < len(workers) && workers[last+1].Role == workers[first].Role && workers[last+1].Index == workers[last].Index+1 {
			last++
		}
		part := place(workers[first])
		if last > first {
			part = fmt.Sprintf("%s-%d", part, workers[last].Index)
		}
		parts = append(parts, part)
		first = last + 1
	}
	return strings.Join(parts, ", ")
}

// priority is such as "1000 (urgent)"; empty for a job without one.
func priority(j *client.RunJob) string {
	switch {
	case j.Priority == nil || *j.Priority == 0 && j.PriorityClass == "":
		return ""
	case j.PriorityClass == "":
		return fmt.Sprint(*j.Priority)
	}
	return fmt.Sprintf("%d (%s)", *j.Priority, j.PriorityClass)
}

// preemption says when and for whom a job lost its room; empty when it never did.
func preemption(j *client.RunJob) string {
	p := j.Preemption
	if p == nil {
		return ""
	}
	by := "pods of higher priority"
	if p.Name != "" {
		by = fmt.Sprintf("%s %s (priority %d)", p.Kind, p.Name, p.Priority)
	}
	if run := cmp.Or(p.RunName, p.RunID); run != "" {
		by += " of run " + run
	}
	return fmt.Sprintf("%s ago by %s", age(p.At), by)
}
