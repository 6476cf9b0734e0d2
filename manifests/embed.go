// Package manifests holds what a cluster needs besides Argo and the operators. `kubectl apply -k manifests/base` and
// `argosy up` apply the same files.
package manifests

import _ "embed"

// Runner is the service account of runs with its rights, as YAML documents in namespace kubeflow.
//
//go:embed base/runner.yaml
var Runner []byte
