package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExperimentLife(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/experiments", 200))
	created := s.post(t, "/apis/v1beta1/experiments", `{"name":"e1","description":"d","nonsense":1}`, 200)
	const golden = `{"id":"ID1","name":"e1","description":"d","created_at":"2026-11-20T12:00:01Z","storage_state":"STORAGESTATE_AVAILABLE"}`
	require.Equal(t, golden, numbered(created))
	id := field(t, created, "id")
	require.Equal(t, golden, numbered(s.get(t, "/apis/v1beta1/experiments/"+id, 200)))

	taken := s.post(t, "/apis/v1beta1/experiments", `{"name":"e1"}`, 409)
	text := field(t, taken, "error")
	require.Contains(t, text, "e1")
	require.Equal(t, fmt.Sprintf(`{"error":%q,"message":%q,"code":6,"details":[{"@type":"type.googleapis.com/api.Error","error_message":%q,"error_details":%q}]}`,
		text, text, text, text), taken)
	require.Contains(t, s.post(t, "/apis/v1beta1/experiments", `{}`, 400), `"code":3`)
	require.Contains(t, s.post(t, "/apis/v1beta1/experiments", ``, 400), "needs a name")
	require.Contains(t, s.post(t, "/apis/v1beta1/experiments", `{"name":`, 400), `"code":3`)
	require.Contains(t, s.post(t, "/apis/v1beta1/experiments", `{"name":7}`, 400), `"code":3`)
	require.Contains(t, s.get(t, "/apis/v1beta1/experiments/nonsense", 404), `"code":5`)

	run := field(t, s.post(t, "/apis/v1beta1/runs", fmt.Sprintf(`{"name":"r","pipeline_spec":{"workflow_manifest":%q},
		"resource_references":[{"key":{"type":"EXPERIMENT","id":%q},"relationship":"OWNER"}]}`, hello, id), 200), "run", "id")
	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/experiments/"+id+":archive", "", 200))
	require.Equal(t, "STORAGESTATE_ARCHIVED", field(t, s.get(t, "/apis/v1beta1/experiments/"+id, 200), "storage_state"))
	require.Equal(t, "STORAGESTATE_ARCHIVED", field(t, s.get(t, "/apis/v1beta1/runs/"+run, 200), "run", "storage_state"))
	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/experiments/"+id+":unarchive", "{}", 200))
	require.Equal(t, "STORAGESTATE_AVAILABLE", field(t, s.get(t, "/apis/v1beta1/experiments/"+id, 200), "storage_state"))
	require.Equal(t, "STORAGESTATE_ARCHIVED", field(t, s.get(t, "/apis/v1beta1/runs/"+run, 200), "run", "storage_state"), "its runs stay archived")
	require.Equal(t, `{}`, s.delete(t, "/apis/v1beta1/experiments/"+id, 200))
	require.Contains(t, s.get(t, "/apis/v1beta1/runs/"+run, 200), `"name":"e1","relationship":"OWNER"`, "its runs keep its name")
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/experiments", 200), "and no list has it")
}

// TestDeletedExperiment: the default experiment stays; another is in no list and can be brought back with its runs.
func TestDeletedExperiment(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.run(t)
	byDefault, err := s.store.ExperimentByName(t.Context(), "Default")
	require.NoError(t, err)
	refused := s.delete(t, "/apis/v1beta1/experiments/"+byDefault.ID, 409)
	require.Contains(t, refused, `"code":10`)
	require.Contains(t, refused, "Default cannot be deleted")
	require.Contains(t, s.get(t, "/apis/v1beta1/experiments/"+byDefault.ID, 200), "Default")

	id := field(t, s.post(t, "/apis/v1beta1/experiments", `{"name":"a b","description":"d"}`, 200), "id")
	before := s.get(t, "/apis/v1beta1/experiments/"+id, 200)
	run := field(t, s.post(t, "/apis/v1beta1/runs", fmt.Sprintf(`{"name":"r","pipeline_spec":{"workflow_manifest":%q},
		"resource_references":[{"key":{"type":"EXPERIMENT","id":%q},"relationship":"OWNER"}]}`, hello, id), 200), "run", "id")
	s.delete(t, "/apis/v1beta1/experiments/"+id, 200)
	require.Contains(t, s.get(t, "/apis/v1beta1/experiments/"+id, 200), "STORAGESTATE_ARCHIVED", "its run can be opened with it")
	require.NotContains(t, names(t, s.get(t, "/apis/v1beta1/experiments", 200)), "a b")
	deleted := s.get(t, "/apis/argosy/v1/experiments:deleted", 200)
	require.Equal(t, []string{"a b"}, names(t, deleted))
	require.Contains(t, deleted, `"runs":1`)
	require.Contains(t, deleted, `"total_size":1`)
	require.Equal(t, fmt.Sprintf(`{"id":%q,"name":"a b"}`, id), s.post(t, "/apis/argosy/v1/experiments/a%20b:restore", `{}`, 200))
	require.Equal(t, before, s.get(t, "/apis/v1beta1/experiments/"+id, 200))
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+run, 200), fmt.Sprintf(`"experiment":{"id":%q,"name":"a b"}`, id))
	require.Contains(t, s.post(t, "/apis/argosy/v1/experiments/"+id+":restore", `{}`, 404), `"code":5`)

	s.delete(t, "/apis/v1beta1/experiments/"+id, 200)
	s.post(t, "/apis/v1beta1/experiments", `{"name":"a b"}`, 200)
	require.Contains(t, s.post(t, "/apis/argosy/v1/experiments/"+id+":restore", `{}`, 409), "was created since")
}

// names gives the names in a list of experiments.
func names(t *testing.T, list string) (names []string) {
	t.Helper()
	var l struct{ Experiments []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(list), &l))
	for _, e := range l.Experiments {
		names = append(names, e.Name)
	}
	return names
}

func TestPaging(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 25 {
		s.post(t, "/apis/v1beta1/experiments", fmt.Sprintf(`{"name":"e%02d"}`, i), 200)
	}
	const path = "/apis/v1beta1/experiments"
	require.Len(t, names(t, s.get(t, path, 200)), 20, "20 unless said")
	require.Len(t, names(t, s.get(t, path+"?page_size=201", 200)), 25)
	require.Contains(t, s.get(t, path+"?page_size=-1", 400), "negative")
	require.Contains(t, s.get(t, path+"?page_size=many", 400), `"code":3`)

	var all []string
	next := path + "?page_size=10&sort_by=name%20desc"
	for pages := 0; next != ""; pages++ {
		require.Less(t, pages, 4)
		list := s.get(t, next, 200)
		require.Contains(t, list, `"total_size":25`)
		all, next = append(all, names(t, list)...), ""
		var l struct {
			Next string `json:"next_page_token"`
		}
		require.NoError(t, json.Unmarshal([]byte(list), &l))
		if l.Next != "" {
			next = path + "?page_size=7&page_token=" + url.QueryEscape(l.Next) // the token knows the order
		}
	}
	require.Len(t, all, 25)
	require.Equal(t, []string{"e24", "e23"}, all[:2])
	require.Equal(t, "e00", all[24])

	token := url.QueryEscape(field(t, s.get(t, path+"?page_size=1", 200), "next_page_token"))
	s.get(t, path+"?sort_by=created_at&page_token="+token, 200)
	require.Equal(t, []string{"e01", "e02"}, names(t, s.get(t, path+"?pageSize=2&pageToken="+token, 200)), "camelCase is taken too")
	for name, query := range map[string]string{
		"another order":     "?sort_by=name&page_token=" + token,
		"another direction": "?sort_by=created_at%20desc&page_token=" + token,
		"another filter":    "?page_token=" + token + "&filter=" + url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"name","string_value":"e01"}]}`),
		"no base64":         "?page_token=%25",
		"no JSON":           "?page_token=" + base64.StdEncoding.EncodeToString([]byte("hello")),
		"a wrong value":     "?page_token=" + base64.StdEncoding.EncodeToString([]byte(`{"sort_by":"created_at","start":{"value":"x","id":"y"}}`)),
		"three words":       "?sort_by=name%20asc%20please",
		"no such order":     "?sort_by=name%20sideways",
		"no such field":     "?sort_by=colour",
	} {
		require.Contains(t, s.get(t, path+query, 400), `"code":3`, name)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"apple", "banana", "cherry", "50%_off"} {
		s.post(t, "/apis/v1beta1/experiments", fmt.Sprintf(`{"name":%q}`, name), 200)
	}
	get := func(filter string, want int) string {
		return s.get(t, "/apis/v1beta1/experiments?filter="+url.QueryEscape(filter), want)
	}
	one := func(predicate string) []string { return names(t, get(`{"predicates":[`+predicate+`]}`, 200)) }
	require.Equal(t, []string{"banana"}, one(`{"op":"EQUALS","key":"name","string_value":"banana"}`))
	require.Equal(t, []string{"banana"}, one(`{"op":1,"key":"name","stringValue":"banana"}`), "operators by number, names in camelCase")
	require.Equal(t, []string{"apple", "cherry", "50%_off"}, one(`{"op":"NOT_EQUALS","key":"name","string_value":"banana"}`))
	require.Equal(t, []string{"apple", "cherry"}, one(`{"op":"IN","key":"name","string_values":{"values":["apple","cherry"]}}`))
	require.Equal(t, []string{"50%_off"}, one(`{"op":"IS_SUBSTRING","key":"name","string_value":"%_"}`))
	require.Equal(t, []string{"cherry", "50%_off"}, one(`{"op":"GREATER_THAN","key":"created_at","timestamp_value":"2026-11-20T12:00:02Z"}`))
	require.Equal(t, []string{"banana"}, one(`{"op":"GREATER_THAN","key":"created_at","timestamp_value":"2026-11-20T12:00:01Z"},{"op":"LESS_THAN","key":"name","string_value":"c"},{"op":"GREATER_THAN","key":"name","string_value":"a"}`), "all must hold")
	require.Len(t, one(`{"op":"EQUALS","key":"storage_state","string_value":"STORAGESTATE_AVAILABLE"}`), 4)
	require.Empty(t, one(`{"op":"EQUALS","key":"storage_state","string_value":"STORAGESTATE_ARCHIVED"}`))
	require.Equal(t, []string{"50%_off"}, names(t, get(url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"name","string_value":"50%_off"}]}`), 200)), "encoded twice, as KFP's UI does")
	require.Equal(t, []string{"50%_off"}, one(`{"op":"EQUALS","key":"name","string_value":"50%_off"}`), "encoded once, with a percent sign inside")

	for name, filter := range map[string]string{
		"no JSON":              `{"predicates":`,
		"no encoding":          `%zz`,
		"a word that is wrong": `{"predicate":[]}`,
		"no operator":          `{"predicates":[{"key":"name","string_value":"x"}]}`,
		"unknown operator":     `{"predicates":[{"op":4,"key":"name","string_value":"x"}]}`,
		"no key":               `{"predicates":[{"op":"EQUALS","string_value":"x"}]}`,
		"unknown key":          `{"predicates":[{"op":"EQUALS","key":"colour","string_value":"x"}]}`,
		"no value":             `{"predicates":[{"op":"EQUALS","key":"name"}]}`,
		"a list without IN":    `{"predicates":[{"op":"EQUALS","key":"name","string_values":{"values":["x"]}}]}`,
		"IN without a list":    `{"predicates":[{"op":"IN","key":"name","string_value":"x"}]}`,
		"substring of number":  `{"predicates":[{"op":"IS_SUBSTRING","key":"name","int_value":1}]}`,
		"number for a name":    `{"predicates":[{"op":"EQUALS","key":"name","long_value":"1"}]}`,
	} {
		require.Contains(t, get(filter, 400), `"code":3`, name)
	}

	filter := url.QueryEscape(`{"predicates":[{"op":"NOT_EQUALS","key":"name","string_value":"banana"}]}`)
	first := s.get(t, "/apis/v1beta1/experiments?page_size=2&filter="+filter, 200)
	require.Contains(t, first, `"total_size":3`)
	token := url.QueryEscape(field(t, first, "next_page_token"))
	require.Equal(t, []string{"50%_off"}, names(t, s.get(t, "/apis/v1beta1/experiments?page_token="+token, 200)), "the token knows the filter")
	s.get(t, "/apis/v1beta1/experiments?page_token="+token+"&filter="+filter, 200)
}
