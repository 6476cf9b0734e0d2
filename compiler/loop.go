package compiler

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// loop makes the task run once for every item.
func (t *task) loop(items graph.Text, where func(graph.Ref) source) error {
	constant, ok := items.Constant()
	switch {
	case !ok && len(items) == 1:
		t.WithParam = render(items, where)
		return nil
	case !ok:
		return t.filled(items, where)
	}
	dec := json.NewDecoder(strings.NewReader(constant))
	dec.UseNumber() // so that numbers keep their digits, whatever their size
	if err := dec.Decode(&t.WithItems); err != nil {
		return fmt.Errorf("loop %s: its items are not a JSON list: %w", t.Name, err)
	}
	return nil
}

// filled makes the task run for items with values in their texts.
func (t *task) filled(items graph.Text, where func(graph.Ref) source) error {
	list, err := items.List()
	if err != nil {
		return fmt.Errorf("loop %s: its items are not a JSON list: %w", t.Name, err)
	}
	text, err := items.Fill(list, func(r graph.Ref) string { return string(render(graph.Text{{Ref: &r}}, where)) })
	if err != nil {
		return fmt.Errorf("loop %s: %w", t.Name, err)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(&t.WithItems)
}
