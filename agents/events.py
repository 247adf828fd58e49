"""Events of a run under way, for the console, `events.jsonl` and programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .records import Board, Candidate, Grade, Reply, Request, Ruling, RunStatus


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run has its directory; `reason` says in a sentence why `model` was chosen."""

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
    """A board is about to run: so many candidates against so many tests."""

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
    """Weights are being downloaded: `done` of `total` bytes; `source` is a phrase for the user."""

    source: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the user; a warning if `warning`."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended, as `run.json` also says. A killed run has no such event."""

    status: RunStatus
    grade: Grade | None
    exit_code: int
    error: str | None


Event = RunStarted | Asked | Streamed | Answered | BoardStarted | Ruled | Fetching | Note | RunEnded
EventHandler = Callable[[Event], None]
NAMES: Mapping[type[Event], str] = {
    RunStarted: "started",
    Asked: "asked",
    Streamed: "text",
    Answered: "answered",
    BoardStarted: "testing",
    Ruled: "ruled",
    Fetching: "fetching",
    Note: "note",
    RunEnded: "ended",
}
"""Names of events in `events.jsonl`."""
SHOWN: Mapping[type, tuple[str, ...]] = {
    Request: ("role", "purpose"),
    Reply: ("text", "finish", "model", "replayed", "usage", "tokens_per_second"),
    Ruling: ("grade", "why", "leader", "next_step", "passed", "failed", "disputes"),
}
"""Fields of an event's records that are written there beside its own; other records are left out."""


def ignore_event(_: Event) -> None:
    """No-op handler."""
