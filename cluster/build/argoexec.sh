#!/bin/bash
# Builds Argo's own executor, argoexec, with the two commands that cmd/argoexec adds. Usage: cluster/build/argoexec.sh OUTPUT
#
# The published module lacks workflow/executor/osspecific/signal_linux.go: in Argo's git it is a symbolic link, and
# module zips hold none. So the module is copied into an ignored folder, the file put in its place there, and the copy
# built with the versions of this module, which lets it share compiled packages with argosy-cluster.
set -euo pipefail
output=$(realpath -m "${1:?usage: argoexec.sh OUTPUT}")
self=$(realpath "$0")
cd "$(dirname "$self")/.."

module=github.com/argoproj/argo-workflows/v3
work=$(realpath -m ../.build)/argoexec
source=$(go list -m -f '{{.Dir}}' $module)
if [ -z "$source" ]; then
	go mod download $module
	source=$(go list -m -f '{{.Dir}}' $module)
fi
version=$(go list -m -f '{{.Version}}' $module)

# The same versions and the same compiler give the same program.
stamped=$work/stamp-$(go env GOOS)-$(go env GOARCH)
stamp="$version $(go env GOVERSION) $(cat go.mod "$self" cmd/argoexec/*.go runtime/emissary/*.go | sha256sum | cut -d' ' -f1)"
if [ -x "$output" ] && [ -f "$stamped" ] && [ "$(cat "$stamped")" = "$stamp" ]; then
	exit 0
fi

copy=$work/$version
if [ "$self" -nt "$copy/.complete" ]; then
	rm -rf "$copy"
	mkdir -p "$copy"
	tar -C "$source" --exclude=./ui --exclude=./docs --exclude=./examples --exclude=./test -cf - . | tar -C "$copy" -xf -
	chmod -R u+w "$copy"
	cp "$copy/workflow/executor/osspecific/signal_darwin.go" "$copy/workflow/executor/osspecific/signal_linux.go"
	# Kubernetes 1.34 gave labels.Labels a third method, which Argo's own implementation must have to compile with it.
	cat >"$copy/workflow/executor/labels_lookup.go" <<'GO'
package executor

import "github.com/tidwall/gjson"

// Lookup is the value at the path label, and whether there is one.
func (g gjsonLabels) Lookup(label string) (string, bool) {
	r := gjson.GetBytes(g.json, label)
	return r.String(), r.Exists()
}
GO
	# Its command imports, for a namespace and a configuration, the whole client of Argo's server, with an SQLite in Go.
	cat >"$copy/cmd/argo/commands/client/conn.go" <<'GO'
package client

import (
	"log"
	"os"

	"k8s.io/client-go/tools/clientcmd"
)

// GetConfig is the configuration of the cluster around, or of a kubeconfig.
func GetConfig() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
}

// Namespace is the one in ARGO_NAMESPACE, or the configuration's.
func Namespace() string {
	if namespace, ok := os.LookupEnv("ARGO_NAMESPACE"); ok {
		return namespace
	}
	namespace, _, err := GetConfig().Namespace()
	if err != nil {
		log.Fatal(err)
	}
	return namespace
}
GO
	touch "$copy/.complete"
fi

cp go.mod "$work/go.mod"
cp go.sum "$work/go.sum"
# A relative path: the program holds it, and is the same in every checkout.
go mod edit -replace "$module=../.build/argoexec/$version" "$work/go.mod"
mkdir -p "$(dirname "$output")"
# Without C libraries: it has to run in images that have others, or none.
# Without Google's gRPC for its storage, with all of Envoy's definitions: Argo's driver talks HTTP to it.
tags=$(go env GOFLAGS | sed -n 's/.*-tags=\([^ ]*\).*/\1/p') # those of all builds
CGO_ENABLED=0 ../build/compile.sh "$output" -tags "argoexec,disable_grpc_modules${tags:+,$tags}" \
	-modfile="$work/go.mod" -trimpath -ldflags '-s -w' ./cmd/argoexec
echo "$stamp" >"$stamped"
