#!/usr/bin/env bash
# Makes the archives of a release in dist/, with their checksums. Two runs on the same commit give the same bytes.
#
# linux/amd64 and linux/arm64 have all programs. darwin and windows have the command, which talks to a server elsewhere. Only the command
# for linux/amd64 needs C: it is linked statically, so that it runs on any distribution. The others have SQLite translated to Go.
# Usage: VERSION=v0.1.0 TAGS=... LDFLAGS=... KUBERNETES=v1.34.2 build/dist.sh [OS/ARCHITECTURE...]
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VERSION:?}" "${TAGS:?}" "${LDFLAGS:?}" "${KUBERNETES:?}"
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
work=$PWD/.build/dist
rm -rf "$work" dist
mkdir -p "$work" dist
date=@$(git log -1 --format=%ct 2>/dev/null || echo 0) # of the last commit

build() { build/compile.sh "$@"; }

command_for() { # OUTPUT: argosy for GOOS and GOARCH
	if [ "$GOOS/$GOARCH" = linux/amd64 ]; then
		local said
		said=$(CGO_ENABLED=1 go build -o "$1" -trimpath -tags "ui,$TAGS" -ldflags "$LDFLAGS -linkmode external -extldflags -static" ./cmd/argosy 2>&1) || {
			printf '%s\n' "$said" >&2
			return 1
		}
	else
		CGO_ENABLED=0 build "$1" -trimpath -tags "ui,$TAGS" -ldflags "$LDFLAGS" ./cmd/argosy
	fi
}

cluster_for() { # FOLDER: the programs of the embedded cluster, the launcher and Argo's executor
	export CGO_ENABLED=0
	build "$1/argosy-launcher" -trimpath -ldflags "$LDFLAGS" ./cmd/argosy-launcher
	local version="-s -w -X k8s.io/component-base/version.gitVersion=$KUBERNETES"
	(cd cluster && ../build/compile.sh "$1/" -trimpath -ldflags "$version" ./cmd/argosy-controlplane ./cmd/argosy-podinit)
	(cd cluster && ../build/compile.sh "$1/argosy-cluster" -trimpath -ldflags "$version -X main.version=$VERSION" ./cmd/argosy-cluster)
	cluster/build/argoexec.sh "$1/argoexec"
	unset CGO_ENABLED
}

# The samples' packages are compiled here, so that a machine without Go runs them.
samples() { # FOLDER
	git ls-files -z samples | xargs -0 cp --parents -t "$1"
	local program name
	for program in samples/*/main.go; do
		name=$(basename "$(dirname "$program")")
		bin/argosy compile "samples/$name" -o "$1/samples/$name/$name.tar.gz" >/dev/null
	done
}

components() { # PROGRAM OUTPUT: the modules that a program is made of, as CycloneDX
	go tool -modfile=tools/sbom/go.mod cyclonedx-gomod bin -json -noserial -notimestamp -version "$VERSION" -output "$2" "$1" 2>"$work/said" || {
		cat "$work/said" >&2
		return 1
	}
}

for platform in "$@"; do
	export GOOS=${platform%/*} GOARCH=${platform#*/}
	name=argosy-$VERSION-$GOOS-$GOARCH
	folder=$work/$name
	echo "building $name"
	mkdir -p "$folder/bin" "$folder/sbom"
	suffix=
	[ "$GOOS" != windows ] || suffix=.exe
	command_for "$folder/bin/argosy$suffix"
	[ "$GOOS" != linux ] || cluster_for "$folder/bin"
	unset GOOS GOARCH
	cp README.md CHANGELOG.md LICENSE SECURITY.md "$folder/"
	git ls-files -z docs manifests | xargs -0 cp --parents -t "$folder"
	samples "$folder"
	for program in "$folder"/bin/*; do
		components "$program" "$folder/sbom/$(basename "$program").cdx.json"
	done
	tar -C "$work" --sort=name --mtime="$date" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf - "$name" | gzip -9n >"dist/$name.tar.gz"
done
(cd dist && sha256sum -- *.tar.gz | tee SHA256SUMS)
