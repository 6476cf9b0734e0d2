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
	if !ok {
		t.WithParam = render(items, where)
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(constant))
	dec.UseNumber() // so that numbers keep their digits, whatever their size
	if err := dec.Decode(&t.WithItems); err != nil {
		return fmt.Errorf("loop %s: its items are no JSON list: %w", t.Name, err)
	}
	return nil
}
