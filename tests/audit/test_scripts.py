"""Scripts with functions, commands joined with others, and versions that may fail."""

from __future__ import annotations

import pytest

from .test_workflows import CI, GITLAB, JOB, MAKE, found

SCRIPT = "scripts/test.sh"
TRAVIS = 'python:\n  - "3.11"\n  - "3.12"\nscript: pytest\n'
ENVIRONMENTS = "environment:\n  matrix:\n    - TOXENV: py311\n    - TOXENV: py312\ntest_script:\n  - tox\n"
HATCH = '[tool.hatch.envs.test.scripts]\nrun = ["ruff check .", "pytest"]\n'
POE = '[tool.poe.tasks.test]\ncmd = "pytest"\n'
PLAIN = 'set -e\npytest "$@"\n'
UNIT = 'unit() {\n  pytest "$@"\n}\n'
STRICT = f"set -e\n{UNIT}"
LINT = "lint() {\n  ruff check . || true\n}\n"
STATUS = 'unit() {\n  pytest "$@"\n  local status=$?\n  rm -rf .cache\n  return $status\n}\nunit\n'
IFDEF = "test:\nifdef FULL\n\tpython -m pytest\n"


def step(command: str) -> str:
    return JOB.replace("- run: pytest\n", f"- run: {command}\n")


def allowed(of: str, value: str) -> str:
    return f"{of}matrix:\n  allow_failures:\n    - {value}\n"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (CI, JOB, step("test -d cache || pytest")),
        (CI, JOB, step("python -m compileall -q src || pytest")),
        (CI, JOB, step("cmp a b || (pip install . && pytest)")),
        (CI, JOB, step("pip install . && pytest || true")),
        (".gitlab-ci.yml", GITLAB, GITLAB.replace("- pytest", "- make -q docs || python -m pytest")),
        ("Makefile", MAKE, MAKE.replace("\tpython", "\t@test -f .passed || python")),
        ("Makefile", MAKE, MAKE.replace("test:\n\tpython -m pytest\n", f"{IFDEF}endif\n")),
        ("Makefile", "P = pytest\n\ntest:\n\t$(P)\n", "P = @true pytest\n\ntest:\n\t$(P)\n"),
        (SCRIPT, PLAIN, PLAIN.replace("pytest", '[ -z "$CI" ] || exit 0\npytest')),
        (SCRIPT, PLAIN, f"{STRICT}unit || true\n"),
        (SCRIPT, PLAIN, f"{STRICT}unit | tee log.txt\n"),
        (SCRIPT, PLAIN, 'set -e\nunit() { pytest "$@"; }\nunit || echo failed\n'),
        (SCRIPT, PLAIN, "set -e\nfunction unit {\n  pytest\n}\nunit || true\n"),
        (SCRIPT, PLAIN, f"{STRICT}all() {{\n  unit || echo failed\n}}\nall\n"),
        (SCRIPT, PLAIN, f"{UNIT}unit\necho done\n"),
        (SCRIPT, PLAIN, "unit() {\n  pytest\n  echo done\n}\nunit\n"),
        (".travis.yml", TRAVIS, allowed(TRAVIS, 'python: "3.12"')),
        ("appveyor.yml", ENVIRONMENTS, allowed(ENVIRONMENTS, "TOXENV: py312")),
        ("pyproject.toml", HATCH, HATCH.replace('"pytest"', '"- pytest"')),
        ("pyproject.toml", POE, f"{POE}ignore_fail = true\n"),
    ],
)
def test_a_failure_that_a_function_or_another_command_ignores_is_named(path: str, old: str, new: str) -> None:
    assert found(path, old, new) != []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (CI, JOB, step("test -d .venv || python -m venv .venv; .venv/bin/pytest")),
        (CI, JOB, step("'[ -f .env ] || cp .env.example .env && pytest'")),
        (CI, JOB, step("which pytest || pip install pytest && pytest")),
        (CI, JOB, step("grep -q version setup.cfg || exit 1; pytest")),
        (CI, JOB, step("pip install -e . && pytest")),
        (CI, JOB, step("pytest || { make clean; pytest; }")),
        ("Makefile", MAKE, MAKE.replace("test:\n", "ifdef COVERAGE\nOPTIONS = --cov\nendif\n\ntest:\n")),
        ("Makefile", MAKE, MAKE.replace("test:\n\tpython -m pytest\n", f"{IFDEF}else\n\tpytest -q\nendif\n")),
        (SCRIPT, PLAIN, f"{STRICT}{LINT}lint\nunit\n"),
        (SCRIPT, PLAIN, f"{UNIT}{LINT}lint && unit\n"),
        (SCRIPT, PLAIN, STATUS),
        (SCRIPT, PLAIN, 'die() {\n  echo "$1"\n  exit 1\n}\npytest || die oh\necho fine\n'),
        (SCRIPT, PLAIN, f'{STRICT}{LINT}for part in lint unit; do\n  "$part"\ndone\n'),
        (SCRIPT, PLAIN, f'{STRICT}{LINT}"${{@:-unit}}"\n'),
        (SCRIPT, PLAIN, f'{STRICT}{LINT}case "$1" in\n  lint) lint ;;\n  *) unit ;;\nesac\n'),
        (".travis.yml", TRAVIS, allowed(TRAVIS.replace("script", '  - "3.14"\nscript'), 'python: "3.14"')),
        ("pyproject.toml", HATCH, HATCH.replace('"ruff', '"- ruff')),
        ("pyproject.toml", POE, f'{POE}\n[tool.poe.tasks.lint]\ncmd = "ruff"\nignore_fail = true\n'),
    ],
)
def test_functions_and_joined_commands_that_heed_the_tests_are_not(path: str, old: str, new: str) -> None:
    assert found(path, old, new) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line", ["u{} () {{\n  pytest\n}}\n", "a{0} () {{\n  a{1}\n}}\n", "u() {{\n", "unit || b\n"]
)
def test_a_script_of_any_length_is_read_in_linear_time(line: str) -> None:
    text = "".join(line.format(number, number + 1) for number in range(5_000))
    found(SCRIPT, PLAIN, f"{PLAIN}{text}a5000() {{\n  pytest\n}}\n")
