"""What a suite does on empty implementations: asked once for a suite, by whichever run comes first."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Survey:
    """`ids` that pytest collects, in order (empty where the file could not be imported without the code), and
    those of them that passed on both empty implementations."""

    ids: tuple[str, ...] = ()
    vacuous: frozenset[str] = frozenset()


@dataclass(slots=True)
class SurveySlot:
    """Holds a survey for every run of one suite."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _done: threading.Event = field(default_factory=threading.Event)
    _claimed: bool = False
    _survey: Survey = Survey()

    def claim(self) -> bool:
        """Whether the caller is to make the survey; true for one caller only."""
        with self._lock:
            claimed, self._claimed = self._claimed, True
            return not claimed

    def fill(self, survey: Survey) -> None:
        """Make the result known; only the first one counts."""
        with self._lock:
            if not self._done.is_set():
                self._survey = survey
                self._done.set()

    @property
    def filled(self) -> bool:
        """Whether the result is known."""
        return self._done.is_set()

    def result(self) -> Survey:
        """The survey; waits for whoever is making it."""
        self._done.wait()
        return self._survey
