#!/bin/bash
# Generates internal/query from the migrations and the queries; run from anywhere.
set -euo pipefail
cd "$(dirname "$0")/../../.."
go tool -modfile=tools/go.mod sqlc generate -f server/store/sqlstore/sqlc.yaml
