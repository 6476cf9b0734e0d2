package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

func TestSortBy(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		field string
		desc  bool
	}{
		"":                          {"created_at", false},
		"name":                      {"name", false},
		"Name ASC":                  {"name", false},
		"  created_at   Desc ":      {"created_at", true},
		"metric:Train-Accuracy":     {"metric:Train-Accuracy", false},
		"Metric:images/sec desc":    {"metric:images/sec", true},
		"metric:":                   {"metric:", false}, // the store refuses it
		"METRICS":                   {"metrics", false},
		"storage_state\tdesc":       {"storage_state", true},
		"metric:with-ümlaut-Ä DESC": {"metric:with-ümlaut-Ä", true},
	} {
		field, desc, err := sortBy(in)
		require.NoError(t, err, in)
		require.Equal(t, want.field, field, in)
		require.Equal(t, want.desc, desc, in)
	}
}

// FuzzList reads anything that a client may send: it is refused as the client's fault, or it makes a query whose next
// page is the same query.
func FuzzList(f *testing.F) {
	f.Add(int32(0), "", "", "")
	f.Add(int32(7), "name desc", `{"predicates":[{"op":"EQUALS","key":"name","string_value":"50%_off"}]}`, "")
	f.Add(int32(7), "metric:images/sec", `%7B%22predicates%22%3A%5B%5D%7D`, "")
	f.Add(int32(-1), "a b c", `{"predicates":[{"op":8,"key":"id","string_values":{"values":["a"]}}]}`, "eyJzb3J0X2J5IjoibmFtZSJ9")
	f.Add(int32(500), "", "", "eyJzb3J0X2J5IjoibWV0cmljOmEiLCJzdGFydCI6eyJ2YWx1ZSI6NSwiaWQiOiJ4In19")
	f.Add(int32(1), "", `{"predicates":[{"op":"IN","key":"n","long_values":{"values":["9223372036854775807"]}},{"op":6,"key":"t","timestamp_value":"2026-01-01T00:00:00Z"}]}`, "")
	f.Fuzz(func(t *testing.T, size int32, sort, filter, token string) {
		q, next, err := query(&kfpv1.ListRunsRequest{PageSize: size, SortBy: sort, Filter: filter, PageToken: token})
		if err != nil {
			require.Equal(t, apierr.Invalid, apierr.KindOf(err), "%v", err)
			return
		}
		require.LessOrEqual(t, q.Size, maxPageSize)
		require.Positive(t, q.Size)
		require.NotEmpty(t, q.SortBy)
		end, err := next(nil)
		require.NoError(t, err)
		require.Empty(t, end)

		start := &listing.Cursor{Value: int64(1<<62 + 1), ID: "id"}
		if len(q.SortBy) >= len(metricPrefix) && q.SortBy[:len(metricPrefix)] == metricPrefix {
			start.Value = 5.0
		}
		again, err := next(start)
		require.NoError(t, err)
		after, _, err := query(&kfpv1.ListRunsRequest{PageSize: size, PageToken: again})
		require.NoError(t, err)
		q.Start = start
		require.Empty(t, cmp.Diff(q, after))
	})
}
