"""Options of `@repair` from the code and the environment; its events and its result."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from ..errors import UsageError
from ..files import read_regular
from ..records.heal import HealResult
from ..run.cancellation import Cancellation

Runs = Literal["off", "record", "propose", "sandbox", "process"]
RUNS: tuple[Runs, ...] = get_args(Runs)
"""In order, the most restrictive first."""
SWITCH = "GREENLOOP_HEAL"
IN_PROCESS = "GREENLOOP_HEAL_IN_PROCESS"
EventType = Literal[
    "attempt_start", "attempt_failed", "propose_start", "propose_chunk", "propose_complete", "install_success",
    "install_failed", "cache_hit", "cache_miss", "verify_success", "repair_succeeded", "repair_exhausted",
]  # fmt: skip


class Proposer(Protocol):
    """A model of the user's own."""

    def propose(self, system: str, user: str) -> str:
        """Return the reply to a prompt."""


@dataclass(frozen=True, slots=True)
class RepairEvent:
    """One step of a heal. `attempt_number` counts requests to the model from 1; before the first it is 0."""

    type: EventType
    attempt_number: int = 0
    delta: str = ""
    proposed_source: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of the last failing call of a function. `why` says in a sentence why it was not healed; `heal`
    has trials, diff and grade (None: no patch was looked for)."""

    succeeded: bool
    why: str = ""
    final_value: Any = None
    heal: HealResult | None = None
    notes: tuple[str, ...] = ()


class Stop(Cancellation):
    """Cancels a heal, by request or after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.monotonic() + seconds

    def __call__(self) -> bool:
        """Return True if the heal has to end."""
        return self.cancelled or self.left <= 0

    @property
    def left(self) -> float:
        """Seconds until the timeout."""
        return self._end - time.monotonic()


def _is_some(*kinds: type) -> Callable[[Any], bool]:
    """Return a check for values of the types `kinds`, numbers only above 0."""
    return lambda value: isinstance(value, kinds) and (not isinstance(value, (int, float)) or value > 0)


_TAKES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "max_attempts": (_is_some(int), "a whole number above 0"),
    "max_seconds": (_is_some(int, float), "a number above 0"),
    "max_heals": (_is_some(int), "a whole number above 0"),
    "model": (_is_some(str), "the name of a model"),
    "proposer": (lambda value: callable(getattr(value, "propose", None)), "an object with propose(system, user)"),
    "on_failure": (
        lambda value: value in ("raise", "return_none") or callable(value),
        "raise, return_none or a function",
    ),
    "verify": (callable, "a function that takes the value"),
    "prompt_extra": (_is_some(str), "a text"),
    "cache": (_is_some(Path), "the path of a directory"),
    "on_event": (callable, "a function that takes a RepairEvent"),
    "runs": (RUNS.__contains__, f"one of {', '.join(RUNS)}"),
}
"""For each option the check of its value (None is no value) and a description of valid ones."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """The arguments of `repair`, checked. Raises UsageError."""

    max_attempts: int = 5
    model: str | None = None
    proposer: Proposer | None = None
    on_failure: Literal["raise", "return_none"] | Callable[[BaseException], Any] = "raise"
    verify: Callable[[Any], object] | None = None
    tests: Sequence[Callable[[Callable[..., Any]], object]] = ()
    test_files: Sequence[Path] = ()
    prompt_extra: str = ""
    cache: Path | None = None
    on_event: Callable[[RepairEvent], object] | None = None
    runs: Runs = "sandbox"
    max_seconds: float = 60
    max_heals: int = 10
    exceptions: tuple[type[Exception], ...] = (Exception,)

    def __post_init__(self) -> None:
        for name, (fits, wanted) in _TAKES.items():
            value = getattr(self, name)
            if value is not None and not fits(value):
                raise UsageError(f"{name}= takes {wanted}, and not {value!r}.")
        if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in self.exceptions):
            raise UsageError("exceptions= takes subclasses of Exception; others are never caught.")
        for path in self.test_files:
            if not isinstance(path, Path) or not path.is_file():
                raise UsageError(f"tests= names {path}, which is no file; give functions or pytest files.")

    def allowed(self, environ: Mapping[str, str]) -> Runs:
        """Return `runs` as far as the environment allows. Raises UsageError for an unknown value there."""
        switch = environ.get(SWITCH, self.runs)
        if switch not in RUNS:
            raise UsageError(f"{SWITCH}={switch} is not known; set it to one of {', '.join(RUNS)}")
        allowed = min(self.runs, switch, key=RUNS.index)
        return "sandbox" if allowed == "process" and environ.get(IN_PROCESS) != "1" else allowed

    def digest(self) -> str:
        """Return a digest of the options that decide which patch is right: tests, `verify`, extra text, model."""
        parts = [self.model or "", self.prompt_extra, *map(_text, (*self.tests, *self.test_files))]
        parts += [_text(self.verify)] if self.verify is not None else []
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _text(test: Any) -> str:
    """Return the source of a function (its name where there is none) or the text of a file."""
    if not callable(test):
        return read_regular(Path(test)).decode("utf-8", "surrogateescape")
    try:
        return inspect.getsource(test)
    except (OSError, TypeError):
        return f"{getattr(test, '__module__', '')}.{getattr(test, '__qualname__', type(test).__qualname__)}"
