# make demo    protect a table, learn a tree from it, print what it cost
# make quick   what one runs while working: fewer examples, changed notebooks, no site
# make test    the whole gate: notebooks, exported code, README, tests, site, main command
# make help    all targets
# The virtual environment .venv is made when it is missing and refreshed when settings.ini or setup.py changed.

VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/run.stamp
DEV := $(VENV)/dev.stamp
export OMP_NUM_THREADS ?= 1
export PYTHONHASHSEED ?= 0
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo quick test stress lint docs notebooks bench clean help

demo: $(RUN)       ## protect a made-up population, learn a tree, write a report
	$(BIN)/ppdt demo

quick: $(DEV)      ## fewer examples, changed notebooks, no site: under 3 minutes
	PPDT_HYPOTHESIS=quick PPDT_NOTEBOOKS=changed $(BIN)/python -m pytest -q --ignore=tests/test_site.py \
	  --ignore=tests/test_benchmarks.py --ignore=tests/test_replicate.py

test: $(DEV)       ## the whole gate
	$(BIN)/python -m pytest -q -n logical

lint: $(DEV)       ## style, the numbers of the house, types of the public modules
	$(BIN)/ruff format nbs tests scripts benchmarks
	$(BIN)/ruff check nbs ppdt tests scripts benchmarks
	$(BIN)/python scripts/house.py --check --worst
	$(BIN)/basedpyright --pythonpath $(BIN)/python

stress: $(DEV)     ## property tests on thousands of random tables
	$(BIN)/python scripts/stress.py

docs: $(DEV)       ## the site without Quarto, in _docs
	$(BIN)/python tests/test_site.py

notebooks: $(DEV)  ## export the package, run all notebooks and store their outputs, make README and references
	$(BIN)/python scripts/make_references.py
	$(BIN)/nbdev_export
	$(BIN)/python tests/test_notebooks.py
	$(BIN)/nbdev_clean
	$(BIN)/python scripts/make_readme.py

bench: $(DEV)      ## speed and memory; see benchmarks/
	@for script in benchmarks/bench_*.py; do [ -e "$$script" ] || continue; echo "$$script"; $(BIN)/python "$$script" || exit 1; done

clean:             ## remove what was built, the environment too
	rm -rf $(VENV) _docs _proc build dist *.egg-info nbs/nbdev.yml .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:              ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1	\2/p' Makefile

# the first interpreter that runs, is new enough and can make environments
$(BIN)/python:
	@for p in $(PYTHON) python3.11 python3.12 python3.13 python3 python; do \
	  if "$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    echo "making $(VENV) with $$p"; exec "$$p" -m venv --clear $(VENV); fi; done; \
	echo "ppdt needs Python 3.11 or newer with its venv module; set PYTHON to such an interpreter" >&2; exit 1

$(RUN): settings.ini setup.py | $(BIN)/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(DEV): settings.ini setup.py | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@ $(RUN)
