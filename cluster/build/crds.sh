#!/bin/sh
# Takes the custom resource definitions that argosy-cluster embeds out of the modules they belong to.
# Usage: cluster/build/crds.sh
set -eu
cd "$(dirname "$0")/.."
out=control/bootstrap/crds

dir() { go list -m -f '{{.Dir}}' "$1"; }

for m in github.com/argoproj/argo-workflows/v3 github.com/kubeflow/mpi-operator github.com/kubeflow/training-operator volcano.sh/volcano; do
  if [ -z "$(dir "$m")" ]; then go mod download "$m"; fi
done
argo=$(dir github.com/argoproj/argo-workflows/v3)
mpi=$(dir github.com/kubeflow/mpi-operator)
training=$(dir github.com/kubeflow/training-operator)
volcano=$(dir volcano.sh/volcano)

set -- "$argo"/manifests/base/crds/minimal/argoproj.io_*.yaml "$mpi/manifests/base/kubeflow.org_mpijobs.yaml"
# training-operator brings an older MPIJob of the same name, which is left out.
for kind in tfjobs pytorchjobs xgboostjobs paddlejobs jaxjobs; do
  set -- "$@" "$training/manifests/base/crds/kubeflow.org_$kind.yaml"
done
# Not its cron jobs and job flows: Argo has both, and each definition holds a whole pod.
for kind in batch.volcano.sh_jobs bus.volcano.sh_commands nodeinfo.volcano.sh_numatopologies \
  scheduling.volcano.sh_podgroups scheduling.volcano.sh_queues topology.volcano.sh_hypernodes; do
  set -- "$@" "$volcano/config/crd/volcano/bases/$kind.yaml"
done
go run -trimpath ./build/definitions "$out" "$@"
