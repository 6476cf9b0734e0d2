package sqlstore

import (
	"slices"
)

// indexes are those on runs by what they begin with and go on with; each ends with the id, and there is one of every
// storage state. "" begins with nothing else.
var indexes = map[string][]string{
	"":              {"created_at", "scheduled_at", "finished_at", "name"},
	"experiment_id": {"created_at", "scheduled_at", "finished_at", "name"},
	"schedule_id":   {"created_at", "scheduled_at", "name"},
	"pipeline_id":   {"created_at", "name"},
	"status":        {"created_at"},
}

// index is the name of one of them.
func index(state, lead, field string) string {
	name := "runs_available_"
	if state == archived {
		name = "runs_archived_"
	}
	if lead != "" {
		name += lead + "_"
	}
	return name + field
}

// few is how many runs are looked at or sorted for a page rather than all runs by column.
const few = 2000

// A way is an index to read the runs of a storage state in order.
type way struct {
	state, index string
}

// ways gives the ways by which a page costs about as much as it shows; ok is false when there are none. Nothing is left to
// luck: an index has just the runs of the list, in its order, or the runs that it has are few.
func (l *runList) ways(parts []part) (ways []way, ok bool) {
	for _, p := range parts {
		if p.matches == 0 {
			continue
		}
		index, ok := l.way(p)
		if !ok {
			return nil, false
		}
		ways = append(ways, way{p.state, index})
	}
	return ways, true
}

func (l *runList) way(p part) (name string, ok bool) {
	by := l.q.SortBy
	switch {
	case len(l.kinds) == 0 && slices.Contains(indexes[""], by):
		return index(p.state, "", by), true
	case len(l.kinds) == 1 && len(l.leads) == 1 && slices.Contains(indexes[l.leads[0].name], by):
		return index(p.state, l.leads[0].name, by), true
	case byMetric(by):
		return "", false
	}
	for _, lead := range l.leads {
		if p.ofLead[lead.name] <= few {
			return index(p.state, lead.name, "created_at"), true
		}
	}
	if p.runs <= few {
		return index(p.state, "", "created_at"), true
	}
	return "", false
}
