# Two commands on a fresh machine: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# Spark's workers must import the project's dependencies: they run the driver's interpreter.
export PYSPARK_PYTHON := $(CURDIR)/$(VENV)/bin/python
export PYSPARK_DRIVER_PYTHON := $(CURDIR)/$(VENV)/bin/python
export SPARK_LOCAL_IP ?= 127.0.0.1
# Without bytecode of the tests, each run parses all of them again: half a minute.
unexport PYTHONDONTWRITEBYTECODE
FUZZ_SECONDS ?= 600
HISTORIES ?= 100000
HISTORIES_SEED ?= 1000000
QUORUMS ?= 50
QUORUMS_SEED ?= 1
PLANS ?= 33
PLANS_SEED ?= 100
LESS_PAIRS ?= 10
LESS_SEED ?= 1
MUTANTS_SECONDS ?= 3600
MUTANTS_SEED ?= 1
SINCE ?= HEAD
ROUNDS ?= 30
ROUNDS_SEED ?= 1

BASE ?= HEAD

# Builds one wheel for each of these versions that is installed.
WHEEL_PYTHONS ?= python3.11 python3.12 python3.13 python3.14

CAPTURE := fixtures/captures/s3_2/both-led

.PHONY: help demo quick quick-selection affected reach test same oracle both-sources fuzz faults faults-long agreement-long less suppressed histories plans quorums ordinary mutants bench portable wheel lint types spark-matrix fixtures findings scenarios readme man schemas notebooks clean check-demo check-test
.DEFAULT_GOAL := help

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: check-demo $(VENV)/.demo  ## read a real capture of a split cluster with Spark, then ask replica-diff which replica may lead
	@$(RUN) examples/demo.py $(CAPTURE)
	@echo && echo '$$ replica-diff $(CAPTURE)'
	@$(VENV)/bin/replica-diff $(CAPTURE) || test $$? -eq 1  # 1: it found something, which is the point

quick: $(VENV)/.test  ## run the chosen tests of format to cli in two processes: no brokers, no Spark, no browser
	@$(RUN) -m tests.chosen.quick

affected: $(VENV)/.test $(VENV)/.coverage  ## run the tests that reach a line changed since the commit SINCE
	@$(RUN) -m tests.chosen.affected --since $(SINCE)

reach: check-test $(VENV)/.test $(VENV)/.coverage  ## measure for `make affected` which tests reach which line; half an hour
	$(RUN) -m tests.chosen.measure

quick-selection: check-test $(VENV)/.test $(VENV)/.coverage  ## choose anew what `make quick` runs, after it has measured what changed
	$(RUN) -m tests.chosen.selection

# Runs two halves at the same time and prefixes each line with its half, as `oracle` does.
test: check-test $(VENV)/.test  ## run every test, including real brokers; twelve minutes on two cores
	@$(RUN) -m tests.halves test

same: check-test $(VENV)/.test  ## compare what every command says of some 800 states with the commit BASE
	@$(RUN) -m tests.same --base $(BASE)

oracle: check-test $(VENV)/.test  ## run the remaining scenarios on real brokers
	@$(RUN) -m tests.halves oracle

both-sources: check-test $(VENV)/.test  ## compare all option combinations with Spark's Kafka source; half an hour
	KAFKALOG_EVERY_CASE=1 $(RUN) -m pytest -m oracle -v tests/oracle/test_both_sources.py

fuzz: check-test $(VENV)/.test  ## fuzz every parser for FUZZ_SECONDS in total; guided by coverage if atheris can be installed
	@$(RUN) -m pip install --quiet atheris || echo "no atheris for this Python: mutations without coverage" >&2
	$(RUN) -m tests.fuzz --seconds $(FUZZ_SECONDS)

histories: check-test $(VENV)/.test  ## check elections of HISTORIES random histories against a plain-Python model, from HISTORIES_SEED on
	$(RUN) -m tests.histories --histories $(HISTORIES) --seed $(HISTORIES_SEED)

quorums: check-test $(VENV)/.test  ## kill real quorums of controllers and check kafkalog quorum: QUORUMS states from QUORUMS_SEED on; half an hour
	$(RUN) -m fixtures.quorums --states $(QUORUMS) --seed $(QUORUMS_SEED)

plans: check-test $(VENV)/.test  ## carry out plans on real brokers: PLANS random states from PLANS_SEED on; half an hour
	$(RUN) -m fixtures.plans --states $(PLANS) --seed $(PLANS_SEED)

ordinary: check-test $(VENV)/.test  ## let a sound cluster live, restart and crash: ROUNDS captures raise no alarm; half an hour
	$(RUN) -m fixtures.ordinary --rounds $(ROUNDS) --seed $(ROUNDS_SEED)

faults: check-test $(VENV)/.test  ## check every fault of the catalogue in every base; writes docs/faults.md
	$(RUN) -m fixtures.faults

faults-long: check-test $(VENV)/.test  ## flip every bit of small segments and their indexes, all codecs and formats
	$(RUN) -m tests.faults.every_bit

agreement-long: check-test $(VENV)/.test  ## compare what verify, replica-diff, salvage and plan report for every fault in every base
	$(RUN) -m tests.agreement

less: check-test $(VENV)/.test  ## take each part of each piece of evidence away, and LESS_PAIRS pairs: no answer is stronger; some hours
	$(RUN) -m tests.less --pairs $(LESS_PAIRS) --seed $(LESS_SEED)

mutants: check-test $(VENV)/.test $(VENV)/.coverage  ## mutation testing, MUTANTS_SECONDS in total: the tests should notice each change
	@$(RUN) -m pip install --quiet cosmic-ray
	$(RUN) -m tests.mutants --seconds $(MUTANTS_SECONDS) --seed $(MUTANTS_SEED)

suppressed: check-test $(VENV)/.test  ## suppress each finding code in turn: a test must fail
	$(RUN) -m tests.suppressed

bench: check-test $(VENV)/.test  ## measure against Kafka's Java reader, aiokafka and Spark's Kafka source
	$(RUN) -m benchmarks

portable: check-test $(VENV)/.test  ## build and test the kernel without AVX-512, then without any CPU-specific instructions
	rm -rf build/portable && mkdir -p build/portable
	git ls-files -z | tar --create --null --files-from=- | tar --extract --directory=build/portable
	cd build/portable && for without in KAFKALOG_WITHOUT_AVX512 KAFKALOG_PORTABLE; do \
	    CFLAGS=-D$$without $(CURDIR)/$(RUN) setup.py --quiet build_ext --inplace --force && \
	    PYTHONPATH=$$PWD $(CURDIR)/$(RUN) -m pytest tests/kernel tests/scan/test_resynchronisation.py || exit 1; \
	done

wheel:  ## build dist/wheels for Python 3.11 to 3.14: they install without a compiler or network
	@mkdir -p dist/wheels; built=0; for python in $(WHEEL_PYTHONS); do \
	    "$$python" -c 'import ensurepip' 2>/dev/null || continue; \
	    echo "$$python ..." >&2; built=1; \
	    rm -rf build/wheel && "$$python" -m venv build/wheel && rm -rf build/lib* build/temp* && \
	    KAFKALOG_KERNEL=compiled build/wheel/bin/python -m pip wheel --quiet --wheel-dir dist/wheels . || exit 1; \
	done; test $$built = 1 || { echo "none of these is installed: $(WHEEL_PYTHONS)" >&2; exit 2; }
	@rm -rf build/wheel; ls dist/wheels/kafkalog-*

spark-matrix: check-test $(VENV)/.test  ## run the Spark tests on the newest patch release of 4.0, 4.1, 4.2 and 4.3
	$(RUN) tests/spark_matrix.py

lint: $(VENV)/.test  ## check rules and formatting with ruff
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.test  ## run mypy --strict
	$(VENV)/bin/mypy

fixtures: check-test $(VENV)/.test  ## list what `python -m fixtures.run` can capture again from real brokers
	$(RUN) -m fixtures.run --list

schemas: check-test $(VENV)/.test  ## write Kafka's message definitions, docs/schemas for --format json, and the options in docs/python.md
	$(RUN) -m examples.write_messages
	PYTHONPATH=. $(RUN) examples/write_schemas.py
	$(RUN) -m examples.write_options

findings: check-test $(VENV)/.test  ## write docs/findings.md, every code with a real example
	$(RUN) -m examples.write_findings

scenarios: check-test $(VENV)/.test  ## write docs/scenarios.md and its pictures, what replica-diff says about each scenario
	$(RUN) -m examples.write_scenarios

man: $(VENV)/.demo  ## write man/man1, the manual pages, from the help of the commands
	$(RUN) -m examples.write_man
	@! command -v groff >/dev/null || groff -man -Tutf8 -ww -z man/man1/*.1  # prints warnings only

readme: check-demo $(VENV)/.test  ## put the real output of commands into README.md and docs
	PYTHONPATH=. $(RUN) examples/write_readme.py

notebooks: check-demo $(VENV)/.test  ## run the notebooks, and store what they print and draw
	$(RUN) -m examples.write_notebooks

clean:  ## remove build results; captures and caches stay
	rm -rf build dist *.egg-info $(VENV)

# The tools that a machine must have. Everything else comes from package registries.
check-demo:
	@.ci/check-machine $(PYTHON) demo
check-test:
	@.ci/check-machine $(PYTHON) test

$(VENV)/.demo: setup.py pyproject.toml $(wildcard kafkalog_reader/kernel/*.py kafkalog_reader/kernel/*.pxd kafkalog_reader/kernel/*.h)
	@test -x $(RUN) || { echo "Installing into $(VENV) ..." >&2; $(PYTHON) -m venv $(VENV); }
	@$(RUN) -m pip install --quiet --editable '.[spark]'
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	@echo "Installing the test dependencies into $(VENV) ..." >&2
	@$(RUN) -m pip install --quiet --editable '.[spark,test,dev,notebook]'
	@touch $@

$(VENV)/.coverage: $(VENV)/.test
	@$(RUN) -m pip install --quiet coverage
	@touch $@
