# Everything a newcomer needs: `make demo` and `make test`. Nothing has to be installed first but Python 3.11 or later.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INDEX ?= .fin-agent/demo-index
# An environment of its own: `demo` and `test` show what works without any extra.
EXTRAS ?= $(VENV)/extras
NEED_EXTRAS := tests/retrieval/dense tests/retrieval/strategies tests/training tests/evaluation \
  tests/cli/test_embedding.py tests/cli/test_comparing.py tests/graphs/test_strategies.py \
  tests/models/test_costs.py tests/models/test_loading.py tests/models/test_no_other_host.py tests/models/test_openai_clients.py \
  tests/models/test_tokens.py tests/models/test_with_openai.py \
  tests/testing/test_scripted_model.py \
  tests/analyst/model/test_roles_over_http.py tests/cli/test_batch_by_model.py tests/cli/test_doctor.py \
  tests/cli/test_summarizing.py tests/graphs/test_streaming_over_http.py tests/graphs/test_with_a_server.py \
  tests/index/contract tests/index/elastic tests/cli/test_index_copy.py tests/serving \
  tests/studio tests/docs/test_blocks_with_extras.py tests/graphs/chat/test_assistant.py tests/examples/test_examples.py tests/test_patterns.py \
  tests/presentation/test_data_frames.py tests/graphs/chat/test_planted_statements.py tests/test_errors.py \
  tests/graphs/test_planted_statements.py tests/test_hostile_texts.py
# Of these, what `.ci/run` runs: servers, both kinds of index and models over HTTP, in an environment without torch.
SERVERS ?= $(VENV)/servers
SERVER_TESTS := tests/serving/test_workspace.py tests/cli/test_batch_by_model.py tests/graphs/test_with_a_server.py \
  tests/index/contract tests/serving/test_api.py tests/serving/test_http_server.py tests/serving/test_mcp.py tests/studio \
  tests/models/test_with_openai.py tests/analyst/model/test_roles_over_http.py
# A process per core; tests of one file stay together, since they share what they set up. In the order of the files: by the
# number of their tests, files of a few long ones would come last, with one process at work.
AT_ONCE := -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder
# What uses the package as an application does: its types are checked as the package's own.
APPLICATIONS := tests/typing/uses_every_name.py tests/typing/mistakes.py $(wildcard examples/*.py)
TYPED := $(abspath $(VENV))/typed
ASK := $(BIN)/fin-agent ask --index $(INDEX)

# What tests start would compile the package at every start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test properties test-servers test-extras test-browser kills pictures docs test-elasticsearch test-versions check audit long-checks filings clean

# Everything for development: the package with its tools in the versions of constraints.txt, and the pre-commit hooks.
setup: $(VENV)/developing
	$(BIN)/python -m pip install --quiet pre-commit
	test ! -e .git || $(BIN)/pre-commit install

demo: $(VENV)/installed
	@echo
	@echo "--- Index the sample filings: three made-up companies, three fiscal years"
	$(BIN)/fin-agent ingest examples/filings --index $(INDEX)
	@echo
	@echo "--- 1. A lookup"
	$(ASK) "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
	@echo
	@echo "--- 2. Two companies, six pages: the first round does not hold all, a complementary question fetches the rest"
	$(ASK) "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"
	@echo
	@echo "--- 3. Nothing to be found: refused, with what is missing"
	$(ASK) "What did Quillmark spend on research and development in fiscal 2024?" || test $$? -eq 4

test: $(VENV)/developing
	$(BIN)/python -m pytest $(AT_ONCE)

# Property tests alone, with other examples at each run; SEEDS names them.
SEEDS ?= $(shell date +%s)
properties: $(VENV)/developing
	for seed in $(SEEDS); do $(BIN)/python -m pytest -q -m hypothesis --hypothesis-seed=$$seed || exit 1; done

# A test that is skipped here fails the target, as in `test-extras`.
test-servers: $(SERVERS)/installed
	$(SERVERS)/bin/python -m pytest $(AT_ONCE) --nothing-skipped $(SERVER_TESTS)

# A test that is skipped here fails the target. One thread: models this small gain nothing from more.
test-extras: $(EXTRAS)/installed
	OMP_NUM_THREADS=1 $(EXTRAS)/bin/python -m pytest $(AT_ONCE) --nothing-skipped $(NEED_EXTRAS)

# The workspace in Chromium: Debian's `chromium` has to be installed (`apt-get install chromium`). A test that is skipped fails.
test-browser: $(EXTRAS)/installed
	$(EXTRAS)/bin/python -m pip install --quiet playwright axe-playwright-python
	$(EXTRAS)/bin/python -m pytest -n 2 --dist loadfile --nothing-skipped tests/web

# The pictures of docs/workspace.md, and what a first view sends and takes.
pictures: $(EXTRAS)/installed
	$(EXTRAS)/bin/python -m pip install --quiet playwright pillow
	$(EXTRAS)/bin/python docs/draw_workspace.py docs/workspace

# The documentation site, in site/: a warning fails it. Its search is tried in Chromium, where that is installed.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/developing
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	$(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python -m pytest -q tests/docs/test_site.py

# The contract of both kinds of index against a real server: the one that FIN_AGENT_TEST_ES_URL names, else one in Docker.
FIN_AGENT_TEST_ES_URL ?= http://127.0.0.1:9200
test-elasticsearch: $(EXTRAS)/installed
	curl -sf $(FIN_AGENT_TEST_ES_URL) >/dev/null || docker compose up -d --wait
	FIN_AGENT_TEST_ES_URL=$(FIN_AGENT_TEST_ES_URL) $(EXTRAS)/bin/python -m pytest tests/index/contract

# Types are checked on an installed copy: checkers do not follow the mapping of graphs/, tools/ and prompts/.
check: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf $(TYPED) build && $(BIN)/python -m pip install --quiet --no-deps --target $(TYPED) .
	cd $(TYPED) && $(abspath $(BIN))/mypy -p fin_agent --config-file $(CURDIR)/pyproject.toml
	cd $(TYPED) && $(abspath $(BIN))/mypy --config-file $(CURDIR)/pyproject.toml $(addprefix $(CURDIR)/,$(APPLICATIONS))

# Known vulnerabilities of the versions that are tested. Takes the network: PyPI's own word on single versions, which not every mirror has.
ADVISORIES := https://pypi.org/pypi/pip/24.0/json
audit: $(VENV)/developing
	@$(BIN)/python -c "from urllib.request import urlopen; urlopen('$(ADVISORIES)', timeout=20)" 2>/dev/null || \
	  { echo "No audit was made: $(ADVISORIES) does not answer from here. Run it where PyPI itself is reached." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --strict --no-deps --disable-pip -r constraints.txt

# Writers of an index killed at random instants, a full disk, two writers at once; bytes of an index changed.
kills: $(VENV)/developing
	$(BIN)/python benchmarks/durability/kill.py --kills 200 --only ingest,replace,delete
	$(BIN)/python -m benchmarks.durability.flipped --aimed 60 --rounds 20

# All that takes minutes or the network, and is no part of `.ci/run`.
long-checks: test-extras test-browser kills properties docs test-versions audit

# The sample filings are in the repository; this writes them again.
filings: $(VENV)/installed
	$(BIN)/python examples/filings/make_filings.py

$(VENV)/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/developing: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

# torch first, and pinned to what is tested.
$(EXTRAS)/installed: pyproject.toml
	test -x $(EXTRAS)/bin/python || $(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install --quiet "torch==2.13.0"
	$(EXTRAS)/bin/python -m pip install --quiet --editable ".[dense,training,fingear,evaluation,chat,elasticsearch,studio,mcp,serve,excel,pandas,serving-tests,dev]"
	touch $@

$(SERVERS)/installed: pyproject.toml
	test -x $(SERVERS)/bin/python || $(PYTHON) -m venv $(SERVERS)
	$(SERVERS)/bin/python -m pip install --quiet --editable ".[chat,elasticsearch,studio,mcp,serve,excel,pandas,serving-tests,dev]"
	touch $@

# The lowest versions that are allowed, and the highest there are, of what the package builds on. Takes the network.
test-versions:
	$(PYTHON) tests/versions.py

clean:
	rm -rf $(VENV) .fin-agent build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
