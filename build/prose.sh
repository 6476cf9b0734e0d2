#!/usr/bin/env bash
# Checks the words of guides and Go comments with vale. The rules are in build/prose/Argosy, each with examples.
set -euo pipefail
cd "$(dirname "$0")/.."

vale() { go tool -modfile=tools/go.mod vale --output=line "$@"; }

# Each rule must refuse its sentence in examples.md: a rule that refuses nothing would go unnoticed.
examples=build/prose/examples.md
refused=$(vale "$examples" || true)
for rule in build/prose/Argosy/*.yml; do
	name=Argosy.$(basename "$rule" .yml)
	line=$(grep -n -- "^- $name: " "$examples" | cut -d: -f1)
	if ! grep -q "^$examples:${line:-none}:[0-9]*:$name:" <<<"$refused"; then
		echo "$examples: no sentence that $name refuses" >&2
		exit 1
	fi
done

# Chinese pages, generated code, test data and the examples are left out.
git ls-files -z -- '*.md' '*.go' | grep -zvE '^docs/zh/|^build/prose/|\.pb(\.gw)?\.go$|/testdata/' | xargs -0 go tool -modfile=tools/go.mod vale --output=line
