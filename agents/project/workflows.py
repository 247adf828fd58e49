"""Finds in a change of workflows what has failures of tests ignored, or fewer tests run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..syntax.clean_text import clean
from ..worktree.tree import Tree
from .base import Base
from .records import Tampering

_WORKFLOWS = re.compile(
    r"\.github/workflows/.*\.ya?ml|\.gitlab-ci\.yml|\.gitlab/.*\.ya?ml|\.circleci/.*|azure-pipelines\.yml|"
    r"\.pre-commit-config\.yaml|Makefile|GNUmakefile|tox\.ini|noxfile\.py|Jenkinsfile|\.travis\.yml|justfile"
)
_IGNORES = re.compile(
    r"\|\|\s*(true|:|exit\s+0|echo\b)|continue-on-error:\s*(true|yes|\$)|allow_failure:\s*(true|yes)|"
    r"^\s*(-\s*)?set\s+\+e\b|;\s*(true|exit\s+0)\s*$|ignore_outcome\s*=\s*true|if:\s*(false|\$\{\{\s*false)|success_codes",
    re.IGNORECASE,
)
_DASHED = re.compile(r"^(\s+|commands\w*\s*=\s*)-\s*\w")
"""A command whose failure make or tox ignores; in YAML an item of a list."""
_RUNS_TESTS = re.compile(
    r"\b(pytest|py\.test|tox|nox|unittest|nose2|make (test|check)\w*|hatch (run )?test|greenloop)\b"
)
_NO_STEP = re.compile(r"(- )?(#|\[|name:|pip |uv |deps\b)|.*\binstall\b")
_FEWER = re.compile(r"\s(-k|-m|--deselect|--ignore(-glob)?|--collect-only|--co|--lf|--last-failed)\b")
"""Options of pytest by which fewer tests are run, or none."""


def is_workflow(path: str) -> bool:
    """Return True for a file that says how tests are run."""
    return bool(_WORKFLOWS.fullmatch(path))


def workflows(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield what has failures ignored, or fewer tests run, in the workflows that differ from the base's."""
    for path in filter(is_workflow, base.differing):
        yield from _in_workflow(path, base.tree.files.get(path, b""), tree.files.get(path, b""))
    yield from _removed_steps(tree, base)


def _in_workflow(path: str, old: bytes, new: bytes) -> Iterator[Tampering]:
    """Yield the new lines that have failures ignored."""
    known = [line.strip() for line in old.decode("utf-8", "replace").splitlines()]
    for number, line in enumerate(new.decode("utf-8", "replace").splitlines(), 1):
        if line.strip() in known:
            known.remove(line.strip())
        elif line.lstrip().startswith("#"):
            continue
        elif _IGNORES.search(line) or (_DASHED.search(line) and not path.endswith(("yml", "yaml"))):
            yield Tampering(clean(path), number, f"failures are ignored: {clean(line.strip())[:200]}")
        elif _RUNS_TESTS.search(line) and _FEWER.search(line.partition("pytest")[2]):
            yield Tampering(clean(path), number, f"fewer tests are asked for: {clean(line.strip())[:200]}")


def _removed_steps(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield the files of workflows in which no test is run any more, or fewer times, and in no other one more."""

    def count(files: Mapping[str, bytes], path: str) -> int:
        text = files.get(path, b"").decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if not _NO_STEP.match(line.strip())]
        return sum(bool(_RUNS_TESTS.search(line)) for line in lines)

    paths = [path for path in base.differing if is_workflow(path)]
    lost = [path for path in paths if count(base.tree.files, path) > count(tree.files, path)]
    if sum(count(tree.files, path) - count(base.tree.files, path) for path in paths) < 0:
        for path in lost:
            yield Tampering(clean(path), 1, "a step that runs the tests is gone")
