"""The models behind the roles: opened once, shared by runs, closed on every path."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..debugger.debugger import Debugger
from ..events import Answered, Asked, EventHandler, Note
from ..llm_backends import get_model, is_small, recorded_replies
from ..llm_backends.budget import Budget
from ..llm_backends.call import Caller
from ..llm_backends.lazy_model import LazyModel
from ..llm_backends.pacing import Pacer
from ..llm_backends.providers import is_recorded
from ..llm_backends.recorded import ReplyCache, ReplyStore
from ..llm_backends.selection import Choice, known_model_id, name_in_cache, parallel_of
from ..loop.roles import Roles
from ..records import Reply, Request, Role
from ..roles.ask import LARGE_MODEL, SMALL_MODEL, Ask, ReplyLengths
from ..roles.code_writer import CodeWriter
from ..roles.critic import Critic
from ..roles.healer import Healer
from ..roles.test_writer import TestWriter
from ..settings import Settings
from ..storage.atomic import PRIVATE
from ..verifier.cached_verifier import CachedVerifier

if TYPE_CHECKING:
    from ..llm_backends.streaming_model import StreamingModel

ROLES: tuple[Role, ...] = ("code_writer", "test_writer", "critic")
SEEDS_OF_A_RUN = 1000
"""Seeds reserved for a run, so that runs with neighbouring seeds don't share samples."""
OpenModel = Callable[[Choice, Path | None, EventHandler, int], "StreamingModel"]
"""Takes a choice, the user's own weights, a handler of download events, and the embedded model's slots."""


class SharedModels(ExitStack):
    """Models shared by runs in several threads; a context manager that closes them.

    A model is opened (weights fetched, a library loaded, a server asked) at the first request that no record and
    no cache answers, which raises the errors of opening.
    """

    def __init__(
        self,
        choices: dict[Role, Choice],
        weights: Path | None,
        emit: EventHandler,
        *,
        slots: int = 1,
        open_model: OpenModel = get_model,
    ) -> None:
        """Open nothing yet. `slots` is the number of concurrent requests of the embedded model."""
        self.choices = choices
        self.models: dict[Choice, LazyModel | None] = {}
        self.weights = weights
        self._slots = slots
        self.pacers = {choice: Pacer() for choice in choices.values()}
        super().__init__()
        companions: list[LazyModel] = []
        for choice in dict.fromkeys(choices.values()):
            self.models[choice] = None
            if not is_recorded(choice.model_id):
                opening = partial(open_model, choice, weights, emit, slots)
                self.models[choice] = model = LazyModel(known_model_id(choice), opening, companions)
                self.callback(model.close)

    @property
    def parallel(self) -> int:
        """Concurrent requests that every one of the models can answer."""
        return min(parallel_of(choice, self._slots) for choice in self.models)


class RoleModels(ExitStack):
    """The models of one run, with its budget and recorded replies; a context manager that ends every call."""

    def __init__(
        self, shared: SharedModels, settings: Settings, budget: Budget, replies: Path, emit: EventHandler
    ) -> None:
        self._choices = shared.choices
        self._settings = settings
        self._budget = budget
        self._small = frozenset(role for role, choice in self._choices.items() if is_small(choice.model_id))
        self._emit = emit
        self._replies = replies
        super().__init__()
        self._callers = {choice: self._caller(choice, shared) for choice in shared.models}
        for caller in self._callers.values():
            self.callback(caller.cancel)

    @property
    def at_once(self) -> int:
        """Concurrent requests of this run.

        1 for the embedded model, which has a slot for each run of a batch: requests of a run one after the other
        reuse the prompt cache of the slot (docs/performance.md).
        """
        return min(parallel_of(choice, 1) for choice in self._callers)

    def roles(self, verifier: CachedVerifier, at_once: int | None = None) -> Roles:
        """Return the roles, each on its model. `at_once` None: as many concurrent requests as for this run."""
        at_once = at_once or self.at_once
        return make_roles(self.ask, self._settings, self._small, verifier, at_once, self._budget)

    def healer(self, *, python: str, prompt_extra: str = "", values: bool = True) -> Healer:
        """Return the Healer on its model."""
        lengths, seed = lengths_of(self._choices["healer"]), self._settings.seed * SEEDS_OF_A_RUN
        ask, anew = self.ask("healer"), "healer" in self._small
        return Healer(ask, lengths, seed=seed, python=python, prompt_extra=prompt_extra, values=values, anew=anew)

    def ask(self, role: Role) -> Ask:
        """Return the function that asks the model of `role`, on the run's budget."""
        caller = self._callers[self._choices[role]]

        def ask(request: Request) -> Reply:
            self._emit(Asked(request))
            reply = caller.ask(request)
            if is_recorded(self._choices[role].model_id):  # for forks and moved directories
                ReplyStore(self._replies, reply.model or "model", mode=PRIVATE).save(request, reply)
            if self._settings.record is not None:
                ReplyStore(self._settings.record, reply.model or "model").save(request, reply)
            self._emit(Answered(request, reply))
            return reply

        return ask

    def _caller(self, choice: Choice, shared: SharedModels) -> Caller:
        if (model := shared.models[choice]) is None:
            return Caller(None, self._budget, store=recorded_replies(choice), emit=self._emit)
        directory, frozen, cache = self._settings.cache, self._settings.frozen, None
        if directory is not None:
            name = name_in_cache(choice, shared.weights) or model.model_id
            cache = ReplyCache(directory, name, lambda told: self._emit(Note(told, warning=True)))
        store = ReplyStore(self._replies, model.model_id, mode=PRIVATE)
        called, pacer = None if frozen else model, shared.pacers[choice]
        return Caller(called, self._budget, store=store, cache=cache, pacer=pacer, emit=self._emit)


def make_roles(
    ask: Callable[[Role], Ask],
    settings: Settings,
    small: Collection[Role],
    verifier: CachedVerifier,
    at_once: int,
    budget: Budget | None,
) -> Roles:
    """Return the roles of a run on `ask`; those in `small` have the reply lengths and prompts of small models. A
    small Critic is not asked for repairs: another draft repairs more (docs/decisions/013)."""
    of_code, of_tests, of_critic = (SMALL_MODEL if role in small else LARGE_MODEL for role in ROLES)
    seed, temperature, begin = settings.seed * SEEDS_OF_A_RUN, settings.temperature, "code_writer" in small
    return Roles(
        CodeWriter(ask("code_writer"), of_code, temperature=temperature, seed=seed, begin=begin),
        TestWriter(ask("test_writer"), of_tests, seed=seed),
        Critic(ask("critic"), of_critic, seed=seed),
        at_once,
        verifier,
        repairs="critic" not in small,
        debugger=Debugger(ask("critic"), of_critic, seed, verifier, budget),
    )


def lengths_of(choice: Choice) -> ReplyLengths:
    """Return the longest replies of a model."""
    return SMALL_MODEL if is_small(choice.model_id) else LARGE_MODEL
