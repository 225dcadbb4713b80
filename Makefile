# The two that a newcomer needs: `make demo` and `make test`. Everything lives in .venv and build/.

PYTHON ?= $(shell python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo python3 || echo python3.11)
VENV := .venv
PY := $(VENV)/bin/python
CAMPAIGN ?= 1000000
SCHEDULES ?= 1000000
SEED ?= 0
PYTEST_ARGS ?=
BENCH_ARGS ?=

C_SOURCES := $(wildcard csrc/*.c csrc/*.h)
C_FORMATTED := $(C_SOURCES) $(wildcard bindings/*.c tests/c/*.[ch] tests/fuzz/*.[ch] bench/c/*.[ch] examples/*.c)
BUILD_INPUTS := pyproject.toml setup.py $(wildcard bindings/*.py bindings/*.c) $(C_SOURCES)
CLUSTERS := $(sort $(wildcard examples/clusters/*))

.PHONY: demo test native lint analyse pytest bench decisions verify tlc simulate-protocol fuzz sanitize mutants reproduction coverage clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	@for cluster in $(CLUSTERS); do \
		echo "== $$cluster"; \
		$(VENV)/bin/phalanx topology $$cluster || exit 1; \
	done
	$(VENV)/bin/phalanx place examples/clusters/h100-64 examples/jobs.yaml \
		--spares superpod:host:1 --fail host=h100-036
	@echo "== two tenants, rounds, a lease that ends, a failure and its repair"
	$(VENV)/bin/phalanx schedule examples/clusters/h100-64 examples/jobs-schedule.yaml \
		--order owed-then-utility --lease 240 --round 120 --spares superpod:host:1 \
		--fail host=h100-036@400
	@echo "== exit status 1 below: a job or a repair is refused, and says why"
	$(VENV)/bin/phalanx place examples/clusters/nvl72-pair.yaml examples/jobs-nvl72.yaml \
		--fail host=gb200-a-03 || [ $$? = 1 ]
	$(VENV)/bin/phalanx place examples/clusters/slurm-tree examples/jobs-slurm.yaml \
		--fail host=dgx02 --drain host=dgx13 || [ $$? = 1 ]

test: lint pytest
	@echo "== C unit tests and the C example"
	tests/c/run.sh
	@echo "== fuzz corpus, replayed"
	tests/fuzz/run.sh replay
	@echo "== mutants, the short list"
	$(PY) tests/mutants/run.py --short

# The core alone, in place: seconds after an edit of csrc.
native: | $(VENV)/.made
	@$(PY) -c 'import cffi, setuptools as s; assert int(s.__version__.split(".")[0]) >= 77' \
		2>/dev/null || $(PY) -m pip install -q 'setuptools>=77' cffi
	$(PY) setup.py -q build_ext --inplace

lint: $(VENV)/.all
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/clang-format --dry-run --Werror $(C_FORMATTED)

analyse: $(VENV)/.all
	printf '%s\n' $(filter %.c,$(C_SOURCES)) | \
		xargs -P 2 -I{} $(VENV)/bin/clang-tidy --quiet {} -- -std=c11 -Icsrc

pytest: $(VENV)/.all
	$(PY) -m pytest $(PYTEST_ARGS)

bench: $(VENV)/.bench
	$(PY) bench/run.py $(BENCH_ARGS)

# The OAK paper's decision times beside this machine's, in a minute.
decisions: $(VENV)/.bench
	$(PY) -m bench.decisions $(BENCH_ARGS)

# Scopes of the protocol that are too large for every run of the tests.
verify: $(VENV)/.all
	$(PY) -m tests.verification_campaign
	$(PY) -m tests.specification_campaign

# TLC on the configurations that take it minutes; the jar is fetched where none is named.
tlc: $(VENV)/.all
	jar="$${PHALANX_TLC_JAR:-$$(PYTHON=$(PY) .ci/tlc_jar)}" && \
		PHALANX_TLC_JAR="$$jar" $(PY) -m tests.tlc_campaign

fuzz: $(VENV)/.all
	tests/fuzz/run.sh campaign $(CAMPAIGN)

# Schedules of the protocol in a faulty world, over both cores; the floors are printed.
simulate-protocol: $(VENV)/.all
	$(PY) -m tests.properties.protocol_walk --schedules $(SCHEDULES) --seed $(SEED)

mutants: $(VENV)/.all
	$(PY) tests/mutants/run.py
	$(PY) -m tests.mutants.readers
	$(PY) -m tests.mutants.policies
	$(PY) -m tests.mutants.rounds
	$(PY) -m tests.mutants.fairness
	$(PY) -m tests.mutants.reliability
	$(PY) -m tests.mutants.allocation
	$(PY) -m tests.mutants.scheduling
	$(PY) -m tests.mutants.experiments
	$(PY) -m tests.mutants.schedule
	$(PY) -m tests.mutants.stores
	$(PY) -m tests.mutants.protocol
	$(PY) -m tests.mutants.engine
	$(PY) -m tests.mutants.histories

# docs/reproduction.md as this tree measures it; a test compares all of it but the times.
reproduction: $(VENV)/.all
	@mkdir -p build
	$(VENV)/bin/phalanx reproduce --all --markdown > build/reproduction.md
	cp build/reproduction.md docs/reproduction.md

# What a sanitizer cannot see and makes many times slower: house rules, and tests of readers and
# scores in which the core's names do not occur; and what calls the core as test_testbed.py does,
# only more often. A test file anywhere else runs.
SANITIZE_LEFT_OUT = tests/tidy \
	tests/published/test_reproduction.py tests/integration/test_findings_page.py \
	$(shell grep -LE '\b(Planner|native|phalanx_core\.cli)\b' tests/unit/topology/test_*.py \
		tests/unit/scoring/test_*.py)

# A copy of the tree is built under the switches, so .venv keeps its plain core. Pytest must not
# hold back what a sanitizer says, because the process ends with it.
sanitize: $(VENV)/.all
	PHALANX_SANITIZE=address,undefined .ci/variant sanitize
	cd build/sanitize && PHALANX_SANITIZE=address,undefined ASAN_OPTIONS=detect_leaks=0 \
		LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		$(abspath $(PY)) -m pytest tests phalanx_core/placement phalanx_core/native.py \
		-p no:cacheprovider --capture=sys $(SANITIZE_LEFT_OUT:%=--ignore=%) $(PYTEST_ARGS)
	PHALANX_SANITIZE=address,undefined tests/c/run.sh

# Branches of the core, by the C tests and the fuzz target alone.
coverage: $(VENV)/.all
	GCOVR=$(VENV)/bin/gcovr tests/c/coverage.sh 95

clean:
	rm -rf $(VENV) build dist *.egg-info phalanx_core/*.so .benchmarks .hypothesis \
		.pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 is needed")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made $(BUILD_INPUTS)
	$(PY) -m pip install --disable-pip-version-check -e '.[cli,readers]'
	@touch $@

# Installs more than the demo does, so the demo's stamp is fresh as well.
$(VENV)/.all: $(VENV)/.made $(BUILD_INPUTS)
	$(PY) -m pip install --disable-pip-version-check -e '.[cli,readers,test,lint]'
	@touch $(VENV)/.demo $@

# The solvers that rounds are measured beside; they must agree with ours on what they need.
$(VENV)/.bench: $(VENV)/.made $(BUILD_INPUTS)
	$(PY) -m pip install --disable-pip-version-check -e '.[cli,readers,test,lint,bench]'
	$(PY) -m pip check
	@touch $(VENV)/.demo $(VENV)/.all $@
