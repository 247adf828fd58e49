"""How `@repair` looks for a patch: on the user's own proposer, a named model, or one of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..errors import Interrupted
from ..settings import Settings
from .calls import CallCase
from .repair_options import Proposer, RepairEvent, RepairOptions

if TYPE_CHECKING:
    from .heal import HealResult
    from .repairs import Stop

_POLL_SECONDS = 0.1


def find_patch(
    case: CallCase, options: RepairOptions, emit: Callable[[RepairEvent], None], stop: Stop
) -> HealResult:
    """Look for a patch."""
    raise NotImplementedError


def holds(case: CallCase, files: Mapping[str, str]) -> bool:
    """Run a patch."""
    return case.observe(files).symptom is None


def model_settings(options: RepairOptions, environ: Mapping[str, str]) -> Settings:
    """The settings of the model: the one that the code or the environment names."""
    named = options.model or environ.get("GREENLOOP_MODEL") or None
    return Settings(model=named, api_base=environ.get("GREENLOOP_API_BASE") or None)


def proposed(proposer: Proposer, system: str, user: str, stop: Stop) -> str:
    """The proposer's reply. It can't be told to end: after `stop` its thread is left alone.

    Raises Interrupted, and what the proposer raises.
    """
    replies: list[str] = []
    errors: list[BaseException] = []

    def propose() -> None:
        try:
            replies.append(proposer.propose(system, user))
        except BaseException as error:  # raised below, in the thread that waits
            errors.append(error)

    thread = threading.Thread(target=propose, name="greenloop-proposer", daemon=True)
    thread.start()
    while thread.is_alive() and not stop():
        thread.join(_POLL_SECONDS)
    if errors:
        raise errors[0]
    if not replies:
        raise Interrupted("the heal was cancelled or took too long")
    return replies[0]
