#!/usr/bin/env bash
# Makes the Go code and openapi.yaml from the .proto files. Everything made is committed; third_party/ is not.
set -euo pipefail
cd "$(dirname "$0")"

gateway=github.com/grpc-ecosystem/grpc-gateway@v1.16.0 # carries google/api/{annotations,http}.proto
tool=(go tool -modfile=../tools/go.mod)

rm -rf third_party
mkdir -p third_party/googleapis/google/api third_party/openapi
dir=$(cd ../tools && GOFLAGS=-mod=mod go mod download -json "$gateway" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
install -m 0644 "$dir"/third_party/googleapis/google/api/{annotations,http}.proto third_party/googleapis/google/api/

"${tool[@]}" buf format -w --path api --path argosy
"${tool[@]}" buf lint
find api argosy -name '*.pb.go' -o -name '*.pb.gw.go' | xargs -r rm -f
"${tool[@]}" buf generate --path api --path argosy
go run ./internal/openapi third_party/openapi http.openapi.yaml >third_party/openapi.yaml
mv third_party/openapi.yaml openapi.yaml
