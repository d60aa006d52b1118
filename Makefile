# Both commands set up what they need on a fresh machine with Python 3.11 or later: the demo the
# package and its pictures, the tests everything, in the same environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.NOTPARALLEL:
.PHONY: demo test lint types unit browser validity benchmark lock clean

demo: $(VENV)/.demo-ready
	$(BIN)/causalfocus demo --out out/demo.png

test: lint types unit

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.ready
	$(BIN)/mypy

# One process compiles the kernels first, so that the test workers find them in the cache.
unit: $(VENV)/.ready browser
	$(BIN)/causalfocus demo --json > /dev/null
	for rule in gaussian class; do \
	    $(BIN)/causalfocus simulate --rule $$rule --nodes 3 --json > /dev/null; done
	for policy in cbed abcd ait-dcdi git-dcdi; do \
	    $(BIN)/causalfocus simulate --policy $$policy --nodes 2 --json > /dev/null; done
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

# The page is tested in a real browser. Where none is found and this may install one, it does; else
# those tests are skipped, and say so.
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable $(CAUSALFOCUS_BROWSER)
browser:
	@for name in $(BROWSERS); do command -v $$name > /dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    apt-get -qq update && apt-get -qq -y install --no-install-recommends chromium > /dev/null; \
	fi || echo "No browser: the tests of the page will be skipped."

# Two thousand runs of each rule at delta = 0.2, one variable, two and any number set at once: about
# twenty minutes on two cores. RUNS=300 for less.
validity: $(VENV)/.ready
	$(BIN)/pytest -m slow tests/guarantees/test_validity.py tests/learner/test_achieved_values.py

# About five minutes: the paper's literal enumeration at six nodes is slow.
benchmark: $(VENV)/.ready
	$(BIN)/causalfocus benchmark engine --out out/benchmark

# Pins every dependency of every extra; run it after changing pyproject.toml.
# The demo's are the same versions as everyone's.
COMPILE = $(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-trusted-host \
	--no-emit-find-links --no-header --no-annotate --upgrade
TIDY = sed -i -e '/^causalfocus @/d' -e '/^\#/d' -e '/^$$/d'
lock: $(VENV)/.ready
	$(COMPILE) --extra dev --output-file requirements.lock pyproject.toml
	$(TIDY) requirements.lock
	$(COMPILE) --extra plot --constraint requirements.lock \
	    --output-file requirements-demo.lock pyproject.toml
	$(TIDY) requirements-demo.lock

# The environment, with the packages of one lock file and causalfocus itself.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || { echo "Python 3.11 or later is needed; give it as make PYTHON=..."; exit 1; }
test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
$(PIP) -r $(1)
$(PIP) --no-deps --editable .
endef

$(VENV)/.demo-ready: pyproject.toml requirements-demo.lock
	$(call install,requirements-demo.lock)
	touch $@

$(VENV)/.ready: pyproject.toml requirements.lock
	$(call install,requirements.lock)
	touch $(VENV)/.demo-ready $@

clean:
	rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
