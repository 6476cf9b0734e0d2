package meaning

import (
	"encoding/json"
	"fmt"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// items are what a task runs for, in one form; and as JSON where they are known.
func (u *unfolder) items(task wfv1.DAGTask, values map[string]string) (text string, constants []any) {
	switch {
	case len(task.WithItems) > 0:
		items, err := json.Marshal(task.WithItems)
		if err != nil {
			u.fail("%w", err)
		}
		text = fillJSON(string(items), values)
	case task.WithParam != "":
		text = fill(task.WithParam, values)
	default:
		items, err := json.Marshal(sequence(task.WithSequence))
		if err != nil {
			u.fail("%w", err)
		}
		text = string(items)
	}
	if json.Unmarshal([]byte(text), &constants) != nil {
		return text, nil
	}
	return encode(constants), constants
}

// sequence are the items of a withSequence; itself where they are not known yet.
func sequence(s *wfv1.Sequence) any {
	for _, v := range []*intstr.IntOrString{s.Start, s.End, s.Count} {
		if v != nil && strings.Contains(v.String(), "{{") {
			return s
		}
	}
	start, end := 0, 0
	if s.Start != nil {
		start = s.Start.IntValue()
	}
	if end = start; s.Count != nil {
		end = start + s.Count.IntValue() - 1
	} else if s.End != nil {
		end = s.End.IntValue()
	}
	step := 1
	if end < start && s.Count == nil {
		step = -1
	}
	items := []any{}
	const most = 100000
	for n := start; n*step <= end*step && len(items) < most; n += step {
		if s.Format != "" {
			items = append(items, fmt.Sprintf(s.Format, n))
		} else {
			items = append(items, n)
		}
	}
	return items
}

// nameItems names the item of a loop and its fields. Argo leaves the escapes of JSON in an item that is text, which is then
// another text where there are some.
func (u *unfolder) nameItems(values map[string]string, depth int, text string, constants []any) {
	name := func(path string, simple bool) {
		if values[path] = fmt.Sprintf("<item %d%s>", depth, strings.TrimPrefix(path, "item")); !simple {
			values[path] = "<raw " + strings.TrimPrefix(values[path], "<")
		}
	}
	for path := range values {
		if strings.HasPrefix(path, "item.") {
			delete(values, path)
		}
	}
	name("item", constants != nil && !strings.ContainsAny(text, `\<>&`))
	values["(item)"] = fmt.Sprint(depth)
	fields := map[string]bool{}
	for _, item := range constants {
		m, _ := item.(map[string]any)
		for k, v := range m {
			simple, seen := fields[k]
			_, isText := v.(string)
			fields[k] = (simple || !seen) && (!isText || !strings.ContainsAny(encode(v), `\<>&`))
		}
	}
	for field, simple := range fields {
		name("item."+field, simple)
	}
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
