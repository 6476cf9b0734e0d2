// Command definitions copies custom resource definitions into a folder as JSON, without the descriptions in their schemas. Definitions of
// distributed jobs describe every field of a pod a dozen times; these texts are most of the megabytes that a new cluster would read at its
// start and the apiserver would keep in memory.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: definitions FOLDER FILE.yaml...")
		os.Exit(2)
	}
	if err := convertAll(os.Args[2:], os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// convertAll leaves these definitions in the folder and no others: what an earlier build put there would be embedded too.
func convertAll(files []string, folder string) error {
	wanted := map[string]bool{}
	for _, file := range files {
		out := filepath.Join(folder, strings.TrimSuffix(filepath.Base(file), ".yaml")+".json")
		if err := convert(file, out); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		wanted[out] = true
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	for _, old := range found {
		if !wanted[old] {
			if err := os.Remove(old); err != nil {
				return err
			}
		}
	}
	return nil
}

func convert(file, out string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		return err
	}
	undescribe(crd)
	content, err := json.Marshal(crd)
	if err != nil {
		return err
	}
	// A file that is up to date is left alone, so that Go has nothing to compile again.
	if old, err := os.ReadFile(out); err == nil && bytes.Equal(old, content) {
		return nil
	}
	return os.WriteFile(out, content, 0o644)
}

// undescribe drops texts called description. A property called description has a schema instead of a text, and stays.
func undescribe(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if _, text := value.(string); text && key == "description" {
				delete(v, key)
			} else {
				undescribe(value)
			}
		}
	case []any:
		for _, item := range v {
			undescribe(item)
		}
	}
}
