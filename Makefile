# The etcd operator's commands. `make help` lists them. Nothing has to be run first: each target makes what it needs.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := $(CURDIR)/node_modules/.bin
# The pinned Node, whatever Node the machine has.
NODE := $(BIN)/node
export PATH := $(BIN):$(PATH)
READY := node_modules/.installed

##@ Use it
.PHONY: demo
demo: $(READY) ## The life of an etcd cluster: created, healed, upgraded, backed up, lost, restored
	@$(NODE) demo/main.ts $(LAB_OPTIONS)

.PHONY: lab
lab: $(READY) ## Start the local Kubernetes: 3 nodes in 3 zones; kubeconfig in .lab/kubeconfig
	@$(NODE) lab/main.ts up $(LAB_OPTIONS)

.PHONY: lab-down
lab-down: $(READY) ## Stop the local Kubernetes and leave no trace of it
	@$(NODE) lab/main.ts down $(LAB_OPTIONS)

.PHONY: image
image: $(READY) ## Build the operator image, without Docker, as an archive in dist/images; load it into the lab if that is up
	@$(NODE) lab/main.ts image $(LAB_OPTIONS)

.PHONY: plugin
plugin: $(READY) ## Build the kubectl plugin: dist/kubectl-etcd for Node, dist/kubectl-etcd-linux-* without, dist/krew for krew
	@$(NODE) lab/plugin/main.ts $(PLUGIN_OPTIONS)

.PHONY: deploy
deploy: $(READY) ## Install the operator, or bring it up to date, in the lab (started if it is not up)
	@$(NODE) demo/deploy.ts $(LAB_OPTIONS)

##@ Prove it
.PHONY: test
test: $(READY) ## Every test: types, lint, format, unit, then the suites on a real Kubernetes
	@$(NODE) test/run.ts

.PHONY: matrix
matrix: $(READY) ## All that make test takes a sample of: simulated histories, crashes, versions, sizes, mistakes
	@MATRIX=all PROPERTY_RUNS=$${PROPERTY_RUNS:-200} $(NODE) test/run.ts unit etcd robustness observability stores install backup kube-faults lab-lifecycle lab e2e e2e-rolls e2e-volumes e2e-tls e2e-backup e2e-faults e2e-install

.PHONY: bench
bench: $(READY) ## Figures, each a ratio to a floor measured in the same run (BENCH_OPTIONS=--help)
	@$(NODE) bench/main.ts $(BENCH_OPTIONS)

.PHONY: chaos
chaos: $(READY) ## Break one thing while another changes, under clients that etcd's own checkers judge (CHAOS_MINUTES=5 CHAOS_SEED=… CHAOS_FAULTS=… CHAOS_CHANGES=… CHAOS_PAGE=1)
	@$(NODE) chaos/main.ts $(LAB_OPTIONS)

##@ Publish it
.PHONY: release
release: $(READY) ## Everything of a release in dist/release, signed: VERSION=0.2.0 IMAGE=registry.example.com/etcd-operator
	@$(NODE) release/main.ts --version '$(VERSION)' $(if $(IMAGE),--image '$(IMAGE)') $(RELEASE_OPTIONS)

.PHONY: verify-release
verify-release: $(READY) ## Check the files of a release: RELEASE=dist/release KEY=cosign.pub
	@$(NODE) release/verify/main.ts $(if $(RELEASE),--release '$(RELEASE)') $(if $(KEY),--key '$(KEY)')

.PHONY: release-draft
release-draft: ## Upload dist/release to GitHub as a draft that a person publishes: VERSION=0.2.0, with gh and its GH_TOKEN
	@gh release create 'v$(VERSION)' --draft --verify-tag --title 'v$(VERSION)' --notes-file dist/release/RELEASE-NOTES.md dist/release/*

##@ Read it
.PHONY: site
site: $(READY) site/node_modules/.installed ## Build the documentation as a site: dist/site; a dead link ends it (SITE_BASE=/path/ to serve it below a path)
	@cd site && $(NODE) node_modules/vitepress/bin/vitepress.js build
	@echo "✓ dist/site"

##@ Work on it
.PHONY: check
check: $(READY) ## Types, lint and format only
	@$(NODE) test/run.ts types page-types lint format

.PHONY: unit
unit: $(READY) ## Unit tests only; one file: make unit FILE=src/kube/controller/queue.test.ts; one test: NAME='words of its name'
	@$(NODE) test/run.ts unit $(if $(FILE),--file $(FILE)) $(if $(NAME),--test '$(NAME)')

.PHONY: suite
suite: $(READY) ## One suite on the running lab (else on one of its own): make suite S=lab [FILE=…] [NAME='…']
	@$(NODE) test/run.ts $(S) $(if $(FILE),--file $(FILE)) $(if $(NAME),--test '$(NAME)')

.PHONY: mutants
mutants: $(READY) ## Which small mistakes no test notices, in src/{cluster,tls,backup,restore,worker,store,seal}: MUTANTS=200 for a sample, FILE=src/seal for a file or folder
	@$(NODE) test/mutants/main.ts $(if $(MUTANTS),--count $(MUTANTS)) $(if $(FILE),--file $(FILE)) $(if $(SEED),--seed $(SEED))

.PHONY: format
format: $(READY) ## Format every file
	@$(BIN)/biome format --write

.PHONY: builds
builds: $(READY) ## Build (or find in the cache) everything that the lab runs on
	@$(NODE) lab/build/main.ts

.PHONY: clean
clean: ## Remove what was made in the tree; the build cache stays
	@if [ -x $(NODE) ]; then $(NODE) lab/main.ts down $(LAB_OPTIONS); fi
	rm -rf dist .lab node_modules

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Options: LAB_OPTIONS='--name x --subnet 10.90.0.0/16 --nodes 1'; KUBECONFIG=… LAB=none runs on a Kubernetes of yours."

$(READY): package.json package-lock.json
	@for tool in npm go; do command -v $$tool > /dev/null || { echo "make: $$tool is missing. Install it and run the same command again (Debian: apt-get install npm golang)." >&2; exit 1; }; done
	@echo '… installing the npm packages of package-lock.json' >&2
	@npm ci --loglevel=error
	@touch $@

site/node_modules/.installed: $(READY) site/package.json site/package-lock.json
	@echo '… installing the npm packages of site/package-lock.json' >&2
	@cd site && npm ci --loglevel=error
	@touch $@
