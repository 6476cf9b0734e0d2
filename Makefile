# Argosy. `make run` runs the main job; `make test` proves it. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Every build has these tags and paths without the checkout's own, and tests by way of GOFLAGS, so that what programs and checkouts
# share is compiled once (docs/adr/0034): without C's resolver and user database, as in the programs that are built without C, and
# without gRPC's debug pages.
TAGS := netgo,osusergo,grpcnotrace
GOFLAGS ?= -buildvcs=false
export GOFLAGS := $(filter-out -tags=% -trimpath,$(GOFLAGS)) -trimpath -tags=$(TAGS)
export GOTOOLCHAIN ?= local
export CGO_CFLAGS ?= -O2
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS := -s -w -X github.com/argosy-ml/argosy/cmd/internal/version.Version=$(VERSION) -X github.com/argosy-ml/argosy/cmd/internal/version.commit=$(COMMIT)
TOOL     = go tool -modfile=tools/go.mod
NPM      = npm --prefix frontend --no-audit --no-fund --no-update-notifier --loglevel=error

ROOT_PACKAGES = ./cmd/... ./sdk/... ./compiler/... ./launcher/... ./server/... ./samples/... ./proto/... ./test/bench/... ./test/docs/... ./test/leaks/... ./build/...
# Those whose tests run on either database.
STORE_USERS = ./server/app ./server/gateway ./server/reconcile ./server/run
# Packages with all of Kubernetes inside: the race detector would compile it a second time (docs/adr/0005).
WHOLE_KUBERNETES = /(control/controllers(/quick)?|control/plane|cmd/argosy-controlplane|test)$$
# Tests of clusters mostly wait for pods, so more of them run at a time than there are processors.
BESIDE = -parallel 4
BINARIES := bin/argosy bin/argosy-launcher bin/argosy-cluster bin/argosy-controlplane bin/argosy-podinit bin/argoexec

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# sudo may ask for a password, so nothing else is shown meanwhile.
.PHONY: run
run: check ## the main job: start Argosy with its own cluster, run samples/mpi_run, keep serving until Ctrl-C
	@if [ "$$(id -u)" -eq 0 ]; then build/packages.sh run & else build/packages.sh run; fi; \
	build/unchanged.sh .build/built $(BINARIES) || $(MAKE) --no-print-directory build; wait
	@exec bin/argosy up --demo samples/mpi_run

# What the machine lacks for the goal is said before anything is built.
.PHONY: check
check:
	@build/check.sh $(or $(filter run test,$(firstword $(MAKECMDGOALS))),build)

# ---- build -----------------------------------------------------------------------------------------------------

.PHONY: build
build: check ## build every binary into bin/
	@mkdir -p .build && touch .build/begun
	@$(MAKE) --no-print-directory -j2 frontend/dist/index.html cluster-programs
	@$(MAKE) --no-print-directory -j2 sqlite bin/argoexec
	@$(MAKE) --no-print-directory bin/argosy bin/argosy-launcher
	@mv .build/begun .build/built

# Go's build cache decides what is stale, so the Go targets always ask it.
.PHONY: $(BINARIES) cluster-programs sqlite
# One file of C, which one processor compiles while the others have something else to do.
sqlite:
	@go build -trimpath github.com/mattn/go-sqlite3

bin/argosy: frontend/dist/index.html
	@echo "building argosy"
	@build/compile.sh $@ -trimpath -tags ui,$(TAGS) -ldflags "$(LDFLAGS)" ./cmd/argosy

bin/argosy-launcher:
	@echo "building argosy-launcher"
	@CGO_ENABLED=0 build/compile.sh $@ -trimpath -ldflags "$(LDFLAGS)" ./cmd/argosy-launcher

# What the API says of itself is Kubernetes' own version, as in Kubernetes' own builds: kubectl and Helm read it.
KUBERNETES := $(shell sed -n 's|^\tk8s.io/kubernetes ||p' cluster/go.mod)
CLUSTER_BUILD = cd cluster && CGO_ENABLED=0 ../build/compile.sh ../bin/ -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES)$(1)"

# The large program does not hold Argosy's version, so that it is linked again only when it has changed: that takes a minute.
cluster-programs: cluster-assets
	@echo "building argosy-controlplane (kube-apiserver, etcd, controllers), argosy-podinit, argosy-cluster"
	@mkdir -p bin
	@$(CLUSTER_BUILD) ./cmd/argosy-controlplane ./cmd/argosy-podinit
	@$(call CLUSTER_BUILD, -X main.version=$(VERSION)) ./cmd/argosy-cluster

bin/argosy-cluster: cluster-assets
	@echo "building $(@F)"
	@mkdir -p bin
	@$(call CLUSTER_BUILD, -X main.version=$(VERSION)) ./cmd/$(@F)

bin/argosy-controlplane bin/argosy-podinit: cluster-assets
	@echo "building $(@F)"
	@mkdir -p bin
	@$(CLUSTER_BUILD) ./cmd/$(@F)

bin/argoexec: cluster-assets
	@echo "building argoexec (Argo's own executor)"
	@cluster/build/argoexec.sh $@

.PHONY: cluster-assets
cluster-assets:
	@cluster/build/crds.sh

frontend/node_modules/.stamp: frontend/package-lock.json
	@echo "installing the frontend's packages"
	@$(NPM) ci >/dev/null && touch $@

frontend/dist/index.html: frontend/node_modules/.stamp frontend/index.html frontend/vite.config.ts $(shell find frontend/src frontend/public -type f 2>/dev/null)
	@echo "building the frontend"
	@$(NPM) run --silent build >/dev/null && touch $@

# The server's image, for manifests/server: one program, linked statically, and nothing else. No Docker is needed.
IMAGE ?= argosyml/argosy:dev
STATIC = -linkmode external -extldflags -static

.PHONY: image
image: bin/argosy-image.tar ## the server's image as an archive, for a cluster of yours (IMAGE=registry.example.com/argosy:dev)

.PHONY: bin/argosy-image.tar
bin/argosy-image.tar: bin/argosy
	@echo "building the server's image"
	@mkdir -p .build/image
	@go build -trimpath -tags ui,$(TAGS) -ldflags "$(LDFLAGS) $(STATIC)" -o .build/image/argosy ./cmd/argosy 2>&1 | { grep -v -e "^#" -e dlopen -e unixDlOpen >&2 || true; }
	@bin/argosy image --program .build/image/argosy --name $(IMAGE) -o $@

.PHONY: dist
dist: build ## the archives of a release, for Linux, macOS and Windows, with checksums and what they are made of (DIST=linux/amd64)
	@VERSION='$(VERSION)' TAGS='$(TAGS)' LDFLAGS='$(LDFLAGS)' KUBERNETES='$(KUBERNETES)' build/dist.sh $(DIST)

# ---- tests -----------------------------------------------------------------------------------------------------

.PHONY: test
test: check test-packages build lint test-go test-portable test-cluster test-frontend test-e2e ## install what is needed, then lint, unit, frontend and end-to-end tests

# Without the race detector, so that the tests use the packages that are compiled for the programs.
.PHONY: test-fast
test-fast: frontend/node_modules/.stamp cluster-assets ## for the loop of a working hour: unit tests of all modules, without race detector and clusters (3 minutes; less after small changes)
	$(TOOL) gotestsum --format pkgname-and-test-fails --hide-summary skipped -- -timeout 5m $(ROOT_PACKAGES)
	cd cluster && CGO_ENABLED=0 go tool -modfile=../tools/go.mod gotestsum --format pkgname-and-test-fails --hide-summary skipped -- -timeout 5m $$(go list ./... | grep -vE '$(WHOLE_KUBERNETES)|/test/')
	@$(NPM) run --silent typecheck
	@$(NPM) run --silent test

.PHONY: test-packages
test-packages:
	@build/packages.sh test

.PHONY: test-go
test-go: ## unit tests of the root module, with the race detector; the server's on PostgreSQL as well
	$(TOOL) gotestsum --format pkgname -- -race -timeout 15m $(ROOT_PACKAGES)
	ARGOSY_TEST_STORE=postgres $(TOOL) gotestsum --format pkgname -- -race -timeout 15m $(STORE_USERS)

# There the command has no embedded cluster, and its store is SQLite translated to Go: a C compiler for them is not needed here.
.PHONY: test-portable
test-portable: ## the command for macOS and Windows builds, and its store works without cgo
	@for os in darwin windows; do echo "building argosy for $$os"; export CGO_ENABLED=0 GOOS=$$os GOARCH=amd64; go build -o /dev/null ./cmd/argosy && go vet ./cmd/argosy/... ./server/store/... || exit 1; done
	CGO_ENABLED=0 go test -count=1 ./server/store/...

# A crash test of an hour: how often each part of a cluster is killed, and the whole of it.
KILLS  ?= 200
STARTS ?= 100

.PHONY: test-kills
test-kills: cluster-assets ## kill every part of a cluster KILLS times under traffic, then all of it STARTS times, and print what was lost (test-cluster does so a few times)
	cd cluster && ARGOSY_TEST_KILLS=$(KILLS) ARGOSY_TEST_STARTS=$(STARTS) go test -count=1 -timeout 5h -v -run '^TestKills$$' ./test

.PHONY: test-cluster
test-cluster: cluster-assets ## unit tests of the embedded cluster, and the built cluster under test
	cd cluster && go tool -modfile=../tools/go.mod gotestsum --format pkgname -- -race -timeout 15m $$(go list ./... | grep -vE '$(WHOLE_KUBERNETES)')
	@echo "building the last operator of MXJobs (docs/adr/0022)" # before the tests' time begins
	@cd cluster/test/mxoperator && CGO_ENABLED=0 go build -trimpath -o /dev/null github.com/kubeflow/training-operator/cmd/training-operator.v1
	cd cluster/test/trainer && CGO_ENABLED=0 go tool -modfile=../../../tools/go.mod gotestsum --format pkgname -- -count=1 -timeout 15m .
	cd cluster && CGO_ENABLED=0 go tool -modfile=../tools/go.mod gotestsum --format pkgname -- $(BESIDE) -count=1 -timeout 30m $$(go list ./... | grep -E '$(WHOLE_KUBERNETES)')

.PHONY: test-frontend
test-frontend: frontend/node_modules/.stamp ## lint, types and unit tests of the frontend
	@$(NPM) run --silent lint
	@$(NPM) run --silent typecheck
	@$(NPM) run --silent test

.PHONY: bin/gonb bin/goimports
bin/gonb:
	@echo "building gonb (the Go kernel for Jupyter)"
	@go build -modfile=tools/go.mod -trimpath -o $@ github.com/janpfeifer/gonb

bin/goimports:
	@go build -modfile=tools/go.mod -trimpath -o $@ golang.org/x/tools/cmd/goimports

.PHONY: notebook
notebook: bin/gonb bin/goimports ## install the Go kernel for Jupyter, for samples/notebook (put bin/ on the PATH)
	@bin/gonb --install --force_deps

.PHONY: test-e2e
test-e2e: bin/gonb bin/goimports bin/argosy-image.tar ## the whole path on a cluster of its own, checked in Chromium and Firefox
	$(TOOL) gotestsum --format testname -- -tags e2e,$(TAGS) $(BESIDE) -count=1 -timeout 30m ./test/e2e/...

.PHONY: bench
bench: ## benchmarks: compile, scrape (logs of 1 GB, beside grep), store
	go test -run '^$$' -bench . -benchmem ./compiler/... ./launcher/... ./server/...

.PHONY: bench-cluster
bench-cluster: build bin/dagu ## the embedded cluster's speed and size, beside stock Argo, make, snakemake and dagu (10 minutes; BENCH="-row 10000 -json FILE")
	@cd cluster && go run -trimpath ./bench -bin ../bin $(BENCH)

.PHONY: bench-api
bench-api: build ## the API server on stores of 200,000 and 1,000,000 runs, with query plans (10 minutes; BENCH="-sizes 200000 -json FILE")
	@go run -trimpath ./test/bench/api -bin bin $(BENCH)

# A store of UI_RUNS runs is made once and kept in .build.
UI_RUNS ?= 200000

.PHONY: bench-ui
bench-ui: build ## the UI in Chromium on a server with 200,000 runs: first list, large graph, long log, comparison, heap (25 minutes; HEAP_MINUTES=1)
	@build/packages.sh test
	@mkdir -p .build/bench-ui
	@[ -f .build/bench-ui/argosy.db ] || go run -trimpath ./test/bench/api -sizes $(UI_RUNS) -fill $(CURDIR)/.build/bench-ui/argosy.db
	@node frontend/bench/ui.mjs $(CURDIR)/bin $(CURDIR)/.build/bench-ui $(CURDIR)/.build/bench-ui.json

.PHONY: screenshots
screenshots: build ## take the pictures of README and docs from real runs, light and dark (docs/images)
	@build/packages.sh test
	@rm -rf .build/screenshots-home && mkdir -p .build/screenshots-home
	@node frontend/bench/screenshots.mjs $(CURDIR)/bin $(CURDIR)/.build/screenshots-home $(CURDIR)/samples/mpi_run $(CURDIR)/docs/images

.PHONY: bin/dagu
bin/dagu:
	@echo "building dagu (to compare with)"
	@cd cluster/bench/dagu && go build -trimpath -o ../../../$@ github.com/dagu-org/dagu/cmd

# Without -fuzzminimizetime Go spends up to a minute on making each input that it finds smaller, in which nothing is tried.
.PHONY: fuzz
fuzz: ## every fuzzer of the root module for a minute each (FUZZTIME=60s)
	@grep -rlE '^func Fuzz' --include='*_test.go' cmd compiler launcher sdk server | while read -r f; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' "$$f"); do \
			echo "$$name of $$(dirname "$$f")"; \
			go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(or $(FUZZTIME),60s) -fuzzminimizetime 20x "./$$(dirname "$$f")" || exit 1; \
		done; done

# ---- quality ---------------------------------------------------------------------------------------------------

.PHONY: lint
lint: ## words of guides and comments, then golangci-lint on both modules, with the imports between packages
	@build/versions.sh
	@build/prose.sh
	$(TOOL) golangci-lint run ./...
	cd cluster && CGO_ENABLED=0 go tool -modfile=../tools/go.mod golangci-lint run --config ../.golangci.yml ./...

.PHONY: generate
generate: ## regenerate code from protos and SQL
	proto/generate.sh
	server/store/sqlstore/generate.sh
	$(NPM) run --silent generate:api

.PHONY: verify
verify: generate ## fail when generated code is not what the sources give
	git diff --exit-code -- proto server frontend/src

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist .build frontend/dist
