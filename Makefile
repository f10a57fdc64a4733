# One command each: `make serve`, `make test`. Both set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOUSEHOLD := ../shared/eval/household
READY := $(VENV)/.ready
# In the order of the folders: what the tests of one share (a browser, a server, a memory) is made once
# for each worker, and not anew for each file between files of other folders. Where it takes long to
# make, one worker has the folder (tests/conftest.py).
# `make suite WORKERS=3` on two cores: a third of the time tests wait, for browsers, servers and clocks.
WORKERS ?= auto
PARALLEL := --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: help setup client wheel frontend frontend-check serve test suite compiled check lock docs site screenshots recordings bench bench-check
.PHONY: audit sbom plots bench-peers toolbox conformance clients clients-matrix crash gauntlet mutation nightly
.PHONY: years companion-year clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: $(READY)  ## prepare .venv from the lock file

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "Python 3.11 or later is needed; name one: make PYTHON=python3.13 serve")'
	$(PYTHON) -m venv $(VENV)
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	    -r $(VENV)/uv.lock
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	$(BIN)/python tools/client_code.py
	$(BIN)/python tools/model_weights.py
	$(BIN)/python tools/language_model.py
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

client: $(READY)  ## make the Python client, bring the model's weights and unpack that of languages, where they are missing or old
	@$(BIN)/python tools/client_code.py
	@$(BIN)/python tools/model_weights.py
	@$(BIN)/python tools/language_model.py

frontend: client  ## build the dashboard into the package, if its sources have changed
	@$(BIN)/python frontend/build.py --check || MEMORY_BUTLER_DASHBOARD=required \
	    $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .

frontend-check: $(READY)  ## types, linter and format of the dashboard
	$(BIN)/python frontend/build.py npm run check

serve: $(READY)  ## run the server, with the dashboard, on 127.0.0.1:8150
	@$(MAKE) --no-print-directory frontend || echo "Serving without a dashboard, or with an older one."
	$(BIN)/memory-butler serve $(ARGS)

test: check  ## linters, types, architecture and the tests, on all cores
	@$(MAKE) --no-print-directory suite

wheel: client  ## the package as users install it, into dist/
	rm -f dist/*.whl
	MEMORY_BUTLER_DASHBOARD=required $(BIN)/uv build --wheel --quiet --out-dir dist

suite: client  ## the tests alone, without those of the long profile
	@$(MAKE) --no-print-directory frontend || echo "Testing without a built dashboard."
	$(BIN)/pytest $(PARALLEL) $(ARGS)

compiled: client  ## compile what the tests import, which else each worker of the suite does
	@$(BIN)/pytest --collect-only -qq > /dev/null

check: client  ## linters, types, import contracts and plain English only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/plain_english.py

docs: $(READY)  ## write the generated pages under docs/
	$(BIN)/python tools/make_docs.py

site: $(READY)  ## the documentation as a site, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/uv tool run --quiet --from mkdocs==1.6.1 --with mkdocs-material==9.8.2 \
	    mkdocs build --quiet --strict

lock: $(READY)  ## resolve the dependencies again
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header \
	    --python-version 3.11 --group dev --upgrade pyproject.toml --output-file requirements.lock

screenshots: frontend  ## pictures of the dashboard's pages into docs/images
	PYTHONPATH=tests $(BIN)/python -m dashboard.screenshots $(ARGS)

recordings: frontend  ## short recordings of the terminal and the dashboard into docs/images
	PYTHONPATH=tests $(BIN)/python -m dashboard.recordings $(ARGS)

bench: $(READY)  ## latency, then retrieval on the data that is there
	$(BIN)/python bench/latency.py
	$(BIN)/python bench/retrieval.py

bench-check: $(READY)  ## ratios of latencies against the recorded ones; fails where one has grown
	$(BIN)/python bench/latency.py --calls 150 --together 0 --check

toolbox: $(READY)  ## install the protocol's official suite and inspector; `make test` then runs them
	$(BIN)/python tests/conformance/toolbox.py

clients: $(READY)  ## install the agents' programs that the tests run; `make test` then runs them
	PYTHONPATH=tests $(BIN)/python -m clients.toolbox

clients-matrix: clients  ## run the agents' programs, and write what they showed into the docs
	rm -f .clients.jsonl
	HYPOTHESIS_PROFILE=nightly MEMORY_BUTLER_CLIENTS_NOTES=.clients.jsonl $(BIN)/pytest tests/clients -k round_trip $(ARGS)
	MEMORY_BUTLER_CLIENTS_NOTES=.clients.jsonl PYTHONPATH=tests $(BIN)/python -m clients.matrix
	rm -f .clients.jsonl

conformance: toolbox  ## the protocol's official suite and inspector alone, on our server
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest tests/conformance $(ARGS)

bench-peers: $(READY)  ## other memories on the same questions, each in an environment of its own
	$(BIN)/python -m bench.peers.run $(ARGS)

plots: $(READY)  ## pictures of what benchmarks kept: ARGS="retrieval figures.json picture.svg"
	$(BIN)/uv run --no-project --with matplotlib==3.11.2 python bench/plots.py $(ARGS)

crash: $(READY)  ## SIGKILL the server and its database under load, and look for what was lost
	PYTHONPATH=tests $(BIN)/python -m reliability.crashing $(ARGS)

gauntlet: frontend  ## poisoned memories by every way in: what reaches a session without its level of trust
	$(BIN)/python bench/gauntlet.py $(ARGS)

mutation: frontend  ## faults in what keeps memory safe; fails where the tests find less than 95 % of them
	$(BIN)/python bench/mutation.py $(ARGS)

audit: $(READY)  ## known vulnerabilities of what is locked; fails where one could not be looked up
	$(BIN)/uv tool run --from pip-audit==2.10.1 pip-audit --strict --disable-pip --require-hashes \
	    --requirement requirements.lock

sbom: $(READY)  ## everything that is locked, with its hashes, as CycloneDX, into sbom.json
	$(BIN)/uv tool run --from cyclonedx-bom==7.5.0 cyclonedx-py requirements requirements.lock \
	    --pyproject pyproject.toml --output-reproducible --output-file sbom.json

nightly: clients test  ## the long profile: more generated cases, 20 minutes of requests, 250 kills, benchmarks
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest $(PARALLEL)
	$(MAKE) crash ARGS="--kills 200"
	PYTHONPATH=tests $(BIN)/python -m cluster.attack --kills 50
	$(MAKE) mutation
	$(MAKE) gauntlet
	$(MAKE) bench-check
	$(MAKE) bench
	$(MAKE) years
	$(MAKE) companion-year

companion-year: $(READY)  ## a year with a companion, killed 24 times
	$(BIN)/python bench/companion_year.py --seed 2 --missed $(ARGS)

years: $(READY)  ## generated years of a household, of other seeds and other worlds (needs ../shared)
	$(BIN)/python bench/years.py --household $(HOUSEHOLD) $(ARGS)

clean:  ## remove what setup made
	rm -rf $(VENV)
