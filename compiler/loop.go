package compiler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

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
	dec.UseNumber()
	var list []any
	if err := dec.Decode(&list); err != nil {
		return fmt.Errorf("loop %s: its items are no JSON list: %w", t.Name, err)
	}
	for _, item := range list {
		node, err := itemNode(item)
		if err != nil {
			return fmt.Errorf("loop %s: %w", t.Name, err)
		}
		t.WithItems = append(t.WithItems, node)
	}
	return nil
}

// itemNode writes a JSON value as YAML. Numbers keep the digits they have, whatever their size.
func itemNode(v any) (*yaml.Node, error) {
	var node yaml.Node
	switch v := v.(type) {
	case json.Number:
		node = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: v.String()}
		if strings.ContainsAny(node.Value, ".eE") {
			node.Tag = "!!float"
		}
	case string:
		// The library quotes nodes less than strings: yes would become true.
		node = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: yaml.DoubleQuotedStyle}
	case []any:
		node = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, element := range v {
			child, err := itemNode(element)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
	case map[string]any:
		node = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key, err := itemNode(name)
			if err != nil {
				return nil, err
			}
			child, err := itemNode(v[name])
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, key, child)
		}
	default: // true, false and null
		if err := node.Encode(v); err != nil {
			return nil, err
		}
	}
	return &node, nil
}
