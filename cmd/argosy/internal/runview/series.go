package runview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// SeriesTable lists the curves of a run.
func SeriesTable(p output.Printer, r *client.Run, all []client.Series) {
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, r.Step(s.NodeID), rankOf(s), strconv.FormatInt(s.Total, 10)})
	}
	p.Rows("no curves", []string{"metric", "step", "rank", "points"}, rows)
}

// SeriesNames tells which curves there are.
func SeriesNames(all []client.Series) string {
	var names []string
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s.Name] {
			seen[s.Name] = true
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// PointTable prints curves point by point, and says where points were left out.
func PointTable(p output.Printer, r *client.Run, curves []client.Series) {
	var rows [][]string
	var less []string
	for _, s := range curves {
		for _, point := range s.Points {
			value := "none"
			if point.Value != nil {
				value = strconv.FormatFloat(*point.Value, 'g', -1, 64)
			}
			rows = append(rows, []string{s.Name, r.Step(s.NodeID), rankOf(s), strconv.FormatInt(point.Step, 10), output.Time(point.PrintedAt), value})
		}
		if n := int64(len(s.Points)); n < s.Total {
			less = append(less, fmt.Sprintf("%s of %s: %d of %d points (%s)", s.Name, r.Step(s.NodeID), n, s.Total, s.Sampling))
		}
	}
	p.Rows("no points", []string{"metric", "step", "rank", "at", "printed", "value"}, rows)
	for _, line := range less {
		fmt.Fprintln(p.Out, line)
	}
}

func rankOf(s client.Series) string {
	if s.Rank == client.Unranked {
		return ""
	}
	return strconv.Itoa(s.Rank)
}
