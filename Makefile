# SPDX-License-Identifier: Apache-2.0
#
#   make demo       build, start everything, show a machine come and go, stay up
#   make test       every test, vet and lint included
#   make build      every program, into bin/
#   make lint       the linter with .golangci.yml
#   make generate   what is generated: deep copies, CRDs, reference pages
#   make bench      what docs/performance.md states
#   make clean      bin/ as if nothing had been built; Go's own caches stay
#
# Go and bash are all it needs. What is up to date is not built again.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.SILENT:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

# The version is stamped by -ldflags; Go's own stamp fails where git does not
# trust the checkout, as in many containers.
export GOFLAGS += -buildvcs=false

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

COMPILE := build/compile.sh
OURS    := controller provider fivespot
CAPI    := core kubeadm-bootstrap kubeadm-control-plane docker

# In the order in which a build on a new machine tells most by failing.
PROGRAMS := $(OURS:%=bin/%) bin/devplane bin/capi/built

.PHONY: build demo test lint generate bench clean
build: $(PROGRAMS) bin/kubectl bin/kwok bin/capi-v1beta1/core bin/controller-gen

demo: $(PROGRAMS)
	exec bin/fivespot demo $(if $(DEMO_EXIT),--exit)

test: build bin/golangci-lint
	build/test.sh

lint: bin/golangci-lint
	build/lint.sh

generate: bin/controller-gen
	tools/generate.sh
	go run ./docs/generate

bench: $(PROGRAMS)
	build/bench.sh

clean:
	rm -rf bin

# Our programs.

sources := go.mod go.sum $(shell find api calendar cmd deploy internal providers sdk -type f ! -name '*_test.go' ! -path '*/testdata/*')

ldflags := -s -w -X github.com/fivespot/fivespot/internal/version.version=$(VERSION)

$(OURS:%=bin/%): bin/%: $(sources) $(COMPILE)
	$(COMPILE) $* . $@=./cmd/$* -- -ldflags '$(ldflags)'

# Kubernetes.

bin/devplane: $(filter-out %_test.go,$(wildcard devplane/*.go)) $(wildcard devplane/*.yaml) devplane/go.mod devplane/go.sum devplane/build.sh $(COMPILE)
	devplane/build.sh $@

# Of the same release, for the tests that type what a reader of the guide would.
bin/kubectl: devplane/go.mod devplane/go.sum devplane/build.sh $(COMPILE)
	devplane/build.sh $@ k8s.io/kubernetes/cmd/kubectl

# Kubelets of nodes that do not exist, for the tests on test/hardware.
bin/kwok: test/kwok/go.mod test/kwok/go.sum $(COMPILE)
	$(COMPILE) kwok test/kwok $@=sigs.k8s.io/kwok/cmd/kwok -- -ldflags '-s -w'

# Cluster API. What its managers are built from and run with is prepared first;
# see test/capi/prepare.

bin/capi/built: $(filter-out %_test.go,$(wildcard test/capi/prepare/*.go)) test/capi/go.mod test/capi/go.sum $(COMPILE)
	echo "Cluster API: preparing its sources and definitions"
	cd test/capi && go run ./prepare -out ../../bin/capi
	$(COMPILE) "Cluster API" test/capi \
		bin/capi/core=sigs.k8s.io/cluster-api/core \
		bin/capi/kubeadm-bootstrap=sigs.k8s.io/cluster-api/bootstrap/kubeadm \
		bin/capi/kubeadm-control-plane=sigs.k8s.io/cluster-api/controlplane/kubeadm \
		bin/capi/docker=sigs.k8s.io/cluster-api/test/infrastructure/docker \
		-- -modfile='$(CURDIR)/bin/capi/go.mod' -ldflags '-s -w'
	touch $@

# The last one that speaks v1beta1 only, to be upgraded from.
bin/capi-v1beta1/core: test/capi-v1beta1/go.mod test/capi-v1beta1/go.sum test/capi-v1beta1/build.sh $(COMPILE)
	test/capi-v1beta1/build.sh $(@D)

# Tools.

bin/controller-gen: tools/go.mod tools/go.sum
	$(COMPILE) controller-gen tools $@=sigs.k8s.io/controller-tools/cmd/controller-gen

bin/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	$(COMPILE) golangci-lint tools/lint $@=github.com/golangci/golangci-lint/v2/cmd/golangci-lint -- -ldflags '-s -w'
