#!/bin/sh
# Copies the custom resource definitions that argosy-cluster embeds out of the modules they belong to.
# Usage: cluster/build/crds.sh
set -eu
cd "$(dirname "$0")/.."
out=bootstrap/crds

# Files of a build that is up to date are left alone, so that Go has nothing to compile again.
take() { cmp -s "$1" "$out/${1##*/}" || { cp "$1" "$out/" && chmod 644 "$out/${1##*/}"; }; }

argo=$(go list -m -f '{{.Dir}}' github.com/argoproj/argo-workflows/v3)
mpi=$(go list -m -f '{{.Dir}}' github.com/kubeflow/mpi-operator)
if [ -z "$argo" ] || [ -z "$mpi" ]; then
	go mod download github.com/argoproj/argo-workflows/v3 github.com/kubeflow/mpi-operator
	argo=$(go list -m -f '{{.Dir}}' github.com/argoproj/argo-workflows/v3)
	mpi=$(go list -m -f '{{.Dir}}' github.com/kubeflow/mpi-operator)
fi
for f in "$argo"/manifests/base/crds/minimal/argoproj.io_*.yaml; do take "$f"; done
take "$mpi/manifests/base/kubeflow.org_mpijobs.yaml"
