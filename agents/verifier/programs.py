"""The files of the programs that run inside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_BOTH = (
    "__init__.py", "start.py", "frames.py", "plain.py", "shared.py", "describe.py", "mirror.py", "side.py", "views.py",
    "packing.py", "unpacking.py", "crossing.py", "peer.py",
)  # fmt: skip
JUDGE = (*_BOTH, "facts.py", "reporter.py", "stubs.py", "judge_side.py", "remote_module.py", "judge.py")
SUBJECT = (*_BOTH, "subject.py")


@cache
def _source(name: str) -> bytes:
    return (files(__package__) / "inside" / name).read_bytes()


def programs(names: Sequence[str]) -> dict[str, bytes]:
    """The named files of `inside`, under the paths that a job has them at."""
    return {f"inside/{name}": _source(name) for name in names}
