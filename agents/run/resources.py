"""Resources that are slow to open: sandbox, warm workers, models; for one run or shared by a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from ..errors import UsageError
from ..events import EventHandler
from ..llm_backends.selection import Choice, check_known, choose, probe_ollama
from ..records import Role
from ..sandbox import Sandbox, open_sandbox
from ..sandbox.packages import open_interpreter
from ..settings import Settings
from ..verifier import Workers
from ..verifier.cached_verifier import boards_at_once
from .role_models import ROLES, SharedModels

HEAL_ROLES: tuple[Role, ...] = ("healer",)
EMBEDDED_SLOTS = 6
"""Requests of several runs that the embedded model answers at once at the most (docs/performance.md)."""


@dataclass(frozen=True, slots=True)
class Resources:
    """An open sandbox, the threads and the warm worker of its verifications, and the models."""

    sandbox: Sandbox
    workers: Workers
    choices: dict[Role, Choice]
    shared_models: SharedModels | None = None
    """Models shared by all runs; None: each run opens its own."""


def models_by_role(
    settings: Settings, environ: Mapping[str, str], roles: Sequence[Role] = ROLES
) -> dict[Role, Choice]:
    """Choose the model of each role. Raises UsageError for one without a provider."""
    choices = {role: choose(settings, environ, probe_ollama, role) for role in roles}
    for choice in () if settings.cache else set(choices.values()):  # with a cache LiteLLM may not be needed
        check_known(choice)
    return choices


@contextmanager
def open_resources(
    settings: Settings,
    environ: Mapping[str, str],
    shared: EventHandler | None = None,
    most: int = EMBEDDED_SLOTS,
    roles: Sequence[Role] = ROLES,
) -> Iterator[Resources]:
    """Open the resources of one run; with `shared`, the handler of events from opening models, of `most` at once.
    Raises SandboxUnavailable and UsageError, and where models are shared ModelError."""
    for name, folder in (("record", settings.record), ("cache", settings.cache)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise UsageError(f"--{name} {folder} is no folder; name one, which may be new.")
    with ExitStack() as held:
        sandbox = open_sandbox(settings.sandbox, open_interpreter(settings.python))
        held.callback(sandbox.close)
        opened = Workers(sandbox, boards_at_once(), lasting=shared is not None)
        workers = held.enter_context(closing(opened))
        choices, models = models_by_role(settings, environ, roles), None
        if shared is not None:
            slots = min(most, EMBEDDED_SLOTS)
            models = held.enter_context(SharedModels(choices, settings.weights, shared, slots=slots))
        yield Resources(sandbox, workers, choices, models)
