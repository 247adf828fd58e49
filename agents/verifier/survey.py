"""What a suite does on empty implementations: asked once for a suite, by whichever run comes first."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Survey:
    """`ids` that pytest collects, in order (empty where the file could not be imported without the code), those
    of them that passed on both empty implementations, and those for which hypothesis found no example at all."""

    ids: tuple[str, ...] = ()
    vacuous: frozenset[str] = frozenset()
    untried: frozenset[str] = frozenset()


class SurveySlot:
    """Holds a survey for every run of one suite. A run that claims it has to fill it or leave it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._claimed = False
        self._survey: Survey | None = None

    def claim(self) -> bool:
        """Whether the caller is to make the survey; true for one caller at a time, and until it is made."""
        with self._changed:
            if self._claimed or self._survey is not None:
                return False
            self._claimed = True
            return True

    def fill(self, survey: Survey) -> None:
        """Make the result known; only the first one counts."""
        with self._changed:
            self._survey = self._survey or survey
            self._changed.notify_all()

    def leave(self) -> None:
        """The claim is over; where nothing was filled in, another run may claim."""
        with self._changed:
            self._claimed = False
            self._changed.notify_all()

    @property
    def filled(self) -> bool:
        """Whether the result is known."""
        with self._changed:
            return self._survey is not None

    def result(self) -> Survey | None:
        """The survey, once whoever is making it is done; None where nobody has made it."""
        with self._changed:
            self._changed.wait_for(lambda: self._survey is not None or not self._claimed)
            return self._survey
