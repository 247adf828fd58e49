"""Brings the roles together with their models, and shuts the models down again."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from .asking import LARGE_MODEL, SMALL_MODEL, Ask, ReplyLengths
from .budget import Budget
from .code_writer import CodeWriter
from .critic import Critic
from .events import Answered, Asked, Tell
from .llm_backends import at_once, closing, get_caller, get_model, is_small
from .records import Reply, Request, Role
from .settings import Settings
from .test_writer import TestWriter

if TYPE_CHECKING:
    from .llm_backends.attempt import Caller, StreamingModel
    from .llm_backends.choice import Choice

ROLES: tuple[Role, ...] = ("code_writer", "test_writer", "critic")
SEEDS_OF_A_RUN = 1000
"""Seeds that a run has for itself, so that the drafts of two runs with neighbouring seeds are other samples."""


class Backends:
    """The models behind the roles, opened once for as many runs as there are. A context manager that closes them
    on every path."""

    def __init__(self, choices: dict[Role, Choice], weights: Path | None, tell: Tell) -> None:
        """Raises ModelError and UsageError."""
        self.choices = choices
        self.models: dict[Choice, StreamingModel | None] = {}
        self._closers = ExitStack()
        try:
            for choice in dict.fromkeys(choices.values()):
                self.models[choice] = get_model(choice, weights, tell)
                self._closers.callback(closing(self.models[choice]))
        except BaseException:
            self._closers.close()
            raise

    @property
    def parallel(self) -> int:
        """Requests that all of the models answer at the same time."""
        return min(at_once(model) for model in self.models.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closers.close()


class Models:
    """The models of one run, on its budget, with its recorded replies. A context manager that ends every call."""

    def __init__(self, backends: Backends, settings: Settings, budget: Budget, replies: Path, tell: Tell) -> None:
        self._choices = backends.choices
        self._settings = settings
        self._seed = settings.seed * SEEDS_OF_A_RUN
        self._tell = tell
        self._lock = threading.Lock()
        self._speeds: list[tuple[int, float]] = []
        self._closers = ExitStack()
        self._callers: dict[Choice, Caller] = {}
        for choice, model in backends.models.items():
            self._callers[choice] = get_caller(choice, model, budget, replies, tell)
            self._closers.callback(self._callers[choice].cancel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closers.close()

    @property
    def at_once(self) -> int:
        """Requests that may be asked at the same time."""
        return min(caller.parallel for caller in self._callers.values())

    @property
    def tokens_per_second(self) -> float | None:
        """Decoding speed over all replies that were not replayed; None where no backend reported any."""
        with self._lock:
            seconds = sum(tokens / speed for tokens, speed in self._speeds)
            return sum(tokens for tokens, _ in self._speeds) / seconds if seconds else None

    def code_writer(self) -> CodeWriter:
        """The CodeWriter on its model."""
        return CodeWriter(
            self._ask("code_writer"),
            self._lengths("code_writer"),
            temperature=self._settings.temperature,
            seed=self._seed,
        )

    def test_writer(self) -> TestWriter:
        """The TestWriter on its model."""
        return TestWriter(
            self._ask("test_writer"),
            self._lengths("test_writer"),
            temperature=self._settings.temperature,
            seed=self._seed,
        )

    def critic(self) -> Critic:
        """The Critic on its model."""
        return Critic(self._ask("critic"), self._lengths("critic"), seed=self._seed)

    def _lengths(self, role: Role) -> ReplyLengths:
        return SMALL_MODEL if is_small(self._choices[role].model_id) else LARGE_MODEL

    def _ask(self, role: Role) -> Ask:
        caller = self._callers[self._choices[role]]

        def ask(request: Request) -> Reply:
            self._tell(Asked(request))
            reply = caller.ask(request)
            if reply.tokens_per_second and not reply.replayed:
                with self._lock:
                    self._speeds.append((reply.usage.completion_tokens, reply.tokens_per_second))
            self._keep(request, reply)
            self._tell(Answered(request, reply))
            return reply

        return ask

    def _keep(self, request: Request, reply: Reply) -> None:
        if self._settings.record is not None:
            from .llm_backends.recorded import ReplyStore

            ReplyStore(self._settings.record, reply.model or "model").save(request, reply)
