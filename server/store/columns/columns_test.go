package columns

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

var schema = Schema{Ints: []string{"at"}, Words: []string{"state"}, Texts: []string{"id", "name"}}

// newRow makes up a row whose columns have some values in common.
func newRow(random *rand.Rand, key int64) Row {
	r := Row{
		Key: key, Ints: []int64{key/10 + random.Int64N(50)}, Words: []string{fmt.Sprintf("s%d", random.IntN(5))},
		Texts: []string{fmt.Sprintf("%08x", random.Uint32()), fmt.Sprintf("Run %d ÄÖ", random.IntN(300))},
	}
	if random.IntN(3) > 0 {
		r.Tags = append(r.Tags, Tag{"rate", fmt.Sprint(random.IntN(4))}, Tag{"rate", "x"}, Tag{"one", fmt.Sprint(random.IntN(4))})
	}
	if random.IntN(3) > 0 {
		r.Numbers = []Named{{"loss", float64(random.IntN(9)) - 4}}
	}
	return r
}

// filled gives a table of several blocks with changed and removed rows, and its expected content.
func filled(t testing.TB, n int) (*Table, map[int64]Row) {
	table, err := New(t.TempDir(), schema)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Close()) })
	random := rand.New(rand.NewPCG(1, 2))
	want := map[int64]Row{}
	for i := range n {
		r := newRow(random, int64(i))
		want[r.Key] = r
		require.NoError(t, table.Put(r))
	}
	for range n / 10 {
		r := newRow(random, random.Int64N(int64(n)))
		want[r.Key] = r
		require.NoError(t, table.Put(r, r))
	}
	gone := map[string]bool{}
	for i := 0; i < n; i += 17 {
		gone[want[int64(i)].Texts[0]] = true
		delete(want, int64(i))
	}
	require.NoError(t, table.Remove("id", gone))
	return table, want
}

type named struct {
	name   string
	filter Filter
	keeps  func(Row) bool
}

func has(r Row, column string, is func(string) bool) bool {
	return slices.ContainsFunc(r.Tags, func(t Tag) bool { return t.Column == column && is(t.Text) })
}

func filters() []named {
	part, lost := "rUN 12", "ÄÖ\x01"
	return []named{
		{"range", Filter{Columns: []string{"at"}, Ints: [][2]int64{{100, 900}}}, func(r Row) bool { return 100 <= r.Ints[0] && r.Ints[0] <= 900 }},
		{"not in a range", Filter{Columns: []string{"at"}, Not: true, Ints: [][2]int64{{0, 1500}}}, func(r Row) bool { return r.Ints[0] > 1500 }},
		{"ranges", Filter{Columns: []string{"at"}, Ints: [][2]int64{{5, 5}, {90, 200}}}, func(r Row) bool { return r.Ints[0] == 5 || 90 <= r.Ints[0] && r.Ints[0] <= 200 }},
		{"word", Filter{Columns: []string{"state"}, Words: func(s string) bool { return s > "s2" }}, func(r Row) bool { return r.Words[0] > "s2" }},
		{"tag", Filter{Columns: []string{"rate"}, Spans: []Span{Only("1")}}, func(r Row) bool { return has(r, "rate", func(s string) bool { return s == "1" }) }},
		{"not the tag", Filter{Columns: []string{"rate"}, Not: true, Spans: []Span{Only("1")}}, func(r Row) bool { return !has(r, "rate", func(s string) bool { return s == "1" }) }},
		{"part of a name", Filter{Columns: []string{"id", "name"}, Contains: &part}, func(r Row) bool { return strings.Contains(r.Texts[1], "Run 12") }},
		{"no part of a name", Filter{Columns: []string{"name"}, Contains: &lost}, func(Row) bool { return false }},
		{"text", Filter{Columns: []string{"name"}, Spans: []Span{{Before: new("Run 2")}}}, func(r Row) bool { return r.Texts[1] < "Run 2" }},
		{"number", Filter{Columns: []string{"loss"}, Number: func(v float64) bool { return v > 0 }}, func(r Row) bool { return len(r.Numbers) > 0 && r.Numbers[0].Value > 0 }},
		{"a column that none has", Filter{Columns: []string{"none"}, Spans: []Span{Only("1")}}, func(Row) bool { return false }},
	}
}

// order compares rows as a query does.
func order(by string, desc bool) func(a, b Row) int {
	return func(a, b Row) int {
		then, c := cmp.Compare(a.Texts[0], b.Texts[0]), 0
		switch by {
		case "at":
			c = cmp.Compare(a.Ints[0], b.Ints[0])
		case "state":
			c = cmp.Compare(a.Words[0], b.Words[0])
		case "name":
			c = cmp.Compare(a.Texts[1], b.Texts[1])
		case "loss":
			then = cmp.Compare(a.Key, b.Key)
			switch {
			case len(a.Numbers) != len(b.Numbers):
				return len(b.Numbers) - len(a.Numbers) // what lacks it is last either way
			case len(a.Numbers) > 0:
				c = cmp.Compare(a.Numbers[0].Value, b.Numbers[0].Value)
			}
		}
		if c = cmp.Or(c, then); desc {
			return -c
		}
		return c
	}
}

// TestFind compares what is found, page by page, with what a loop over all rows finds.
func TestFind(t *testing.T) {
	t.Parallel()
	table, rows := filled(t, blockRows+3000)
	all := filters()
	for i, f := range all {
		for j, by := range []string{"at", "state", "name", "id", "loss"} {
			asked, keeps := []Filter{f.filter}, f.keeps
			if (i+j)%3 == 0 { // with another
				other := all[(i+j+1)%len(all)]
				asked, keeps = append(asked, other.filter), func(r Row) bool { return f.keeps(r) && other.keeps(r) }
			}
			var want []Row
			for _, r := range rows {
				if keeps(r) {
					want = append(want, r)
				}
			}
			for _, desc := range []bool{false, true} {
				slices.SortFunc(want, order(by, desc))
				q := Query{Filters: asked, By: by, Then: "id", Desc: desc, Limit: 57}
				if by == "loss" {
					q.Then = ""
				}
				checkPages(t, table, q, want, fmt.Sprintf("%s by %s, %v", f.name, by, desc))
			}
		}
	}
}

func checkPages(t *testing.T, table *Table, q Query, want []Row, what string) {
	for _, start := range []int{0, len(want) / 3, len(want) - 20} {
		if start < 0 || start >= len(want) {
			continue
		}
		q.From = nil
		if start > 0 {
			one, total, err := table.Find(t.Context(), Query{Filters: q.Filters, By: q.By, Then: q.Then, Desc: q.Desc, Limit: start + 1})
			require.NoError(t, err)
			require.Equal(t, len(want), total, what)
			q.From = &one[start]
		}
		found, total, err := table.Find(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, len(want), total, what)
		require.Len(t, found, min(q.Limit, len(want)-start), what)
		for i, e := range found {
			require.Equal(t, want[start+i].Key, e.Key, "%s, row %d", what, start+i)
		}
	}
}

// TestGroup compares groups and their sums with those of a loop over all rows.
func TestGroup(t *testing.T) {
	t.Parallel()
	table, rows := filled(t, blockRows+3000)
	only := filters()[0]
	type group struct {
		rows   int
		values []float64
	}
	want := map[string]*group{}
	for key := range int64(blockRows + 3000) {
		r, ok := rows[key]
		if !ok || !only.keeps(r) {
			continue
		}
		text := "lacks"
		for _, tag := range r.Tags {
			if tag.Column == "one" {
				text = tag.Text
			}
		}
		if want[text] == nil {
			want[text] = &group{}
		}
		want[text].rows++
		for _, n := range r.Numbers {
			want[text].values = append(want[text].values, n.Value)
		}
	}
	found, total, err := table.Group(t.Context(), []Filter{only.filter}, "one", []string{"none", "loss"}, 100)
	require.NoError(t, err)
	require.Equal(t, len(want), total)
	require.Len(t, found, total)
	require.Greater(t, total, 2)
	for _, g := range found {
		text := g.Text
		if g.Lacks {
			text = "lacks"
		}
		w := want[text]
		require.Equal(t, []int{w.rows, 0, len(w.values)}, []int{g.Rows, g.Sums[0].Rows, g.Sums[1].Rows}, text)
		mean, squares := 0.0, 0.0
		for _, v := range w.values {
			mean += v / float64(len(w.values))
		}
		for _, v := range w.values {
			squares += (v - mean) * (v - mean)
		}
		require.InDelta(t, mean, g.Sums[1].Mean, 1e-9)
		require.InDelta(t, math.Sqrt(squares/float64(len(w.values)-1)), g.Sums[1].Deviation(), 1e-9)
		require.Equal(t, []float64{slices.Min(w.values), slices.Max(w.values)}, []float64{g.Sums[1].Min, g.Sums[1].Max})
	}
	most, total, err := table.Group(t.Context(), []Filter{only.filter}, "one", []string{"loss"}, 2)
	require.NoError(t, err)
	require.Equal(t, len(want), total)
	slices.SortFunc(found, func(a, b Group) int { return b.Rows - a.Rows })
	require.Equal(t, []int{found[0].Rows, found[1].Rows}, []int{most[0].Rows, most[1].Rows})
}

// TestFromBetween begins at values that no row has.
func TestFromBetween(t *testing.T) {
	t.Parallel()
	table, rows := filled(t, blockRows+500)
	for _, by := range []string{"state", "name"} {
		for _, desc := range []bool{false, true} {
			from := map[string]string{"state": "s2x", "name": "Run 17x"}[by]
			found, _, err := table.Find(t.Context(), Query{By: by, Then: "id", Desc: desc, Limit: len(rows), From: &Entry{Text: from, Then: "5"}})
			require.NoError(t, err)
			want := 0
			for _, r := range rows {
				if value := map[string]string{"state": r.Words[0], "name": r.Texts[1]}[by]; value > from != desc {
					want++
				}
			}
			require.Len(t, found, want, "by %s, %v", by, desc)
		}
	}
	_, _, err := table.Find(t.Context(), Query{By: "at", Then: "name", Limit: 1})
	require.ErrorContains(t, err, "orders rows")
}

func TestSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table, err := New(dir, schema)
	require.NoError(t, err)
	r := newRow(rand.New(rand.NewPCG(1, 1)), 7)
	require.NoError(t, table.Put(r, r))
	live, dead, _ := table.Size()
	require.Equal(t, []int{1, 0}, []int{live, dead}, "what is the same is not put again")
	r.Texts[1] = "other"
	require.NoError(t, table.Put(r))
	live, dead, _ = table.Size()
	require.Equal(t, []int{1, 1}, []int{live, dead})
	require.NoError(t, table.Remove("id", map[string]bool{r.Texts[0]: true}))
	require.NoError(t, table.Remove("id", map[string]bool{r.Texts[0]: true}))
	live, dead, _ = table.Size()
	require.Equal(t, []int{0, 2}, []int{live, dead})
	require.NoError(t, table.Put(r), "a key may come again")
	require.NoError(t, table.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = New(dir+"/none", schema)
	require.ErrorContains(t, err, "make room for the columns of lists")
}

func FuzzLower(f *testing.F) {
	f.Add("ABCxyz[@`{ÄÖ 0123\x7f\x80\xff")
	f.Fuzz(func(t *testing.T, text string) {
		want := []byte(text)
		for i, b := range want {
			if 'A' <= b && b <= 'Z' {
				want[i] = b + 'a' - 'A'
			}
		}
		require.Equal(t, string(want), string(lower(nil, []byte(text))))
	})
}

// TestNames: columns are named that lie in the file, and those that are still in memory.
func TestNames(t *testing.T) {
	t.Parallel()
	table, _ := filled(t, 2*blockRows)
	require.NoError(t, table.Put(Row{Key: 1 << 40, Ints: make([]int64, len(schema.Ints)), Words: make([]string, len(schema.Words)), Texts: make([]string, len(schema.Texts)), Numbers: []Named{{"metric:new", 1}}, Tags: []Tag{{"metric:tag", "X"}}}))
	require.Equal(t, []string{"new", "tag"}, table.Names("metric:"))
	require.Contains(t, table.Names("lo"), "ss")
	require.Empty(t, table.Names("none"))
}
