"""The Case protocol: a failure that can be done again in the sandbox, on changed files too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..records.heal import Answer, Call, Observation


class Case(Protocol):
    """A failing script (`scripts.py`), function or tests (`tests.py`), or call (`calls.py`)."""

    @property
    def files(self) -> Mapping[str, str]:
        """The text of each file that may change, by its path relative to the case's folder (`/` between names)."""

    @property
    def target(self) -> tuple[str, str] | None:
        """The one definition that may change, by path and qualified name; None where all of `files` may."""

    @property
    def trusted(self) -> bool:
        """True if an expectation of the user's decides: failing tests, `--expect...`, `verify=`, `tests=`."""

    @property
    def holds_out(self) -> bool:
        """True if an item that is left out of a symptom is in no prompt."""

    @property
    def other_runs(self) -> Sequence[Call]:
        """Runs of the whole case that are near its own; none where it has none."""

    @property
    def task(self) -> str:
        """One or two sentences for the prompt: what is run, and what is expected of it."""

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Run the case once, cold, in the sandbox, with the text of `changed` files in the stead of their own.

        Other `seed`s are other hash seeds. Raises SandboxBroken, and Interrupted after a cancellation; whatever
        the code does is in the observation.
        """

    def calls(self, changed: Mapping[str, str]) -> Sequence[Call]:
        """The calls of functions in its files that it makes on `changed` files."""

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> Sequence[Answer | None]:
        """Return the answers to calls on `changed` files, apart from each other; None for one that has none."""
