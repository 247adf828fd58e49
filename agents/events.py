"""Events of a run while it works: the console draws them, programs may ignore them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .records import Board, Candidate, Reply, Request, Ruling


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has a directory; `reason` says in a sentence why `model` was chosen."""

    run_dir: str
    model: str
    reason: str
    sandbox: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A role has sent its request."""

    request: Request


@dataclass(frozen=True, slots=True)
class Streamed:
    """A piece of the reply to `request`."""

    request: Request
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The reply to `request` is complete."""

    request: Request
    reply: Reply


@dataclass(frozen=True, slots=True)
class BoardStarted:
    """Tests are about to run: so many candidates against so many tests."""

    round: int
    candidates: int
    tests: int


@dataclass(frozen=True, slots=True)
class Ruled:
    """The judge has decided on a round."""

    round: int
    board: Board
    ruling: Ruling
    leader: Candidate | None


@dataclass(frozen=True, slots=True)
class Fetching:
    """Weights are being downloaded: `done` of `total` bytes are on disk; `source` is a phrase for the user."""

    source: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence that the user should see; a warning if `warning`."""

    text: str
    warning: bool = False


Event = RunStarted | Asked | Streamed | Answered | BoardStarted | Ruled | Fetching | Note
EventHandler = Callable[[Event], None]


def ignore_event(_: Event) -> None:
    """No-op handler."""
