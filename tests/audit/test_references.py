"""What refers to something that runs tests: templates, anchors, other files, functions of a noxfile."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.audit.base import Base
from agents.audit.workflows import workflows
from agents.worktree.tree import Tree

from .test_workflows import CI, HOOK, JOB
from .test_workflows import found as found_in

LAB, PRE, NOXFILE = ".gitlab-ci.yml", ".pre-commit-config.yaml", "noxfile.py"
LAB_JOBS = "a:\n  script:\n    - pytest\n\nb:\n  script:\n    - pytest\n"
TEMPLATES = (
    ".tests:\n  script:\n    - pytest\n\n.lint:\n  script:\n    - ruff check\n\n"
    "a:\n  extends: .tests\n\nb:\n  extends: .tests\n\nc:\n  extends: [.lint]\n"
)
USER = "b:\n  extends: .tests\n"
ANCHORS = ".do: &do\n  script: &steps\n    - pytest\n\na:\n  <<: *do\n\nb:\n  script: *steps\n"
BASE = ".base: &base\n  image: a\n\na:\n  <<: *base\n  script:\n    - pytest\n"
REFERENCES = (
    ".run:\n  script:\n    - pytest\n\na:\n  script:\n    - !reference [.run, script]\n\n"
    "b:\n  script:\n    - !reference [.run, script]\n"
)
BUCKET = (
    "definitions:\n  steps:\n    - step: &test\n        script:\n          - pytest\n\n"
    "pipelines:\n  default:\n    - step: *test\n"
)
PLAIN_BUCKET = "pipelines:\n  default:\n    - step:\n        script:\n          - pytest\n"
CIRCLE = (
    "commands:\n  unit:\n    steps:\n      - run: pytest\n\n"
    "jobs:\n  build:\n    steps:\n      - checkout\n      - unit\n"
)
CALLED = {".github/workflows/tests.yml": f"on: workflow_call\n{JOB}"}
CALLS = "on:\n  push:\njobs:\n  a:\n    uses: ./.github/workflows/tests.yml\n"
ACTION = {".github/actions/t/action.yml": "runs:\n  steps:\n    - run: pytest\n      shell: bash\n"}
ACTS = JOB.replace("- run: pytest\n", "- uses: ./.github/actions/t\n")
SCRIPT = {"scripts/test.sh": 'set -e\npytest "$@"\n'}
SCRIPTED = JOB.replace("- run: pytest\n", "- run: bash scripts/test.sh\n")
INCLUDED = {"ci/tests.yml": LAB_JOBS}
INCLUDES = "include:\n  - local: ci/tests.yml\n\nc:\n  script:\n    - ruff check\n"

PATHS = f"on:\n  push:\n    paths:\n      - src/**\n      - tests/**\n      - tox.ini\n{JOB}"
HOOKS = (
    "repos:\n  - repo: https://github.com/tox-dev/tox-ini-fmt\n    hooks:\n      - id: tox-ini-fmt\n"
    "  - repo: a\n    hooks:\n      - id: mypy\n        exclude: ^.tox/\n"
    "        additional_dependencies:\n          - pytest\n          - tox\n"
)
RUN = '    session.run("pytest", *session.posargs)\n'
NOX = f'import nox\n\n\n@nox.session\ndef tests(session):\n    session.install("pytest")\n{RUN}'


def found(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """What is found where files differ."""
    paths = tuple(sorted(path for path in {*old, *new} if old.get(path) != new.get(path)))
    assert paths
    before, now = (Tree(Path(), {path: text.encode() for path, text in each.items()}) for each in (old, new))
    return [each.why for each in workflows(now, Base(before, {}, paths))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(USER, USER.replace("tests", "lint"))}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(USER, f"{USER}  allow_failure: true\n")}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(USER, f"{USER}  when: manual\n")}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(USER, f"{USER}  rules:\n    - when: never\n")}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(USER, f"{USER}  script: [python -V]\n")}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(USER, f".{USER}")}),
        ({LAB: ANCHORS}, {LAB: ANCHORS.replace("  script: *steps", "  script: [python -V]")}),
        ({LAB: ANCHORS}, {LAB: ANCHORS.replace("  <<: *do", "  <<: *do\n  allow_failure: true")}),
        ({LAB: BASE}, {LAB: BASE.replace("image: a", "allow_failure: true")}),
        ({LAB: REFERENCES}, {LAB: REFERENCES.replace("    - !reference [.run, script]\n\nb", "    - id\n\nb")}),
        ({LAB: INCLUDES, **INCLUDED}, {LAB: INCLUDES[INCLUDES.index("c:") :], **INCLUDED}),
        (
            {"bitbucket-pipelines.yml": BUCKET},
            {"bitbucket-pipelines.yml": BUCKET.replace("*test", "{script: [id]}")},
        ),
        ({".circleci/config.yml": CIRCLE}, {".circleci/config.yml": CIRCLE.replace("      - unit\n", "")}),
        ({CI: CALLS, **CALLED}, {CI: "on:\n  push:\njobs: {}\n", **CALLED}),
        ({CI: CALLS, **CALLED}, {CI: f"{CALLS}    if: github.actor == 'a'\n", **CALLED}),
        ({CI: CALLS, **CALLED}, {CI: CALLS.replace("push", "workflow_dispatch"), **CALLED}),
        ({CI: ACTS, **ACTION}, {CI: ACTS.replace("      - uses: ./.github/actions/t\n", ""), **ACTION}),
        ({CI: SCRIPTED, **SCRIPT}, {CI: SCRIPTED.replace("      - run: bash scripts/test.sh\n", ""), **SCRIPT}),
        ({CI: SCRIPTED, **SCRIPT}, {CI: SCRIPTED.replace("test.sh", "test.sh || true"), **SCRIPT}),
    ],
)
def test_a_reference_to_what_runs_tests_is_a_step_that_runs_them(old: dict[str, str], new: dict[str, str]) -> None:
    assert found(old, new) != []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({LAB: LAB_JOBS}, {LAB: TEMPLATES}),
        ({LAB: LAB_JOBS}, {LAB: ANCHORS}),
        ({LAB: LAB_JOBS}, {LAB: REFERENCES}),
        ({LAB: LAB_JOBS}, {LAB: INCLUDES, **INCLUDED}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace(".tests", ".unit")}),
        ({LAB: TEMPLATES}, {LAB: f"{TEMPLATES}\nd:\n  extends: .tests\n  allow_failure: true\n"}),
        ({LAB: TEMPLATES}, {LAB: TEMPLATES.replace("[.lint]", ".lint\n  allow_failure: true")}),
        ({"bitbucket-pipelines.yml": PLAIN_BUCKET}, {"bitbucket-pipelines.yml": BUCKET}),
        ({CI: JOB}, {CI: CALLS, **CALLED}),
        ({CI: PATHS, "tox.ini": "pytest"}, {CI: PATHS.replace("      - tox.ini\n", ""), "tox.ini": "pytest"}),
        ({CI: JOB}, {CI: ACTS, **ACTION}),
        ({CI: JOB}, {CI: SCRIPTED, **SCRIPT}),
        ({CI: SCRIPTED, **SCRIPT}, {CI: JOB}),
        ({CI: JOB}, {CI: f"{JOB}      - run: shellcheck scripts/test.sh || true\n", **SCRIPT}),
        ({"azure-pipelines.yml": "steps:\n  - script: pytest\n"},
         {"azure-pipelines.yml": "steps:\n  - template: ci/a.yml\n", "ci/a.yml": "steps:\n  - script: pytest\n"}),
    ],
)  # fmt: skip
def test_what_runs_tests_may_be_moved_behind_a_reference(old: dict[str, str], new: dict[str, str]) -> None:
    assert found(old, new) == []


@pytest.mark.parametrize(
    "gone",
    [
        HOOKS[HOOKS.index("  - repo: https") : HOOKS.index("  - repo: a")],
        "          - pytest\n",
        "        exclude: ^.tox/\n",
    ],
)
def test_names_of_packages_and_paths_run_no_tests(gone: str) -> None:
    assert gone in HOOKS
    assert found({PRE: HOOKS}, {PRE: HOOKS.replace(gone, "")}) == []
    assert found({PRE: f"{HOOKS}{HOOK[HOOK.index('  -') :]}"}, {PRE: HOOKS}) != []
    assert found({".x/env.yml": "dependencies:\n  - pytest\n"}, {".x/env.yml": "dependencies:\n  - tox\n"}) == []


@pytest.mark.parametrize(
    "body",
    [
        '    if os.environ.get("FULL"):\n        session.run("pytest")\n',
        f'    if not os.environ.get("FULL"):\n        return\n{RUN}',
        f"    return\n{RUN}",
        '    session.run("echo", "pytest")\n',
        '    session.interactive and session.run("pytest")\n',
        '    session.run("pytest") if session.posargs else None\n',
        '    try:\n        session.run("pytest")\n    finally:\n        return\n',
        '    with session.chdir("."):\n        if session.posargs:\n            session.run("pytest")\n',
        '    helper(session)\n\n\ndef helper(session):\n    if session.posargs:\n        session.run("pytest")\n',
    ],
)
def test_a_session_of_nox_that_need_not_run_tests_is_named(body: str) -> None:
    assert found_in(NOXFILE, NOX, NOX.replace(RUN, body)) != []


@pytest.mark.parametrize("marks", ['@nox.parametrize("a", [])\n', "@nox.session(python=[])\n"])
def test_a_session_of_nox_for_no_value_is_named(marks: str) -> None:
    new = NOX.replace("@nox.session\n", marks if "session" in marks else f"@nox.session\n{marks}")
    assert found_in(NOXFILE, NOX, new) != []


@pytest.mark.parametrize(
    "body",
    [
        '    if session.posargs:\n        session.run("pytest", "-x")\n    else:\n        session.run("pytest")\n',
        f'    if session.python == "3.8":\n        raise SystemExit("unsupported")\n{RUN}',
        f'    if session.python == "3.12":\n        session.install("coverage")\n{RUN}',
        '    with session.chdir("."):\n        session.run("python", "-m", "pytest")\n',
        '    command = ["pytest", "-ra"]\n    session.run(*command)\n',
        f'    helper(session)\n\n\ndef helper(session):\n    """Run."""\n{RUN}',
    ],
)
def test_a_session_of_nox_that_runs_tests_on_each_way_is_not(body: str) -> None:
    assert found_in(NOXFILE, NOX, NOX.replace(RUN, body)) == []


def test_sessions_of_nox_are_listed_by_their_own_names() -> None:
    named = NOX.replace("@nox.session\n", '@nox.session(name="unit", python=["3.11", "3.12"])\n')
    listed = 'nox.options.sessions = ["{}"]\n\n\n@nox'
    assert found_in(NOXFILE, named, named.replace("@nox", listed.format("unit-3.12"))) == []
    assert found_in(NOXFILE, named, named.replace("@nox", listed.format("units"))) != []


@pytest.mark.parametrize(
    ("path", "old", "new", "is_found"),
    [
        ("a.sh", "set -e\npytest\n", "set -e\npytest && return 0\necho failed\n", True),
        ("a.sh", "set -e\npytest\n", "set -e\nruff check && pytest\n", False),
        ("a.sh", "set -e\npytest\n", "set -e\n. .venv/bin/activate && pytest\necho done\n", False),
        ("a.sh", "set -e\npytest\n", "set -e\nPYTHON=python3\n$PYTHON -m pytest\n", False),
        ("a.sh", "set -e\npytest\n", "set -e\nfor n in 1 2; do\n  pytest && exit 0\ndone\nexit 1\n", False),
        ("a.sh", "set -e\npytest\n", "set -e\nexec true\npytest\n", True),
        ("a.sh", "set -e\npytest\n", "set -e\nexec > log 2>&1\npytest\n", False),
        ("a.sh", "set -e\npytest\n", "set -e\nalias pytest=true\npytest\n", True),
        (PRE, HOOK, HOOK.replace("entry: pytest", "entry: pytest\n        args: [--collect-only]"), True),
        (PRE, HOOK, HOOK.replace("entry: pytest", 'entry: pytest\n        args: ["-q", "-x"]'), False),
        (CI, JOB, JOB.replace("- run: pytest", "- run: if [ -f a ]; then pytest; fi"), True),
        (CI, JOB, JOB.replace("- run: pytest", "- run: if pytest; then echo ok; else exit 1; fi"), False),
        (CI, JOB, JOB.replace("- run: pytest", "- run: |\n          pytest || rc=$?\n          exit $rc"), False),
        (CI, JOB, JOB.replace("- run: pytest", "- run: |\n          pytest || rc=$?\n          echo $rc"), True),
        (CI, JOB, JOB.replace("- run: pytest", "- run: pytest || pytest --lf"), False),
        (CI, JOB, JOB.replace("- run: pytest", "- run: tox -e py$(echo 3.11 | tr -d .)"), False),
        ("Makefile", "test:\n\tpytest\n", "test:\n\t@: pytest\n", True),
        ("Makefile", "P ?= pytest\n\ntest:\n\t$(P)\n", "P ?= echo pytest\n\ntest:\n\t$(P)\n", True),
    ],
)
def test_commands_that_heed_the_tests_are_told_from_others(
    path: str, old: str, new: str, *, is_found: bool
) -> None:
    assert (found_in(path, old, new) != []) is is_found
