"""Workflows that ignore failures of tests, or run fewer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.audit.base import Base
from agents.audit.workflows import workflows
from agents.worktree.tree import Tree

CI = ".github/workflows/ci.yml"
JOB = "jobs:\n  test:\n    runs-on: ubuntu\n    steps:\n      - run: pip install -e .\n      - run: pytest\n"
CHECKED_OUT = JOB.replace("- run: pip", "- uses: actions/checkout@v4\n      - run: pip")
STARTED = f"on:\n  push:\n{JOB}"
COVERED = JOB.replace("- run: pytest\n", "- run: pytest --cov --cov-fail-under=95\n")
MATRIX = JOB.replace("    steps", '    strategy:\n      matrix:\n        python: ["3.11", "3.12"]\n    steps')
EXCLUDED = '\n          - python: "3.11"\n          - python: "3.12"\n'
ITEM = '          - python: "3.14"\n            experimental: true\n'
OF_VALUE = "continue-on-error: ${{ endsWith(matrix.python, '-dev') }}\n"
LENIENT = "    continue-on-error: ${{ matrix.experimental || false }}\n"
MAKE = "test:\n\tpython -m pytest\n\nclean:\n\trm -rf build\n"
TASKS = '[dependency-groups]\ntest = ["pytest"]\n\n[tool.tox.env.lint]\ncommands = [["ruff", "check"]]\n\n'
TASKS += '[tool.tox.env_run_base]\ncommands = [\n  ["pytest", "-m", "not slow"],\n]\n'
TOX = "[testenv]\ndeps =\n    pytest\ncommands =\n    pytest tests\n"
AZURE = "steps:\n  - script: pytest\n"
GITLAB = "test:\n  stage: test\n  script:\n    - pytest\n"
HOOK = "repos:\n  - repo: local\n    hooks:\n      - id: tests\n        entry: pytest\n        language: system\n"
NOX = "@nox.session\ndef tests(session):\n    session.install('pytest')\n    session.run(\"pytest\")\n"
NEGATED = "          if ! pytest; then\n            echo failed\n"
NIGHTLY = "  nightly:\n    continue-on-error: true\n    steps:\n      - run: pytest -W error\n"
STRICT = "    env:\n      PYTHONOPTIMIZE: 1\n"
OTHER = "      - uses: actions/checkout@v4\n        with:\n          {}\n"
BESIDE = "repository: a/b\n          ref: v1\n          path: b"
LATE = JOB.replace("- run: pytest\n", "- run: pytest\n        if: always() && 1\n")
PAIR = '\n          - python: "3.11"\n            os: a\n'
HATCH = '[tool.hatch.envs.default.scripts]\ntest = "pytest {args:tests}"\n'
CIRCLE = "jobs:\n  build:\n    steps:\n      - run: pytest\nworkflows:\n  main:\n    jobs: [build]\n"
CAUGHT = "    try:\n        session.run('pytest')\n    except Exception:\n        session.log('it failed')\n"
TASK = "tasks:\n  test:\n    cmds:\n      - pytest\n"
BUILDKITE = "steps:\n  - label: tests\n    command: pytest\n"
ONLY_IF = "          if [ $FULL ]; then\n            pytest\n"
OTHERWISE = "          else\n            "
SCRIPT = "set -e\npython -m pytest tests\n"


def found(path: str, old: str, new: str) -> list[str]:
    code = {"src/a.py": b"", "src/b.py": b"", "tests/test_a.py": b"", "src/unit/test_b.py": b""}
    before, now = (Tree(Path(), {path: text.encode(), **code}) for text in (old, new))
    return [each.why for each in workflows(now, Base(before, {}, (path,)))]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (CI, JOB, JOB.replace("pytest\n", "pytest || true\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: echo pytest\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: |\n          trap 'exit 0' EXIT\n          pytest\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", f"- run: |\n{NEGATED}          fi\n")),
        ("Makefile", MAKE, MAKE.replace("python -m", "! python -m")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: |\n          pytest \\\n            || true\n")),
        (
            CI,
            JOB,
            JOB.replace("- run: pytest\n", "- run: |\n          set +e\n          pytest\n          echo\n"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        continue-on-error: true\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- continue-on-error: true\n        run: pytest\n")),
        (CI, JOB, JOB.replace("    steps", "    continue-on-error: true\n    steps")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        'continue-on-error': 'true'\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: tox --notest\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest || [ $? -eq 1 ]\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: python -O -m pytest\n")),
        (CI, JOB, JOB.replace("    steps", "    env:\n      PYTHONOPTIMIZE: 1\n    steps")),
        (CI, STARTED, STARTED.replace("push:\n", "pull_request:\n    types: [closed]\n")),
        ("azure-pipelines.yml", AZURE, f"{AZURE}    continueOnError: true\n"),
        (CI, JOB, JOB.replace("    steps", "    defaults:\n      run:\n        shell: bash -l {0}\n    steps")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        if: false\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        shell: bash {0}\n")),
        (
            CI,
            JOB,
            JOB.replace("    steps", "    env:\n      PYTEST_ADDOPTS: --deselect tests/test_a.py\n    steps"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest | tail -1\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -k 'not a'\n")),
        (".github/actions/test/action.yml", JOB, JOB.replace("pytest\n", "pytest || true\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        if: github.event_name == 'schedule'\n")),
        (CI, JOB, JOB.replace("    steps", "    if: github.ref == 'refs/heads/never'\n    steps")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        if: matrix.python == '3.2'\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        if: ${{ env.RUN_TESTS == '1' }}\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: |\n          pytest && done=1\n          echo $done\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: bash -c 'pytest; exit 0'\n")),
        (CI, f"on: [push, pull_request]\n{JOB}", f"on: workflow_dispatch\n{JOB}"),
        (CI, f"on: [push, pull_request]\n{JOB}", f"on:\n  push:\n    tags: ['v*']\n{JOB}"),
        (CI, f"on:\n  push:\n\n{JOB}", f"on:\n  schedule:\n    - cron: 0 0 1 1 *\n{JOB}"),
        (CI, STARTED, STARTED.replace("push:\n", "push:\n    paths: ['docs/**', '*.md']\n")),
        (CI, STARTED, STARTED.replace("push:\n", "push:\n    paths:\n      - '**'\n      - '!src/**'\n")),
        (CI, STARTED, STARTED.replace("push:\n", "push:\n    paths-ignore: ['**.py']\n")),
        (CI, MATRIX, MATRIX.replace("    steps", f"        exclude:{EXCLUDED}    steps")),
        (CI, MATRIX, MATRIX.replace('["3.11", "3.12"]', "[]")),
        (CI, MATRIX, MATRIX.replace('["3.11", "3.12"]', "${{ fromJSON('[]') }}")),
        (CI, MATRIX, MATRIX.replace("    steps", f"    {OF_VALUE.replace('-dev', '3.1')}    steps")),
        (CI, MATRIX, MATRIX.replace("    steps", f"        experimental: [true]\n{LENIENT}    steps")),
        (
            CI,
            MATRIX,
            MATRIX.replace("    steps", f"        include:\n{ITEM.replace('3.14', '3.12')}{LENIENT}    steps"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest --setup-plan\n")),
        (CI, COVERED, COVERED.replace("=95", "=40")),
        (CI, COVERED, COVERED.replace(" --cov-fail-under=95", "")),
        (".coveragerc", "[report]\nfail_under = 95\n", "[report]\nfail_under = 40\n"),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -p no:python\n")),
        ("Makefile", MAKE, MAKE.replace("python -m", "-python -m")),
        ("Makefile", MAKE, MAKE.replace("pytest\n", "pytest; echo done\n")),
        ("Makefile", MAKE, MAKE.replace("python -m pytest", "if pytest; then :; fi")),
        ("Makefile", MAKE, MAKE.replace("pytest\n", "pytest --version\n")),
        ("Makefile", MAKE, f".IGNORE: test\n{MAKE}"),
        ("makefile", MAKE.replace(" pytest", "unittest"), MAKE.replace("python -m pytest", "-python -munittest")),
        ("makefile", MAKE.replace(" pytest", "unittest"), MAKE.replace("pytest", "unittest tests.test_a")),
        ("pyproject.toml", TASKS, f"{TASKS}ignore_outcome = true\n"),
        ("pyproject.toml", TASKS, TASKS.replace('"pytest", "-m", "not slow"', '"python", "-c", "import a"')),
        ("pyproject.toml", TASKS, TASKS.replace("not slow", "fast")),
        ("tox.ini", TOX, TOX.replace("pytest tests", "- pytest tests")),
        ("tox.ini", TOX, TOX.replace("pytest tests", "pytest tests/test_a.py")),
        ("tox.ini", TOX, TOX.replace("pytest tests", "pytest {posargs:tests/test_a.py}")),
        ("tox.ini", TOX, TOX.replace("pytest tests", "py.test --cov=a {posargs:tests/test_a.py}")),
        (".gitlab-ci.yml", GITLAB, f"{GITLAB}  when: manual\n"),
        (".pre-commit-config.yaml", HOOK, f"{HOOK}        stages: [manual]\n"),
        ("noxfile.py", NOX, NOX.replace('"pytest"', '"pytest", "-k", "not a"')),
        ("noxfile.py", NOX, NOX.replace('"pytest"', '"pytest", "tests/test_a.py"')),
        ("noxfile.py", NOX, NOX.replace('"pytest"', '"pytest", "-o", "python_files=test_b*"')),
        ("scripts/run.sh", SCRIPT, SCRIPT.replace("tests\n", "tests || true\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", '- {run: "pytest", continue-on-error: true}\n')),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        continue-on-error : yes\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", '- run: pytest\n        "continue-on-\\x65rror": true\n')),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        continue-on-error:\n          true\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        shell: python\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest & sleep 9\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: export OUT=$(pytest)\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: cat <(pytest)\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", '- run: "! pytest"\n')),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest || exit $((1 - 1))\n")),
        (
            CI,
            JOB,
            JOB.replace("- run: pytest\n", "- run: |\n          test -z $CI || exit 0; exit\n          pytest\n"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: |\n          pytest() { :; }\n          pytest\n")),
        (
            CI,
            JOB,
            JOB.replace(
                "- run: pytest\n", "- run: |\n          set +o errexit\n          pytest\n          true\n"
            ),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -qk a\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -kparse\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest @some.txt\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest --sw\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest src/unit\n")),
        (CI, JOB, JOB.replace("    steps", '    env:\n      PYTEST_ADDOPTS: "-k a"\n    steps')),
        (CI, JOB, JOB.replace("    steps", "    env:\n      PYTEST_ADDOPTS: tests/a.py\n    steps")),
        (CI, JOB, JOB.replace("    steps", "    env:\n      PYTEST_ADDOPTS: >-\n        -k a\n    steps")),
        (
            CI,
            JOB,
            JOB.replace("- run: pytest\n", "- run: echo PYTEST_ADDOPTS=-ka >> $GITHUB_ENV\n      - run: pytest\n"),
        ),
        (CI, JOB, JOB.replace("    steps", "    env:\n      PYTEST_PLUGINS: quiet\n    steps")),
        (
            CI,
            CHECKED_OUT,
            CHECKED_OUT.replace("v4\n", "v4\n        with:\n          ref: ${{ github.base_ref }}\n"),
        ),
        (CI, JOB.replace("pytest", "make test"), JOB.replace("pytest", "make test -n")),
        ("Makefile", MAKE, f"MAKEFLAGS += -i\n{MAKE}"),
        ("Makefile", MAKE, f"SHELL = /bin/true\n{MAKE}"),
        ("Makefile", MAKE, f"export PYTEST_ADDOPTS=-ka\n{MAKE}"),
        ("ci/Makefile", MAKE, MAKE.replace("pytest\n", "pytest || true\n")),
        (".gitlab-ci.yml", GITLAB, f"{GITLAB}  allow_failure:\n    exit_codes: [1]\n"),
        (".gitlab-ci.yml", GITLAB, f"{GITLAB}  only: [tags]\n"),
        (".gitlab-ci.yml", GITLAB, f"{GITLAB}  rules:\n    - if: $NIGHTLY\n"),
        (".gitlab-ci.yml", GITLAB, GITLAB.replace("  script", "  script: 'true'\n  after_script")),
        ("azure-pipelines.yml", AZURE, f"{AZURE}    condition: false\n"),
        ("bitbucket-pipelines.yml", GITLAB, GITLAB.replace("pytest\n", "pytest || true\n")),
        (".forgejo/workflows/ci.yml", JOB, JOB.replace("pytest\n", "pytest || true\n")),
        (".woodpecker.yml", GITLAB, GITLAB.replace("pytest\n", "pytest || true\n")),
        ("Dockerfile", "RUN pytest\n", "RUN pytest || true\n"),
        ("tox.ini", TOX, f"{TOX}ignore_outcome = 1\n"),
        ("noxfile.py", NOX, NOX.replace("    session.run", "    session.skip('x')\n    session.run")),
        (CI, JOB.replace("pytest", "./test.sh"), JOB.replace("pytest", "pytest || true")),
        (
            CI,
            JOB.replace("pytest", "|\n          spin check"),
            JOB.replace("pytest", "|\n          pytest || true"),
        ),
        (CI, JOB, "jobs:\n" + NIGHTLY.replace(" -W error", "") + JOB[6:]),
        ("GNUmakefile", "", MAKE.replace("pytest\n", "pytest || true\n")),
        (
            CI,
            CHECKED_OUT,
            CHECKED_OUT.replace("v4\n", "v4\n        with:\n          path: .\n          ref: v1\n"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        shell: bash -l {0}\n")),
        ("noxfile.py", NOX, NOX.replace('"pytest"', '"pytest", **{"success" + "_codes": [0, 1]}')),
        ("noxfile.py", NOX, NOX.replace('    session.run("pytest")\n', CAUGHT)),
        ("noxfile.py", NOX, NOX.replace("    session.run", "    with suppress(Exception):\n        session.run")),
        ("pyproject.toml", HATCH, HATCH.replace("args:tests", "args:tests/test_a.py")),
        ("pyproject.toml", HATCH, HATCH.replace("pytest", "- pytest")),
        (".circleci/config.yml", CIRCLE, CIRCLE.replace("[build]", "[]")),
        ("Taskfile.yml", TASK, TASK.replace("    cmds", "    ignore_error: true\n    cmds")),
        (".woodpecker.yml", GITLAB, f"{GITLAB}  failure: ignore\n"),
        (".buildkite/pipeline.yml", BUILDKITE, f"{BUILDKITE}    soft_fail:\n      - exit_status: 1\n"),
        ("azure-pipelines.yml", AZURE, f"{AZURE}    condition: eq(variables['Full'], 'true')\n"),
        ("Jenkinsfile", "sh 'pytest'\n", "sh script: 'pytest', returnStatus: true\n"),
        (CI, JOB, JOB.replace("run: pytest", "run: python -c 'import pytest; pytest.main()'")),
        (CI, JOB, JOB.replace("- run: pytest\n", f"- run: |\n{ONLY_IF}          fi\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", f"- run: |\n{ONLY_IF}{OTHERWISE}date\n          fi\n")),
        ("scripts/run.sh", SCRIPT, f"{SCRIPT[7:]}cat $log\n"),
        ("ci/run", f"#!/bin/sh\n{SCRIPT}cat log\n", f"#!/bin/sh\n{SCRIPT[7:]}cat log\n"),
        ("run.sh", SCRIPT[7:], f'{SCRIPT[7:]}status=$?\necho "pytest ended with $status"\n'),
    ],
)
def test_what_ignores_failures_of_tests_or_runs_fewer_is_named(path: str, old: str, new: str) -> None:
    assert len(found(path, old, new)) == 1


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (CI, JOB, f"{JOB}      - run: docker logs proxy || true\n        if: failure()\n"),
        (CI, JOB, f"{JOB}      - uses: codecov/codecov-action@v4\n        continue-on-error: true\n"),
        (CI, JOB, f"{JOB}      - run: pytest benchmarks -m benchmark\n"),
        (CI, JOB, f"{JOB}      - run: pytest --slow\n        if: github.event_name == 'schedule'\n"),
        (CI, f"on: push\n{JOB}", f"on:\n  push:\n    branches: [main]\n  pull_request:\n{JOB}"),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        if: ${{ !cancelled() }}\n")),
        (
            CI,
            JOB,
            JOB.replace(
                "- run: pytest\n",
                "- run: pytest\n        if: runner.os != 'Windows'\n"
                "      - run: python -m pytest\n        if: runner.os == 'Windows'\n",
            ),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: |\n          pytest && coverage xml\n")),
        (CI, JOB.replace("pytest", "uv run pytest"), JOB.replace("pytest", "|\n          uv run pytest")),
        (CI, f"on: push\n{JOB}", f"on:\n  push:\n    branches: [main]\n    tags: ['v*']\n{JOB}"),
        (CI, STARTED, STARTED.replace("push:\n", "push:\n    paths: [src/**, tests/**]\n")),
        (CI, STARTED, STARTED.replace("push:\n", "push:\n    paths-ignore:\n      - 'docs/**'\n      - '*.md'\n")),
        (CI, MATRIX, MATRIX.replace("    steps", f"        exclude:{EXCLUDED[:29]}    steps")),
        (CI, MATRIX, MATRIX.replace("    steps", f"        include:\n{ITEM}{LENIENT}    steps")),
        (CI, MATRIX, MATRIX.replace("    steps", f"    {OF_VALUE}    steps")),
        (CI, JOB, JOB.replace("    steps", "    defaults:\n      run:\n        shell: bash -el {0}\n    steps")),
        ("pyproject.toml", TASKS, TASKS.replace("not slow", 'not slow", "-q')),
        ("pyproject.toml", TASKS, TASKS.replace('"check"]]', '"check"]]\nignore_outcome = true')),
        ("pyproject.toml", TASKS, TASKS.replace('test = ["pytest"]', 'test = ["a-plugin-of-pytest"]')),
        (CI, COVERED, COVERED.replace("=95", "=96")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest || exit 1\n")),
        (CI, STARTED, STARTED.replace("push:\n", "pull_request:\n    types: [opened, synchronize, labeled]\n")),
        ("noxfile.py", NOX, NOX.replace('"pytest"', '"pytest", "-q", *session.posargs')),
        ("noxfile.py", NOX, NOX.replace('"pytest"', '"pytest", "-o", "log_cli=true"')),
        (".gitlab-ci.yml", GITLAB, f"{GITLAB}\npages:\n  script:\n    - mkdocs build\n  when: manual\n"),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -n auto --durations=10 -p pytest_cov\n")),
        ("tox.ini", TOX, TOX.replace("pytest tests", "pytest --cov-config=a.py {posargs:tests}")),
        (
            CI,
            JOB,
            JOB.replace("- run: pytest\n", "- run: |\n          set -o pipefail\n          pytest | tee log\n"),
        ),
        (CI, JOB, JOB.replace("    steps", "    env:\n      PYTEST_ADDOPTS: --color=yes\n    steps")),
        ("tox.ini", TOX, TOX.replace("    pytest\n", "    -r requirements-test.txt\n")),
        ("Makefile", MAKE, MAKE.replace("rm -rf build", "-rm -rf build dist")),
        ("Makefile", MAKE, MAKE.replace("pytest\n", "pytest \\\n\t  -q \\\n\t  --strict-markers\n")),
        ("scripts/run.sh", SCRIPT, SCRIPT.replace("set -e\n", "set -e\ncd sub || exit 1\n")),
        ("scripts/run.sh", SCRIPT, SCRIPT.replace("set -e\n", "set -e\necho 'pytest begins'\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", f"- run: |\n{NEGATED}            exit 1\n          fi\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -sv --basetemp=$(mktemp -d) > log 2>&1\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: coverage run $(which pytest) && coverage xml\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest tests src\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        continue-on-error: false\n")),
        (
            CI,
            JOB,
            JOB.replace("    steps", "    env:\n      PYTEST_ADDOPTS: '--color=yes -sv -n auto'\n    steps"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        shell: pwsh\n      - run: exit 0\n")),
        (
            CI,
            CHECKED_OUT,
            CHECKED_OUT.replace("v4\n", "v4\n        with:\n          ref: ${{ github.head_ref }}\n"),
        ),
        (CI, JOB.replace("pytest", "make test"), JOB.replace("pytest", 'make test ARGS="-n 2" -j2')),
        (
            "Makefile",
            MAKE,
            f"SHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\nMAKEFLAGS += --warn-undefined\n{MAKE}",
        ),
        (".gitlab-ci.yml", "", f"{GITLAB}  rules:\n    - if: $CI_COMMIT_TAG\n"),
        (".gitlab-ci.yml", GITLAB, f"{GITLAB}  artifacts:\n    when: always\n  after_script:\n    - cat log\n"),
        (CI, JOB, f"{JOB}{NIGHTLY}"),
        (CI, JOB, f"{JOB}{NIGHTLY.replace('pytest -W error', 'pytest tests || true')}"),
        (".github/workflows/nightly.yml", "", f"jobs:\n{NIGHTLY}".replace("nightly:\n", f"nightly:\n{STRICT}")),
        (CI, CHECKED_OUT, f"{CHECKED_OUT}  docs:\n    steps:\n{OTHER.format('ref: gh-pages')}"),
        (CI, CHECKED_OUT, CHECKED_OUT.replace("      - run: pip", f"{OTHER.format(BESIDE)}      - run: pip")),
        (CI, MATRIX, MATRIX.replace("    steps", f"        extras: ['']\n        exclude:{PAIR}    steps")),
        (
            CI,
            MATRIX,
            MATRIX.replace(
                "    steps", f"        os: [\n          a,\n        ]\n        exclude:{PAIR}    steps"
            ),
        ),
        (
            CI,
            MATRIX,
            MATRIX.replace("    steps", f"        include:\n{ITEM}{LENIENT.replace('||', '&& true ||')}    steps"),
        ),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: tox -- ${{ matrix.a.b || matrix.a }}\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: cd `mktemp -d` && pytest --pyargs a\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: make test ARGS=$(tox_args)\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest\n        shell: micromamba-shell {0}\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest tests\n      - run: pytest src/unit\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -m 'not a'\n      - run: pytest -m a\n")),
        (
            CI,
            LATE,
            LATE.replace("      - run: pip", "      - run: date\n        if: always() && 1\n      - run: pip"),
        ),
        ("tox.ini", TOX.replace("tests", "tests/a.py"), TOX.replace("tests", "-n auto tests/a.py")),
        ("tox.ini", TOX, f"{TOX}\n[testenv:docs]\nignore_outcome = true\ncommands = mkdocs build\n"),
        ("Makefile", MAKE, f"SHELL=/bin/bash -eo pipefail\nMAKEFLAGS += --output-sync=target\n{MAKE}"),
        ("scripts/run.sh", SCRIPT, f"{SCRIPT}set +e\n"),
        ("script/test", "", "#!/bin/sh\npytest tests/test_slow.py || true\n"),
        (".ci/environment.yml", "- python\n- pytest\n", "- python\n"),
        (CI, JOB, JOB.replace("- run: pytest\n", "- run: pytest -p no:randomly\n")),
        (".woodpecker.yml", GITLAB, f"{GITLAB}tell:\n  failure: ignore\n  commands:\n    - ./tell.sh\n"),
        ("azure-pipelines.yml", AZURE, f"{AZURE}    condition: succeededOrFailed()\n"),
        (CI, JOB, JOB.replace("run: pytest", "run: pytest && python -c 'print(1)'")),
        (CI, JOB, JOB.replace("run: pytest", "run: python -c 'import pytest; raise SystemExit(pytest.main())'")),
        (CI, JOB, JOB.replace("- run: pytest\n", f"- run: |\n{ONLY_IF}{OTHERWISE}pytest -q\n          fi\n")),
        (CI, JOB, JOB.replace("- run: pytest\n", f"- run: |\n{ONLY_IF}{OTHERWISE}exit 2\n          fi\n")),
        ("scripts/run.sh", SCRIPT, f"#!/bin/sh -e\n{SCRIPT[7:]}cat log\n"),
        ("scripts/run.sh", SCRIPT, f'{SCRIPT[7:]}status=$?\ncat log\nexit "$status"\n'),
        ("scripts/run.sh", SCRIPT, f"if [ $1 ]; then\n  pytest $1\nelse\n{SCRIPT[7:]}fi\n"),
        ("bin/release.sh", "", "pytest\ntwine upload dist/*\n"),
        ("environment.yml", "- python=3.12\n- pytest\n", "- python=3.13\n- pytest\n"),
    ],
)
def test_what_concerns_other_steps_or_the_form_of_a_command_is_not(path: str, old: str, new: str) -> None:
    assert found(path, old, new) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line", ["      - run: pytest || true\n", "      - continue-on-error: true\n", "  pytest \\\n", "  x | y\n"]
)
def test_a_workflow_of_any_length_is_read_in_linear_time(line: str) -> None:
    found(CI, JOB, JOB + line * 30_000)
    found("Makefile", MAKE, MAKE + line * 30_000)


@pytest.mark.timeout(20)
def test_a_matrix_of_many_values_is_read_in_time() -> None:
    values = "".join(
        f"          - python: v{number}\n            experimental: true\n" for number in range(20_000)
    )
    found(
        CI,
        f"{JOB}{'  # v, 0123456789' * 80_000}\n",
        f"{JOB}    strategy:\n      matrix:\n        include:\n{values}",
    )


def test_a_coverage_of_any_length_is_read() -> None:
    assert found(".coveragerc", f"fail_under = {'9' * 5000}\n", "fail_under = 90\n") != []


@pytest.mark.parametrize(
    ("kept", "is_gone"),
    [
        ({}, True),
        ({CI: STARTED}, False),
        ({".gitlab-ci.yml": GITLAB}, False),
        ({CI: JOB.replace("jobs", "on: workflow_dispatch\njobs")}, True),
        ({".circleci/config.yml": CIRCLE}, True),
    ],
)
def test_another_system_may_go_where_the_hosts_own_still_starts_tests(
    kept: dict[str, str], *, is_gone: bool
) -> None:
    files = {path: text.encode() for path, text in kept.items()}
    old = {**files, ".travis.yml": b"script: pytest\n"}
    told = [*workflows(Tree(Path(), files), Base(Tree(Path(), old), {}, (".travis.yml",)))]
    assert ["is gone" in each.why for each in told] == [True] * is_gone


@pytest.mark.parametrize(
    ("files", "is_gone"),
    [
        ({".github/workflows/old/ci.yml": JOB}, True),
        ({CI: JOB.replace("pytest", "true"), "scripts/run.sh": SCRIPT}, True),
        ({CI: JOB.replace("pytest", "scripts/run.sh"), "scripts/run.sh": SCRIPT}, False),
        ({CI: JOB.replace("pytest", "make check-all"), "Makefile": MAKE}, False),
        ({".github/workflows/other.yml": JOB}, False),
    ],
)
def test_a_step_may_move_to_where_it_is_started(files: dict[str, str], *, is_gone: bool) -> None:
    old, new = (Tree(Path(), {path: text.encode() for path, text in each.items()}) for each in ({CI: JOB}, files))
    gone = [
        each.path for each in workflows(new, Base(old, {}, tuple(sorted({CI, *files})))) if "is gone" in each.why
    ]
    assert gone == [CI] * is_gone
