package sqlstore

import (
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/page"
)

// indexes are those on runs by what they begin with and go on with; each ends with the id, and there is one of every
// storage state. "" begins with nothing else.
var indexes = map[string][]string{
	"":              {"created_at", "scheduled_at", "finished_at", "name", "description"},
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

// byID is SQLite's own index on the ids of runs. It has both storage states, but no order is more even: whatever a list is
// of, its runs lie everywhere in it.
const byID = "sqlite_autoindex_runs_1"

// What it costs to look at a row that an index does not tell enough of, and to sort one; to look at an index alone is ten
// times cheaper.
const (
	visit     = 1.0
	sortOne   = 0.6
	indexOnly = 0.1
)

// plan chooses the index by which a page is read. SQLite has no idea how many rows a value has, and would take the first
// index that fits the filter and sort what it finds, be it half of all runs. There are two ways: along the order that is
// asked for, past what does not match, until the page is full; or through all that match, to sort them. The first is cheap
// when many match, the second when few do. At worst, when a few thousands of a million match, both touch some ten thousand rows.
func (l *runList) plan(p part, by string, leads []lead) string {
	best, cheapest := "", p.gather(l, leads)+float64(p.matches)*(visit+sortOne)
	if beside(l.others) {
		best, cheapest = byRow, float64(p.matches)*(visit+sortOne)
	}
	if p.known(l.others) { // no order that is asked for is better than the few runs that are meant
		return byID
	}
	along := func(name string, of int64) {
		if cost := float64(of) / float64(max(p.matches, 1)) * float64(l.limit) * visit; cost <= cheapest {
			best, cheapest = name, cost
		}
	}
	if by == "id" {
		along(byID, l.seqs)
	}
	for _, lead := range append([]lead{{}}, leads...) {
		if slices.Contains(indexes[lead.name], by) {
			along(index(p.state, lead.name, by), p.of(lead))
		}
	}
	if best == "" {
		return l.cheapest(p, leads, l.others)
	}
	return best
}

// byRow has runs looked up by their own numbers, as what lies beside them names them.
const byRow = "NOT INDEXED"

// beside tells whether a parameter, a label or a metric is asked for, which an index of its own finds.
func beside(others []page.Predicate) bool {
	return slices.ContainsFunc(others, func(o page.Predicate) bool {
		return strings.Contains(o.Key, ":") && o.Op != page.NotEquals
	})
}

// known tells whether ids are asked for, which are found at once.
func (p part) known(others []page.Predicate) bool {
	return slices.ContainsFunc(others, func(o page.Predicate) bool { return o.Key == "id" && (o.Op == page.Equals || o.Op == page.In) })
}

// of is how many runs a lead has.
func (p part) of(l lead) int64 {
	if l.name == "" {
		return p.runs
	}
	return p.ofLead[l.name]
}

// cheapest is the index that finds what matches, in whatever order, with the least effort.
func (l *runList) cheapest(p part, leads []lead, others []page.Predicate) string {
	if p.known(others) {
		return byID
	}
	if beside(others) {
		return byRow
	}
	best, least := "", 0.0
	p.each(leads, func(lead lead, field string) {
		if cost := l.access(p, lead, field, others); best == "" || cost <= least {
			best, least = index(p.state, lead.name, field), cost
		}
	})
	return best
}

// gather is what it costs.
func (p part) gather(l *runList, leads []lead) float64 {
	least := float64(p.runs)
	p.each(leads, func(lead lead, field string) {
		least = min(least, l.access(p, lead, field, l.others))
	})
	return least
}

func (p part) each(leads []lead, f func(lead lead, field string)) {
	for _, lead := range append([]lead{{}}, leads...) {
		for _, field := range indexes[lead.name] {
			f(lead, field)
		}
	}
}

// access guesses what it costs to find what matches by an index: how many of its entries are looked at, and whether they
// tell enough.
func (l *runList) access(p part, of lead, field string, others []page.Predicate) float64 {
	cost, covered := float64(p.of(of)), true
	if slices.ContainsFunc(others, func(o page.Predicate) bool { return o.Key == field && o.Op == page.Substring }) {
		return cost * (indexOnly + visit/50) // few have it, and the others are passed by in the index
	}
	for _, k := range l.kinds {
		covered = covered && of.name != "" && strings.HasPrefix(k.sql, "runs."+of.name+" ")
	}
	for _, o := range others {
		covered = covered && (o.Key == field || o.Key == "id")
		if o.Key != field {
			continue
		}
		switch o.Op {
		case page.Equals, page.In:
			cost /= 1000
		case page.GreaterThan, page.GreaterThanOrEqual, page.LessThan, page.LessThanOrEqual:
			cost /= 3
		}
	}
	if covered {
		return cost * indexOnly
	}
	return cost * visit
}
