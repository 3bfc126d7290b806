# `make` alone prints the targets. CMakeLists.txt does the same work with cmake; both call scripts/build.sh.
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 600
CALLS ?= 1000000
SEED ?=
SHORT ?=
NODES ?= $(if $(SHORT),2,2 3)
TIMES ?= 10
TESTS ?=
DIR ?=
BUILD := $(CURDIR)/build

help: ## print this
	@echo "gompirma $$(cat core/version/VERSION): targets"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

build: ## library, launcher, compiler wrappers and headers into build/
	@scripts/deps.sh build
	@scripts/build.sh "$(BUILD)"
	@echo "built in $(BUILD)"

demo: ## build and run the examples, and print a report; TEXT=FILE names the text whose words are counted
	@scripts/deps.sh demo
	@scripts/demo.sh "$(BUILD)" $(TEXT)

test: ## every test: ctest, go test, race detector, lint, generated files; lists slow and skipped tests
	@scripts/deps.sh test
	@scripts/test.sh "$(BUILD)" all

quick: ## build and test one directory (DIR=coll), or the directories of changed files: one or two minutes
	@scripts/deps.sh test
	@scripts/quick.sh "$(BUILD)" $(DIR)

test-c: ## the C and Fortran tests alone (ctest)
	@scripts/deps.sh test
	@scripts/test.sh "$(BUILD)" c

test-go: ## the Go tests alone
	@scripts/deps.sh test
	@scripts/test.sh "$(BUILD)" go

flaky: ## repeat tests TIMES=10 times and list those that failed; TESTS="TestDeadlocks conformance/put": only these
	@scripts/deps.sh test
	@GOMPIRMA_TEST_TIMES="$(TIMES)" GOMPIRMA_TESTS="$(TESTS)" scripts/test.sh "$(BUILD)" flaky

fresh: ## the two commands of the README in bare Debian roots and fresh clones of HEAD
	@scripts/deps.sh fresh
	@scripts/fresh.sh

deb: ## Debian packages in build/deb, made with dpkg-buildpackage and checked with lintian
	@scripts/deps.sh deb
	@scripts/deb.sh "$(BUILD)/deb"

test-deb: ## install, use, upgrade and remove the packages of `make deb` in a bare Debian root
	@scripts/deps.sh deb
	@scripts/deps.sh fresh
	@scripts/deb.sh "$(BUILD)/deb"
	@GOMPIRMA_FRESH_FOLDERS="$(BUILD)/deb:/mnt/deb" scripts/fresh.sh 'tests/packages/debian.sh /mnt/deb'

test-recipes: ## run the steps of packages/Dockerfile and packages/apptainer.def in bare Debian roots
	@scripts/deps.sh fresh
	@scripts/fresh.sh tests/packages/docker.sh
	@scripts/fresh.sh tests/packages/apptainer.sh

soak: ## random RMA programs against the model (tests/go/model) for SECONDS=600
	@scripts/deps.sh build
	@GOMPIRMA_SOAK=$(SECONDS)s go test -count=1 -timeout 0 -v -run '^TestModel$$' ./tests/go/model

fuzz: ## CALLS=1000000 calls of all functions with wrong arguments (tests/c/fuzz); SEED=N seeds the random numbers
	@scripts/deps.sh build
	@GOMPIRMA_FUZZ_CALLS=$(CALLS) GOMPIRMA_FUZZ_SEED=$(SEED) go test -count=1 -timeout 0 -v -run '^Test(Fuzz|Outside)$$' ./tests/go/fuzz

test-fabric: ## tests of C and Fortran, examples, model, matrix on NODES=2 and 3 simulated nodes; SHORT=1: fewer tests, on 2 nodes
	@scripts/deps.sh test
	@GOMPIRMA_TEST_NODES="$(NODES)" GOMPIRMA_TEST_SHORT="$(SHORT)" scripts/test.sh "$(BUILD)" fabric

test-cluster: ## test jobs over hosts made of namespaces (root), under MPICH's, Open MPI's and Slurm's launchers
	@scripts/deps.sh cluster
	@scripts/test.sh "$(BUILD)" cluster

test-browser: ## test the page of `gompirun report` in a headless Chromium
	@scripts/deps.sh browser
	@scripts/test.sh "$(BUILD)" browser

scale: ## jobs of 100,000 processes on 1,000 nodes, windows of 1,000,000, simulated: the figures of docs/SCALING.md
	@scripts/deps.sh test
	@scripts/test.sh "$(BUILD)" scale

test-ref: ## tests/c/conformance, regress, check with Debian's MPICH, to check the tests themselves
	@scripts/deps.sh ref
	@scripts/test.sh "$(BUILD)" ref

matrix: ## test every combination of one-sided operation, datatype, synchronization and window kind
	@scripts/deps.sh build
	@scripts/build.sh "$(BUILD)"
	@go run ./tests/go/matrix "$(BUILD)"

race: ## the Go packages under the race detector
	@scripts/deps.sh build
	@scripts/test.sh "$(BUILD)" race

lint: ## formatting, go vet, layers, warnings, generated files
	@scripts/deps.sh test
	@scripts/test.sh "$(BUILD)" lint

fmt: ## format Go (gofmt) and C (.clang-format)
	@scripts/deps.sh test
	@scripts/format.sh

generate: ## regenerate the generated files
	go generate ./...

bench: ## measure against Debian's MPICH and Open MPI in one run: tables, JSON and charts in build/bench
	@scripts/deps.sh bench
	@scripts/build.sh "$(BUILD)"
	@bench/run.sh "$(BUILD)"

bench-quick: ## the main rows of `make bench`, each launched once: two minutes
	@scripts/deps.sh bench
	@scripts/build.sh "$(BUILD)"
	@go run ./bench/compare -build "$(BUILD)" -quick -runs 1

# Measures operations over sizes in loops as in public suites, with 5 launches for each library: 25 minutes. For a
# single operation, with its table: go run ./bench/compare -sweeps -only '^put.flush$$' -runs 5
bench-sweeps: ## operations from 1 B to 4 MiB as public suites measure them: half an hour at most
	@scripts/deps.sh bench
	@scripts/build.sh "$(BUILD)"
	@bench/run.sh "$(BUILD)" -sweeps -runs 5

bench-sweeps-quick: ## like bench-sweeps with fewer sizes, each launched once: three minutes
	@scripts/deps.sh bench
	@scripts/build.sh "$(BUILD)"
	@go run ./bench/compare -build "$(BUILD)" -sweeps -quick -runs 1

bench-fabric: ## measure over two hosts made of namespaces (root): a table in build/bench/fabric.md
	@scripts/deps.sh bench-fabric
	@scripts/build.sh "$(BUILD)"
	@tests/cluster/bed.sh 2 go run ./bench/compare -build "$(BUILD)" -fabric -o "$(BUILD)/bench/fabric.md" -json "$(BUILD)/bench/fabric.json"

# Launches every row nine times with each library: 10 minutes. To print single rows, run: go run ./bench/compare -census
# -only Type_vector. If only a reason was added to a row, run only the last command.
census: ## measure every function of MPI against Debian's MPICH and Open MPI: docs/census.txt, the worst ratio first
	@scripts/deps.sh bench
	@scripts/build.sh "$(BUILD)"
	@mkdir -p "$(BUILD)/bench"
	@go run ./bench/compare -build "$(BUILD)" -census -runs 9 -json "$(BUILD)/bench/census.json" >/dev/null
	@go run ./bench/compare -census -from "$(BUILD)/bench/census.json" -o docs/census.txt >docs/CENSUS.md
	@echo "written to docs/CENSUS.md and docs/census.txt"

measured: ## put the tables and charts of the last `make bench` into docs/MEASURED.md
	@bench/measured.sh "$(BUILD)"

install: $(if $(SUDO_USER),,build) ## install: PREFIX=/some/where [DESTDIR=]; the prefix can be moved afterwards
	@DESTDIR="$(DESTDIR)" scripts/install.sh install "$(BUILD)" "$(PREFIX)"

uninstall: ## remove what install made: PREFIX= [DESTDIR=]
	@DESTDIR="$(DESTDIR)" scripts/install.sh uninstall "$(BUILD)" "$(PREFIX)"

clean: ## remove build/
	rm -rf "$(BUILD)"

.PHONY: help build demo test test-c test-go test-fabric test-cluster test-browser scale flaky fresh deb test-deb test-recipes soak fuzz test-ref matrix race lint fmt generate bench bench-quick bench-sweeps bench-sweeps-quick bench-fabric census measured install uninstall clean
.DEFAULT_GOAL := help
