"""Proposals that a person approves before they are used, and decisions on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from ..errors import UsageError
from .model_call import Usage

Point = Literal["replacement", "round", "draft", "tests", "patch"]
"""A proposal: a repair before it joins the candidates; a ruling with its next step; a draft and the generated
tests before they run; a heal's patch before it is written."""
Answer = Literal["yes", "no", "edit", "note", "always", "stop"]
ANSWERS: dict[Point, tuple[Answer, ...]] = {
    "replacement": ("yes", "no", "edit", "note", "always", "stop"),
    "round": ("yes", "no", "edit", "note", "always", "stop"),
    "draft": ("yes", "no", "edit", "always", "stop"),
    "tests": ("yes", "no", "edit", "always", "stop"),
    "patch": ("yes", "no", "stop"),
}
"""The answers that each point takes."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposal. `text` is the code or the tests, which the answer `edit` changes."""

    point: Point
    title: str
    text: str
    diff: str = ""
    """Unified: what `text` changes."""
    facts: tuple[str, ...] = ()
    """Failing tests with their outcomes, or the ruling."""
    usage: Usage = field(default_factory=Usage)
    """Spent so far."""
    problem: str = ""
    """Why the last answer is invalid."""

    @property
    def digest(self) -> str:
        """SHA-256 of all that is shown, except `usage`."""
        shown = json.dumps([self.point, self.title, self.text, self.diff, self.facts])
        return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer: `yes`; `no`, which changes nothing; `edit`, with the new text; `note`, with a text for the next
    repair; `always` (yes, without further questions); `stop`. Raises UsageError for another."""

    answer: Answer
    text: str = ""

    def __post_init__(self) -> None:
        if self.answer not in get_args(Answer):
            raise UsageError(f"answer can't be {self.answer!r}; give one of {', '.join(get_args(Answer))}.")


Approve = Callable[[Proposal], Decision]
"""Decides on a proposal; called in a thread of its own, one proposal at a time."""
