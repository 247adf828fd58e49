"""Runs property tests with fixed settings of hypothesis, whose slow import is why this is loaded on use."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisException

EXAMPLES = 50
"""Examples of a property; each calls the code at least once."""
_MOST_AFTER_FAILURE = 200
_SECONDS_AFTER_FAILURE = 2.0
"""Time for shrinking a counterexample."""
_MOST_TEXT = 400
_FALSIFYING = re.compile(r"^(?:Falsifying|Failing)(?: explicit)? (?:example|test case): (?P<call>.*)", re.DOTALL)

_TRYING = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    print_blob=False,
)
_SHRINKING = settings(_TRYING, phases=[Phase.explicit, Phase.generate, Phase.shrink])


def prepare(storage: Path) -> None:
    """Give what has no settings of its own ours; `storage` has tables that are costly to make."""
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(storage)
    settings.register_profile("greenloop", _SHRINKING)
    settings.load_profile("greenloop")


class Property:
    """A collected property test, which runs with our settings instead of its own."""

    def __init__(self, function: Any) -> None:
        self._completed = 0
        self._failing: set[str] = set()
        self._after_failure = 0
        self._failed_at = 0.0
        self._at_failure: Callable[[], None] = lambda: None
        self._function = function
        function._hypothesis_internal_use_settings = _SHRINKING
        function.hypothesis.inner_test = self._watched(function.hypothesis.inner_test)

    def keep_what_fails(self, failed: Callable[[], None]) -> None:
        """Stop at the first counterexample, and call `failed`."""
        self._at_failure = failed
        self._function._hypothesis_internal_use_settings = _TRYING

    @property
    def tried(self) -> bool:
        """Return True if the body ran to its end or failed at least once."""
        return self._completed > 0 or bool(self._failing)

    @property
    def tried_once(self) -> bool:
        """Return True if there was one example to try: hypothesis makes none twice."""
        return self._completed == 1

    def _watched(self, test: Any) -> Any:
        @functools.wraps(test)
        def watched(*args: Any, **kwargs: Any) -> Any:
            shown = repr((args, kwargs))
            if self._is_spent() and shown not in self._failing:
                return None  # taken for a pass, this example only ends the search for a smaller one
            try:
                result = test(*args, **kwargs)
            except HypothesisException:
                raise
            except (Exception, pytest.fail.Exception):
                self._at_failure()
                self._failing.add(shown)
                self._failed_at = self._failed_at or time.monotonic()
                raise
            self._completed += 1
            return result

        return watched

    def _is_spent(self) -> bool:
        if not self._failing:
            return False
        self._after_failure += 1
        late = time.monotonic() - self._failed_at > _SECONDS_AFTER_FAILURE
        return late or self._after_failure > _MOST_AFTER_FAILURE


def taken_over(item: pytest.Item) -> Property | None:
    """Return the property of `item`, None if it is another test."""
    function = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    return Property(function) if hasattr(function, "hypothesis") else None  # a state machine's test has none


def counterexample(error: BaseException) -> str:
    """Return the minimal failing call in one line, such as `test_a(arr=[0, 0])`; empty if there is none."""
    for note in getattr(error, "__notes__", ()):
        match = _FALSIFYING.match(note) if isinstance(note, str) else None
        if match:
            call = " ".join(match["call"].split())
            return re.sub(r",? \)$", ")", call.replace("( ", "(", 1))[:_MOST_TEXT]
    return ""
