//go:build argoexec

// Package build imports what argoexec.sh compiles, so that go.mod requires it: nothing else in the module imports Argo's executor.
package build

import _ "github.com/argoproj/argo-workflows/v3/cmd/argoexec/commands"
