from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from agents.sandbox.inside.processes import tree
from agents.verifier import Verifier

_PR_SET_CHILD_SUBREAPER = 36

Left = Callable[[], set[int]]


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier("auto") as opened:
        yield opened


@pytest.fixture
def left() -> Iterator[Left]:
    """Tells which processes started since then are still below this one, which adopts those that lose their
    parent: none leaves its tree unseen. Those that have ended are reaped, as the system's init would."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    others = set(tree(os.getpid()))

    def left() -> set[int]:
        for pid in set(tree(os.getpid())) - others:
            with suppress(ChildProcessError):  # not a child of this one: its parent lives
                os.waitpid(pid, os.WNOHANG)
        return set(tree(os.getpid())) - others

    yield left
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
