"""How `@repair` looks for a patch: on the user's own proposer, a named model, or one of this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import Interrupted
from ..events import Answered, Asked, Event, Streamed
from ..llm_backends.budget import Budget
from ..llm_backends.selection import Choice, choose, probe_ollama
from ..records import Reply, Request, Role
from ..records.heal import HealResult
from ..roles.ask import LARGE_MODEL, Ask
from ..roles.healer import Healer
from ..roles.prompt import PYTHON
from ..run.role_models import RoleModels, SharedModels
from ..settings import Settings
from .calls import CallCase
from .heal import heal_case
from .repair_options import Proposer, RepairEvent, RepairOptions
from .repairs import Stop

_POLL_SECONDS = 0.1
Emit = Callable[[RepairEvent], None]


def find_patch(case: CallCase, options: RepairOptions, emit: Emit, stop: Stop) -> HealResult:
    """Look for a patch, one at a time. Raises GreenloopError."""
    told = _Told(emit)
    with _healer(options, told, stop) as healer:
        return heal_case(case, healer, max_rounds=options.max_attempts, patches=1, emit=told.hear)


class _Told:
    """Tells what a heal's events mean to a caller of `repair`."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._attempt = 0

    def hear(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, Asked):
            self._attempt += 1
            self._emit(RepairEvent("attempt_start", self._attempt))
            self._emit(RepairEvent("propose_start", self._attempt))
        elif isinstance(event, Streamed):
            self._emit(RepairEvent("propose_chunk", self._attempt, delta=event.text))
        elif isinstance(event, Answered):
            self._emit(RepairEvent("propose_complete", self._attempt, proposed_source=event.reply.text))


@contextmanager
def _healer(options: RepairOptions, told: _Told, stop: Stop) -> Iterator[Healer]:
    if options.proposer is not None:
        ask = _asking(options.proposer, told, stop)
        yield Healer(ask, LARGE_MODEL, seed=0, prompt_extra=options.prompt_extra)
        return
    settings = model_settings(options, os.environ)
    choices: dict[Role, Choice] = {"healer": chosen(settings, os.environ)}
    with ExitStack() as held:
        replies = Path(held.enter_context(TemporaryDirectory()))
        shared = held.enter_context(SharedModels(choices, None, told.hear))
        budget = Budget(max_seconds=max(0.1, stop.left))
        models = held.enter_context(RoleModels(shared, settings, budget, replies, told.hear))
        held.enter_context(_closed_by(stop, models))
        yield models.healer(python=PYTHON, prompt_extra=options.prompt_extra)


@contextmanager
def _closed_by(stop: Stop, models: RoleModels) -> Iterator[None]:
    """End the calls of `models` once `stop` says so."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_POLL_SECONDS):
            if stop():
                models.close()
                return

    thread = threading.Thread(target=watch, name="greenloop-stop", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def model_settings(options: RepairOptions, environ: Mapping[str, str]) -> Settings:
    """The settings of the model: the one that the code or the environment names."""
    named = options.model or environ.get("GREENLOOP_MODEL") or None
    return Settings(model=named, api_base=environ.get("GREENLOOP_API_BASE") or None)


def chosen(settings: Settings, environ: Mapping[str, str]) -> Choice:
    """The model that is named, else one of this machine: a key that lies in the environment is no consent."""
    keyless = {name: value for name, value in environ.items() if name == "OLLAMA_HOST"}
    return choose(settings, keyless, probe_ollama)


def _asking(proposer: Proposer, told: _Told, stop: Stop) -> Ask:
    def ask(request: Request) -> Reply:
        told.hear(Asked(request))
        system = "\n\n".join(each.content for each in request.messages if each.role == "system")
        user = "\n\n".join(each.content for each in request.messages if each.role != "system")
        reply = Reply(_proposed(proposer, system, user, stop), "stop")
        told.hear(Answered(request, reply))
        return reply

    return ask


def _proposed(proposer: Proposer, system: str, user: str, stop: Stop) -> str:
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
