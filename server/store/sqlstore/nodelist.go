package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// began is a node's place in lists: those that did not begin come last.
const began = "CASE WHEN nodes.started_at = 0 THEN 9223372036854775807 ELSE nodes.started_at END"

// shownPhase is run.Node's Shown.
const shownPhase = "CASE WHEN nodes.phase = '" + run.Running + "' AND nodes.waiting <> '' THEN '" + run.Pending + "' ELSE nodes.phase END"

// ListNodes implements run.Store. It reads the nodes of one run, by its index; whole rows only of the page.
func (s *nodes) ListNodes(ctx context.Context, id string, q run.NodeQuery) (listing.Page[run.Node], error) {
	row, err := s.read().RunRow(ctx, id)
	if err != nil {
		return listing.Page[run.Node]{}, missing("run", id, err)
	}
	where := []condition{{"nodes.run = ?", []any{row.Seq}}}
	for column, values := range map[string][]string{shownPhase: q.Phases, "nodes.type": q.Types} {
		if len(values) > 0 {
			where = append(where, condition{column + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")", anys(values)})
		}
	}
	if q.Name != "" {
		where = append(where, condition{`(nodes.name LIKE ? ESCAPE '\' OR nodes.display_name LIKE ? ESCAPE '\')`, []any{containing(q.Name), containing(q.Name)}})
	}
	db := s.driver.conn(s.reads)
	p := listing.Page[run.Node]{}
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM nodes"+whereClause(where), arguments(where)...).Scan(&p.Total); err != nil {
		return p, trouble("count nodes", err)
	}
	if q.Start != nil {
		from, err := field{kind: moment}.cursorValue(q.Start.Value)
		if err != nil {
			return p, err
		}
		where = append(where, condition{"(" + began + ", nodes.id) >= (?, ?)", []any{from, q.Start.ID}})
	}
	statement := fmt.Sprintf("SELECT 0, nodes.id, %s AS began FROM nodes%s ORDER BY began, nodes.id LIMIT ?", began, whereClause(where))
	found, err := entries(ctx, db, statement, append(arguments(where), q.Size+1))
	if err != nil {
		return p, err
	}
	if len(found) > q.Size {
		p.Next = &listing.Cursor{Value: found[q.Size].value, ID: found[q.Size].id}
		found = found[:q.Size]
	}
	ids := make([]string, len(found))
	for i, e := range found {
		ids[i] = e.id
	}
	rows, err := s.read().NodesByID(ctx, query.NodesByIDParams{Run: row.Seq, Ids: ids})
	if err != nil {
		return p, trouble("read nodes", err)
	}
	slices.SortFunc(rows, func(a, b query.Node) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	p.Items, err = nodesOf(rows)
	return p, err
}

func anys(texts []string) (as []any) {
	for _, t := range texts {
		as = append(as, t)
	}
	return as
}
