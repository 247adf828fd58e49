"""Cases: failures that can be done again in the sandbox, on changed files too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

from ..records.heal import Answer, Call, Item, Observation
from ..sandbox import Sandbox, SandboxLimits
from ..syntax.encoding import encoded
from ..worktree.tree import Tree
from .expectations import EXPECT_CALL, ExpectedCall
from .script_run import Invocation, ScriptRun, run_script


class Case(ABC):
    """A failing script (`scripts.py`), function or tests (`tests_case.py`), or call (`calls.py`)."""

    @property
    @abstractmethod
    def files(self) -> Mapping[str, str]:
        """The text of each file that may change, by its path relative to the case's folder (`/` between names)."""

    @property
    def target(self) -> tuple[str, str] | None:
        """The one definition that may change, by path and qualified name; None where all of `files` may."""
        return None

    @property
    def trusted(self) -> bool:
        """True if an expectation of the user's decides: failing tests, `--expect...`, `verify=`, `tests=`."""
        return True

    @property
    def holds_out(self) -> bool:
        """True if an item that is left out of a symptom is in no prompt."""
        return True

    @property
    def other_runs(self) -> Sequence[Call]:
        """Runs of the whole case that are near its own, for where no function that patches change is called."""
        return ()

    @property
    @abstractmethod
    def task(self) -> str:
        """One or two sentences for the prompt: what is run, and what is expected of it."""

    @abstractmethod
    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Run the case once, cold, in the sandbox, with the text of `changed` files in the stead of their own.

        Other `seed`s are other hash seeds. Raises SandboxBroken, and Interrupted after a cancellation; whatever
        the code does is in the observation.
        """

    def observe_by(self, seeds: Sequence[int], changed: Mapping[str, str]) -> Iterator[Observation]:
        """Observe it by each of `seeds`, one after the other: what runs in this process may not be run twice at
        once."""
        return (self.observe(changed, seed=seed) for seed in seeds)

    @abstractmethod
    def calls(self, changed: Mapping[str, str]) -> Sequence[Call]:
        """The calls of functions in its files that it makes on `changed` files. Raises as `observe`."""

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """Return the calls of functions in its files that failing `items` make on `changed` files, without items
        those that it makes itself, and why others can't be told; by default nothing. Raises as `observe`."""
        return (), ()

    @abstractmethod
    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> Sequence[Answer | None]:
        """Return the answers to calls on `changed` files, apart from each other; None for one that has none.

        Raises as `observe`.
        """


@dataclass(frozen=True, kw_only=True)
class TreeCase(Case):
    """A case in a folder, of which each run gets a copy; `texts` are of the files that patches may change."""

    sandbox: Sandbox
    limits: SandboxLimits
    tree: Tree
    texts: Mapping[str, str]
    cancelled: Callable[[], bool]
    expected_calls: tuple[ExpectedCall, ...] = ()

    @property
    def files(self) -> Mapping[str, str]:
        """The text of the files that may change."""
        return self.texts

    def observe_by(self, seeds: Sequence[int], changed: Mapping[str, str]) -> Iterator[Observation]:
        """Observe it by each of `seeds`, side by side: all of it runs in sandboxes."""
        with ThreadPoolExecutor() as pool:
            yield from pool.map(lambda seed: self.observe(changed, seed=seed), seeds)

    def asked_by(self, items: Sequence[Item]) -> tuple[Call, ...]:
        """The calls of items that expect an answer."""
        sources = {item.source for item in items if item.name == EXPECT_CALL}
        return tuple(each.call for each in self.expected_calls if each.text in sources)

    def own(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Those of files that may change."""
        return tuple(each for each in calls if each.path in self.texts)

    @cached_property
    def _runs(self) -> dict[tuple[Invocation, int], ScriptRun]:
        """Runs on the files as they are, each done once."""
        return {}

    def run(self, invocation: Invocation, changed: Mapping[str, str], seed: int) -> ScriptRun:
        """Run `invocation` on `changed` files; on the files as they are it tells of calls. Raises as `observe`."""
        if not changed and (invocation, seed) in self._runs:
            return self._runs[invocation, seed]
        new = {path: encoded(text, self.tree.files[path]) for path, text in changed.items()}
        told = replace(invocation, called=invocation.called or (not changed and seed == 0))
        run = run_script(self.sandbox, self.limits, self.tree, new, told, seed=seed, cancelled=self.cancelled)
        if not changed:
            self._runs[invocation, seed] = run
        return run
