#!/usr/bin/env bash
# Succeeds when no source was edited, added, removed or committed since the file STAMP was made, and every program is there.
# Usage: build/unchanged.sh STAMP PROGRAM...
# It takes milliseconds; asking Go's cache about every program takes seconds, as Kubernetes alone is 3000 packages.
set -euo pipefail
stamp=$1
shift
for file in "$stamp" "$@"; do
	[ -e "$file" ] || exit 1
done
# A folder is newer when a file in it was added or removed; the log of HEAD, when something was committed or checked out.
head=$(git rev-parse --git-path logs/HEAD 2>/dev/null || echo Makefile)
newer=$(find Makefile go.mod go.sum build cluster cmd compiler frontend launcher manifests proto sdk server "$head" "$(command -v go)" \
	\( -path cluster/control/bootstrap/crds -o -path frontend/node_modules -o -path frontend/dist \) -prune -o \
	-newer "$stamp" ! -path cluster/control/bootstrap ! -path frontend -print -quit)
[ -z "$newer" ]
