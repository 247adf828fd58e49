"""Changes of workflows by which tests are there, and nothing starts them."""

from __future__ import annotations

import pytest

from .test_workflows import CI, GITLAB, JOB, found

LINT = "[testenv:lint]\ncommands = ruff check\n"
TOX = f"[tox]\nenvlist = py311, py312, lint\n\n[testenv]\ncommands = pytest\n\n{LINT}"
TOML = 'env_list = ["py311", "lint"]\n[env_run_base]\ncommands = [["pytest"]]\n[env.lint]\ncommands = [["ruff"]]\n'
TOOL = TOML.replace("[env", "[tool.tox.env")
NOX = (
    'nox.options.sessions = ["tests", "lint"]\n\n\n'
    '@nox.session\ndef tests(session):\n    session.run("pytest")\n\n\n'
    '@nox.session(python="3.12")\ndef lint(session):\n    session.run("ruff")\n'
)
UNLISTED = NOX.partition("\n")[2]
RUN = '    session.run("pytest")'
MAKE = ".PHONY: all\n\nall: lint test\n\ntest:\n\tpytest\n\nlint:\n\truff check\n"
BY_CHECK = MAKE.replace("all: lint test", "all: check\n\ncheck: lint test")
HOOK = (
    "repos:\n  - repo: local\n    hooks:\n      - id: tests\n        entry: pytest\n        always_run: true\n"
    "        pass_filenames: false\n  - repo: a\n    hooks:\n      - id: b\n"
)
PRE = ".pre-commit-config.yaml"
ALWAYS = "        always_run: true\n"
OWN = "[testenv:py311]\ncommands = python -V\n\n[testenv:py312]\ncommands = python -V\n\n[testenv:lint]"
STEP = "      - run: pytest\n"
TEMPLATE = ".test:\n  script:\n    - pytest\n\ntest-311:\n  extends: .test\n  image: python:3.11\n"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tox.ini", TOX, TOX.replace("py311, py312, ", "")),
        ("tox.ini", TOX, TOX.replace("[testenv:lint]", OWN)),
        ("tox.ini", TOX, TOX.replace("envlist = py311, py312, lint", "envlist =\n    lint\n")),
        ("tox.toml", TOML, TOML.replace('"py311", ', "")),
        ("pyproject.toml", TOOL, TOOL.replace('"py311", ', "")),
        ("noxfile.py", NOX, NOX.replace('"tests", ', "")),
        ("noxfile.py", UNLISTED, NOX.replace('"tests", ', "")),
        ("noxfile.py", UNLISTED, UNLISTED.replace("session\n", "session(default=False)\n", 1)),
        ("Makefile", MAKE, MAKE.replace("lint test", "lint")),
        ("Makefile", BY_CHECK, BY_CHECK.replace("lint test", "lint")),
        (PRE, HOOK, HOOK.replace(ALWAYS, "        files: ^docs/\n")),
        (PRE, HOOK, HOOK.replace(ALWAYS, "        exclude: .*\n")),
        (PRE, HOOK, HOOK.replace(ALWAYS, '        exclude: "^(src|tests)/"\n')),
        (PRE, HOOK, HOOK.replace(ALWAYS, "        types: [markdown]\n")),
        (".gitlab-ci.yml", GITLAB, f".{GITLAB}"),
        (CI, JOB, JOB.replace(STEP, f"{STEP}        working-directory: src/unit\n")),
        (CI, JOB, JOB.replace(STEP, "      - working-directory: ./src/unit\n        run: pytest\n")),
        (CI, JOB, JOB.replace(STEP, "      - run: |\n          cd src/unit\n          pytest\n")),
        (CI, JOB, JOB.replace(STEP, "      - run: cd src/unit && pytest\n")),
        ("tox.ini", TOX, TOX.replace("pytest\n", "pytest\nchange_dir = {tox_root}/src/unit\n")),
        (".gitlab-ci.yml", GITLAB, GITLAB.replace("    - pytest", "    - cd src/unit\n    - pytest")),
        ("noxfile.py", UNLISTED, f'nox.options.keywords = "lint"\n{UNLISTED}'),
        ("Makefile", MAKE, f".DEFAULT_GOAL := lint\n{MAKE}"),
        (PRE, HOOK, f"default_stages: [manual]\n{HOOK}"),
        ("tox.ini", TOX, TOX.replace("pytest\n", "pytest\nchangedir = src/unit\n")),
        ("noxfile.py", NOX, NOX.replace(RUN, f'    session.chdir("src/unit")\n{RUN}')),
    ],
)  # fmt: skip
def test_what_nothing_starts_is_found(path: str, old: str, new: str) -> None:
    assert old != new
    assert found(path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tox.ini", TOX, TOX.replace("py311, py312", "py312, py313")),
        ("tox.ini", TOX, TOX.replace("py311, py312, lint", "py{312,313}, lint, types")),
        ("tox.ini", TOX, TOX.replace("envlist = py311, py312, lint\n", "")),
        ("tox.ini", LINT, f"[tox]\nenvlist = lint\n\n{LINT}"),
        ("noxfile.py", NOX, NOX.replace('"tests", "lint"', '"lint", "tests", "types"')),
        ("noxfile.py", NOX, NOX.replace("tests", "unit")),
        ("noxfile.py", NOX, UNLISTED),
        ("Makefile", MAKE, BY_CHECK),
        ("Makefile", MAKE, MAKE.replace("test:\n\tpytest", "test: unit\n\nunit:\n\tpytest")),
        ("Makefile", MAKE, MAKE.replace("all: lint test", "all: lint\n\ncheck: lint test")),
        ("Makefile", MAKE, f".DEFAULT_GOAL := all\n{MAKE}"),
        (PRE, HOOK, f"default_stages: [pre-commit]\n{HOOK}"),
        (CI, JOB, JOB.replace(STEP, f"      - run: cd src/unit\n{STEP}")),
        ("Makefile", MAKE, MAKE.replace("\truff check", "\truff check .\n\nVERSION := 1:2")),
        (PRE, HOOK, HOOK.replace(ALWAYS, "")),
        (PRE, HOOK, HOOK.replace(ALWAYS, r"        files: \.py$" + "\n")),
        (PRE, HOOK, HOOK.replace(ALWAYS, "        files: ^(src|tests)/\n")),
        (PRE, HOOK, HOOK.replace(ALWAYS, "        exclude: ^docs/\n")),
        (PRE, HOOK, HOOK.replace(ALWAYS, f"        types: [python]\n{ALWAYS}")),
        (PRE, HOOK, HOOK.replace(ALWAYS, f"        files: ^docs/\n{ALWAYS}")),
        (PRE, HOOK, HOOK.replace("- id: b\n", "- id: b\n        files: ^docs/\n")),
        (".gitlab-ci.yml", GITLAB, TEMPLATE),
        (CI, JOB, JOB.replace(STEP, f"{STEP}        working-directory: .\n")),
        (CI, JOB, JOB.replace(STEP, f"{STEP}      - run: ruff check\n        working-directory: src/unit\n")),
        (CI, JOB, JOB.replace(STEP, f"{STEP}      - run: cd src/unit && pytest\n")),
        (CI, JOB, JOB.replace(STEP, f"{STEP}{STEP}        working-directory: src/unit\n")),
    ],
)  # fmt: skip
def test_what_still_starts_them_is_not(path: str, old: str, new: str) -> None:
    assert old != new
    assert not found(path, old, new)
