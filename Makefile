# Each target makes the clone ready first (.venv, packages, Chromium); the second time that takes well under a second.
# Only what a command itself prints goes to stdout: `make demo ARGS="--headless --json"` gives its JSON line alone.

MAKEFLAGS += --no-print-directory
PYTHON ?= python3
ARGS ?=

.PHONY: help demo up test check bench chaos

help:
	@echo 'make demo    the main job over bundled sample boards in a throw-away workspace (ARGS="--headless --json")'
	@echo 'make up      the product on your own workspace, until Ctrl-C'
	@echo 'make test    every test, on SQLite and PostgreSQL (ARGS="tests/operations -k lease")'
	@echo 'make check   lint, types, layers, migrations, templates'
	@echo 'make bench   the benchmarks'
	@echo 'make chaos   200 random kills over real runs, Temporal away, kills and limits while models are asked'
	@echo '             (ARGS="--kills 20 --outage 0 --answers 5 --ceilings 2 --databases sqlite")'

demo:
	@$(PYTHON) -m jobctrl.bootstrap --browser needed >&2
	@exec .venv/bin/python manage.py demo $(ARGS)

up:
	@$(PYTHON) -m jobctrl.bootstrap --browser wanted >&2
	@exec .venv/bin/python manage.py up $(ARGS)

test:
	@$(PYTHON) -m jobctrl.bootstrap --requirements development --browser wanted >&2
	@exec .venv/bin/python -m tests.run $(ARGS)

# A key and a database of its own, so that checking touches no workspace.
check: export SECRET_KEY = only-for-checks
check: export DATABASE_URL = sqlite://:memory:
check:
	@$(PYTHON) -m jobctrl.bootstrap --requirements development >&2
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python manage.py makemigrations --check --dry-run
	find . -name '*.html' -not -path './.venv/*' -not -path './tests/*' -print0 | xargs -0 -r .venv/bin/djlint --lint --profile=django

bench:
	@$(PYTHON) -m jobctrl.bootstrap --requirements development --browser wanted >&2
	@exec .venv/bin/python -m tests.benchmarks $(ARGS)

chaos:
	@$(PYTHON) -m jobctrl.bootstrap --requirements development --browser needed >&2
	@exec .venv/bin/python -m tests.chaos $(ARGS)
