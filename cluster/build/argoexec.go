//go:build argoexec

// Package build keeps in go.mod what argoexec.sh compiles: nothing else here imports Argo's executor.
package build

import _ "github.com/argoproj/argo-workflows/v3/cmd/argoexec/commands"
