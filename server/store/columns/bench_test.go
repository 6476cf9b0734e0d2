package columns

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkFind asks for pages of a million rows.
func BenchmarkFind(b *testing.B) {
	table, _ := filled(b, 1_000_000)
	part := "un 12"
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"newest", Query{By: "at", Then: "id", Desc: true, Limit: 101}},
		{"by word", Query{By: "state", Then: "id", Limit: 101}},
		{"by text", Query{By: "name", Then: "id", Limit: 101}},
		{"by id", Query{By: "id", Then: "id", Limit: 101}},
		{"by number", Query{By: "loss", Limit: 101}},
		{"part of a text", Query{By: "at", Then: "id", Limit: 101, Filters: []Filter{{Columns: []string{"name"}, Contains: &part}}}},
		{"tag", Query{By: "at", Then: "id", Limit: 101, Filters: []Filter{{Columns: []string{"rate"}, Spans: []Span{Only("1")}}}}},
		{"word", Query{By: "at", Then: "id", Desc: true, Limit: 101, Filters: []Filter{{Columns: []string{"state"}, Words: func(w string) bool { return w == "s1" }}}}},
		{"text", Query{By: "at", Then: "id", Limit: 101, Filters: []Filter{{Columns: []string{"name"}, Spans: []Span{{From: After("Run 2")}}}}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := table.Find(b.Context(), c.q)
				require.NoError(b, err)
			}
		})
	}
}
