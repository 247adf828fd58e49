"""Reads the target of a heal, `SCRIPT`, `FILE.py::NAME` or a folder: path, name and tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..records.heal import HealRequest


def read_target(
    target: str, tests: Sequence[str], may_change: Sequence[str], folder: Path = Path()
) -> tuple[str, str | None, tuple[str, ...]]:
    """Path, name and tests of what is to be healed; what is not absolute lies in `folder`.

    Raises UsageError where tests and files that may change don't fit the target.
    """
    path, colons, name = target.partition("::")
    whole = folder / path
    if colons and not tests:
        raise UsageError(f"Say which test {target} fails: --test tests/test_it.py::test_name")
    if whole.is_dir() and not (tests and may_change):
        raise UsageError(f"{path} is a folder; name what fails and what may change: --tests, --may-change.")
    if tests and not colons and not whole.is_dir():
        raise UsageError(f"Tests go with a function or a project; name it: {path}::NAME")
    return str(whole.absolute()), name or None, tuple(_absolute(each, folder) for each in tests)


def _absolute(reference: str, folder: Path) -> str:
    path, colons, rest = reference.partition("::")
    return f"{(folder / path).absolute()}{colons}{rest}"


def check_recorded(request: HealRequest, roots: Sequence[Path]) -> None:
    """Raise UsageError unless all files that a request names lie below `roots`.

    A record may be anybody's: what it has a script read, and tells of in prompts, is named by the user once more.
    """
    tests = [each.partition("::")[0] for each in request.tests]
    for path in (request.path, *tests, *request.data, *filter(None, [request.stdin])):
        if not any(Path(path).resolve().is_relative_to(root.resolve()) for root in roots):
            raise UsageError(
                f"The record of this heal names {path}, which lies outside of {roots[0].resolve()}; go on with it "
                "from there, or name that too: heal FOLDER --resume RUN, --data, --stdin."
            )
