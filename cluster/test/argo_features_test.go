package test

import (
	"testing"
)

// Every feature of Argo that a workflow can show by itself. docs/argo-features.md lists them.
func TestArgoFeatures(t *testing.T) {
	t.Parallel()
	for _, name := range scenarioNames(t, features) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArgo(t, shared(t))
			s := readScenario(t, features, name)
			s.check(t, a, a.run(t, s))
		})
	}
}
