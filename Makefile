# Everything a contributor runs. `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X spokeshave.dev/controller/app.Version=$(VERSION) -X main.version=$(VERSION)
CONTROLPLANE := go run -v ./cmd/controlplane
# One setting for all builds but the race detector's, so that they share what is compiled.
export CGO_ENABLED := 0
BURSTS := web,diverse
# Tests on a control plane wait most of the time: one package more than there are processors runs at
# once, and those that wait longest begin first.
TEST_JOBS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# A file, or env://NAME for what the variable NAME contains.
FILE = $(if $(filter env://%,$(1)),$(1),$(abspath $(1)))
RELEASE = $(abspath $(or $(OUT),dist/release))
RELEASE_FLAGS = $(if $(REGISTRY),--registry '$(REGISTRY)') $(if $(KEY),--key '$(call FILE,$(KEY))') $(if $(DOWNLOADS),--downloads '$(DOWNLOADS)') \
	$(if $(REPOSITORY),--repository '$(REPOSITORY)') $(if $(BUILDER),--builder '$(BUILDER)')
SIGNING_FLAGS = $(if $(SIGNING_CONFIG),--signing-config '$(abspath $(SIGNING_CONFIG))') $(if $(TRUSTED_ROOT),--trusted-root '$(abspath $(TRUSTED_ROOT))')
TRUST_FLAGS = $(if $(PUBKEY),--key '$(call FILE,$(PUBKEY))') $(if $(IDENTITY),--identity '$(IDENTITY)') $(if $(ISSUER),--issuer '$(ISSUER)') \
	$(if $(TRUSTED_ROOT),--trusted-root '$(abspath $(TRUSTED_ROOT))')
SITE ?= dist/site
GENERATED := api charts/spokeshave/files controller/cloud/catalog/data

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Run the product end to end on a local cluster and leave it up (DEMO=quiet: check and clean up)
	@echo 'compiling; the first time takes some minutes, and each package is named when it is done'
	go run -v ./cmd/demo $(if $(filter quiet,$(DEMO)),-quiet)

.PHONY: demo-down
demo-down: ## End the demo's cluster
	go run ./cmd/demo -down

.PHONY: demo-karpenter
demo-karpenter: ## Run a local cluster as Karpenter left it, to try docs/migrate/from-karpenter.md on, until Ctrl-C
	@echo 'compiling; the first time takes some minutes, and each package is named when it is done'
	go run -v ./cmd/demo -karpenter

.PHONY: demo-tasks
demo-tasks: ## Run a local cluster to follow the pages of docs/tasks on, until Ctrl-C
	@echo 'compiling; the first time takes some minutes, and each package is named when it is done'
	go run -v ./cmd/demo -tasks

.PHONY: test
test: controlplane skips ## Run every test: unit, conformance and end to end on a real control plane
	go test -count=1 -p $(TEST_JOBS) -timeout 40m ./test/suite/tasks ./test/suite/lifecycle ./test/suite/attack ./...
	go test -C tools -count=1 -timeout 40m ./...
	go test -C tools/alerts -count=1 -timeout 40m ./...
	go test -C tools/digests -count=1 -timeout 40m ./...
	go test -C tools/reference -timeout 40m ./...

.PHONY: skips
skips: ## Say which tests are skipped for want of a program; under CI they fail
	@command -v chromium chromium-browser google-chrome >/dev/null || echo 'no Chromium: the tests of the page and of the site in a browser are skipped' >&2
	@command -v npm >/dev/null || echo 'no npm: the site is not built, and the accessibility of the page is not checked' >&2

.PHONY: attack
attack: controlplane ## Make every attack of docs/security.md on a running controller (ATTACK: the seed of a share)
	ATTACK=$(or $(ATTACK),all) go test -count=1 -v -timeout 2h ./test/suite/attack

.PHONY: churn
churn: controlplane ## Let 10,000 nodes, 500 NodePools and classes and 1,000 policies come and go, and measure what stays (CHURN: share)
	CHURN=$(or $(CHURN),1) go test -count=1 -v -timeout 4h ./test/suite/churn

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane
	go test $$(go list ./... | grep -v /test/)

.PHONY: race
race: controlplane ## Run the tests under the race detector (needs a C compiler; `make lint` vets)
	CGO_ENABLED=1 go test -race -short -vet=off -timeout 30m ./test/suite/lifecycle/... ./api/... ./cmd/... ./controller/... ./sdk/... ./simulator/... ./test/kit/apiserver/... ./test/suite/policies/...

.PHONY: build
build: ## Build the controller, the command line and ec2sim into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ ./cmd/spokeshave ./cmd/spokeshave-controller ./cmd/ec2sim
	ln -sf spokeshave bin/kubectl-spokeshave

.PHONY: guests
guests: ## Build the policies in C, AssemblyScript and Rust anew (needs their compilers: see sdk/README.md)
	npm ci --prefix sdk/assemblyscript
	go run ./cmd/guests

.PHONY: image
image: ## Build an OCI image of the controller into dist/, without a container engine
	go run -C tools ./image -version $(VERSION) -out dist/spokeshave-$(VERSION).tar

.PHONY: release
release: ## Make everything that a release consists of in dist/release (VERSION=v1.2.3; REGISTRY, KEY, DOWNLOADS, OUT: docs/contributing/releasing.md)
	go run -C tools ./release build --version '$(VERSION)' --out '$(RELEASE)' $(RELEASE_FLAGS)

.PHONY: release-sign
release-sign: ## Sign dist/release with the identity of a token, without a key (SIGNING_CONFIG, TRUSTED_ROOT, OUT)
	go run -C tools ./release sign --from '$(RELEASE)' $(SIGNING_FLAGS)

.PHONY: release-push
release-push: ## Push the images and charts of dist/release to its registry, and verify them there (PUBKEY or IDENTITY and ISSUER, OUT)
	go run -C tools ./release push --from '$(RELEASE)' $(TRUST_FLAGS)

.PHONY: release-verify
release-verify: ## Verify the files of dist/release, and what its registry has (PUBKEY or IDENTITY and ISSUER, OUT)
	go run -C tools ./release verify --remote --from '$(RELEASE)' $(TRUST_FLAGS)

.PHONY: release-publish
release-publish: ## Upload dist/release to the forge's release of VERSION (needs gh, and GH_TOKEN)
	gh release create '$(VERSION)' --verify-tag --title '$(VERSION)' --notes-file '$(RELEASE)/CHANGELOG.md' $(if $(findstring -,$(VERSION)),--prerelease) '$(RELEASE)'/*

.PHONY: release-registry
release-registry: ## Serve a registry in memory, to try a release with, until Ctrl-C (LISTEN: 127.0.0.1:5000)
	go run -C tools ./release registry $(if $(LISTEN),--listen '$(LISTEN)')

.PHONY: release-check
release-check: ## Make the release of the product for every platform twice and compare, and verify signatures with cosign itself (long)
	go build -modfile=tools/cosign/go.mod -o bin/cosign github.com/sigstore/cosign/v3/cmd/cosign
	RELEASE=all COSIGN=$(abspath bin/cosign) go test -C tools -count=1 -v -timeout 3h ./release -run '^(TestProduct|TestKeyless|TestCosignItself)$$'

.PHONY: licences
licences: ## Check the licences of everything that is linked (OUT: a file for the notices)
	go run -C tools ./release licences $(if $(OUT),--out '$(abspath $(OUT))')

.PHONY: controlplane
controlplane: ## Build the local control plane's programs, once per version
	$(CONTROLPLANE) build

.PHONY: cluster-up
cluster-up: ## Start an empty local cluster
	$(CONTROLPLANE) up

.PHONY: cluster-down
cluster-down: ## Stop it
	$(CONTROLPLANE) down

.PHONY: chart
chart: controlplane ## Lint and render the chart
	go test -count=1 ./test/suite/chart/...

.PHONY: docs
docs: tools/site/node_modules ## Build the documentation site into dist/site, with search that needs no server (SITE: another folder; needs Node.js 20 and npm)
	cd tools/site && node stage.mjs && npx --no-install vitepress build --outDir $(abspath $(SITE))
	@echo 'the site is in $(SITE), for any web server, such as: python3 -m http.server --directory $(SITE)'

.PHONY: docs-serve
docs-serve: tools/site/node_modules ## Show the documentation site at http://localhost:5173 (start it again after a change)
	cd tools/site && node stage.mjs && npx --no-install vitepress dev --port 5173

tools/axe/node_modules: tools/axe/package-lock.json
	npm ci --no-audit --no-fund --prefix tools/axe
	@touch $@

tools/site/node_modules: tools/site/package-lock.json
	npm install --no-save --no-audit --no-fund --prefix tools/site # not ci: npm leaves the packages of other platforms out of the lock
	@touch $@

.PHONY: bench
bench: ## Run the benchmarks once, and plot how the solver's time grows
	go test -run '^$$' -bench . -benchtime 3x ./controller/... | go run -C tools ./growth

.PHONY: bench-compare
bench-compare: ## Compare the benchmarks of PKG with those at the commit BASE, in turns, by benchstat (BENCH=regexp, COUNT=runs)
	go run -C tools ./benchcompare -base $(or $(BASE),main) -package $(or $(PKG),./controller/core/solver) -bench '$(or $(BENCH),.)' -count $(or $(COUNT),10)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (default 20s)
	go run -C tools ./fuzz -time $(or $(FUZZTIME),20s)

.PHONY: fuzz-hours
fuzz-hours: ## Give every fuzz target FUZZCPU of processor time (default 1h), counting what docs/measurements/fuzzing.md says it has had
	nice -n 19 go run -C tools ./fuzz -cpu $(or $(FUZZCPU),1h) -record ../docs/measurements/fuzzing.md

.PHONY: digests
digests: ## Compare the plans of 2,000 seeded scenarios with those on record (about 2 minutes)
	go run -C tools/digests . compare

.PHONY: reference
reference: ## Compare plans and consolidations, of seeded clusters and those written by hand, with Karpenter's own (REFERENCE: flags, -f FILE for one cluster)
	go run -C tools/reference . $(REFERENCE)

.PHONY: soak
soak: ## Long fuzzing, random scenarios for the solver and the real scheduler, simulated clusters, savings, caps, faults of AWS
	$(MAKE) fuzz FUZZTIME=5m
	SOAK=1000 go test -timeout 30m ./controller/core/solver -run 'Holds?$$|Never|Pays|Repeatable|Headroom'
	SOAK=100 go test -count=1 -timeout 3h ./test/suite/simulation
	SOAK=200 go test -count=1 -timeout 1h -v ./test/suite/savings
	SOAK=2000 go test -count=1 -timeout 1h ./test/suite/agreement -run Filters -v
	SOAK=100 go test -count=1 -timeout 1h ./test/suite/agreement -run Scheduler -v
	SEEDS=10000 go test -count=1 -timeout 1h ./test/suite/ceilings
	ACCOUNTS=all go test -count=1 -timeout 1h ./controller/cloud/aws -run 'Fault|Matrix'

.PHONY: live
live: controlplane ## Measure bursts of pods live (SCENARIO, PODS, BOOT, SEED; BASE=commit to compare with; OUT=folder)
	go run ./cmd/live --scenario $(or $(SCENARIO),$(BURSTS)) --pods $(or $(PODS),1000) --boot $(or $(BOOT),7s) --seed $(or $(SEED),1) $(if $(BASE),--base $(BASE)) $(if $(OUT),--out $(OUT))

.PHONY: lint
lint: ## Run the linters
	go tool -modfile=tools/lint/go.mod golangci-lint run ./...

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in what is called (VULNDB: a mirror of https://vuln.go.dev)
	go tool -modfile=tools/vuln/go.mod govulncheck $(if $(VULNDB),-db $(VULNDB)) ./... || { code=$$?; \
		[ $$code -eq 3 ] || echo 'vulncheck: no verdict: the database was not read; set VULNDB to a mirror of https://vuln.go.dev' >&2; exit $$code; }

.PHONY: generate
generate: ## Make generated files anew
	go generate ./api/... ./controller/cloud/catalog/... ./policies/... ./sdk/...
	go run -C tools ./refpages ..

.PHONY: verify
verify: generate ## Fail when generated files, go.mod or formatting are stale
	go mod tidy
	gofmt -l api cmd controller policies sdk simulator test tools | (! grep .)
	git diff --exit-code

.PHONY: ci
ci: ## What CI runs on a fresh machine: installs what the tests need (as root, on Debian), then everything
	.ci/run

.PHONY: check
check: test race lint chart ## Everything CI runs
	$(MAKE) demo DEMO=quiet
