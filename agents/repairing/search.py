"""Finds patches for `@repair` by the user's proposer, a named model, or a local one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import Interrupted
from ..events import Answered, Asked, Event, EventHandler, Streamed
from ..healing.calls import CallCase
from ..healing.heal import heal_case
from ..llm_backends.budget import Budget
from ..llm_backends.selection import Choice, choose, probe_ollama
from ..llm_backends.streams import BackgroundStream
from ..records import Reply, Request
from ..records.heal import HealResult
from ..roles.ask import LARGE_MODEL, Ask
from ..roles.healer import Healer
from ..roles.prompt import PYTHON
from ..run.role_models import RoleModels, SharedModels
from ..settings import Settings
from .options import Proposer, RepairEvent, RepairOptions, Stop

Emit = Callable[[RepairEvent], None]


def find_patch(case: CallCase, options: RepairOptions, emit: Emit, stop: Stop) -> HealResult:
    """Look for a patch, one patch in each round. Raises GreenloopError."""
    told = _repair_events(emit)
    with _healer(options, told, stop) as healer:
        return heal_case(case, healer, max_rounds=options.max_attempts, patches=1, emit=told)


def _repair_events(emit: Emit) -> EventHandler:
    """Return a handler that passes a heal's events on to `emit` as RepairEvents."""
    attempt = 0

    def tell(event: Event) -> None:
        nonlocal attempt
        match event:
            case Asked():
                attempt += 1
                emit(RepairEvent("attempt_start", attempt))
                emit(RepairEvent("propose_start", attempt))
            case Streamed():
                emit(RepairEvent("propose_chunk", attempt, delta=event.text))
            case Answered():
                emit(RepairEvent("propose_complete", attempt, proposed_source=event.reply.text))

    return tell


@contextmanager
def _healer(options: RepairOptions, told: EventHandler, stop: Stop) -> Iterator[Healer]:
    if options.proposer is not None:
        ask = _proposer_ask(options.proposer, told, stop)
        yield Healer(ask, LARGE_MODEL, seed=0, prompt_extra=options.prompt_extra)
        return
    settings, choice = chosen(options, os.environ)
    with ExitStack() as held:
        replies = Path(held.enter_context(TemporaryDirectory()))
        shared = held.enter_context(SharedModels({"healer": choice}, None, told))
        budget = Budget(max_seconds=max(0.1, stop.left))
        models = held.enter_context(RoleModels(shared, settings, budget, replies, told))
        held.enter_context(stop.on_cancel(models.close))
        yield models.healer(python=PYTHON, prompt_extra=options.prompt_extra)


def chosen(options: RepairOptions, environ: Mapping[str, str]) -> tuple[Settings, Choice]:
    """Return settings and choice of the model that the code or the environment names, else a local one: an API key
    in the environment is no consent to use it."""
    named = options.model or environ.get("GREENLOOP_MODEL") or None
    settings = Settings(model=named, api_base=environ.get("GREENLOOP_API_BASE") or None)
    keyless = {name: value for name, value in environ.items() if name == "OLLAMA_HOST"}
    return settings, choose(settings, keyless, probe_ollama)


def _proposer_ask(proposer: Proposer, told: EventHandler, stop: Stop) -> Ask:
    """Return a function that asks a proposer; on `stop` it abandons the thread and raises Interrupted."""

    def ask(request: Request) -> Reply:
        told(Asked(request))
        system, user = (each.content for each in request.messages)
        stream = BackgroundStream(lambda: iter([proposer.propose(system, user)]))
        with stop.on_cancel(stream.abandon):
            text = stream.next(max(0.0, stop.left))
        if text is None:
            raise Interrupted("the heal was cancelled or took too long")
        reply = Reply(text, "stop")
        told(Answered(request, reply))
        return reply

    return ask
