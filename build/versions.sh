#!/usr/bin/env bash
# Fails when the two modules require different versions of a module: its packages, and all that import them, would be compiled
# twice (docs/adr/0034). `go get MODULE@VERSION` in the one that is behind mends it.
set -euo pipefail
cd "$(dirname "$0")/.."
required() { sed -nE 's/^(require )?[[:space:]]*([^[:space:]]+) (v[^[:space:]]+)( \/\/ indirect)?$/\2 \3/p' "$1" | sort; }
differing=$(join <(required go.mod) <(required cluster/go.mod) | awk '$2 != $3 { printf "  %s: %s in go.mod, %s in cluster/go.mod\n", $1, $2, $3 }')
[ -z "$differing" ] || { printf 'versions differ:\n%s\n' "$differing" >&2; exit 1; }
