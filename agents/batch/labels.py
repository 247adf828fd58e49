"""The label of a result in its batch, the reason for it, and the batch's totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from ..records import Grade, Outcome, Usage
from ..settings import RequiredGrade, reaches
from ..storage.questions import how_to_answer, question_line
from ..syntax.clean_text import clean
from .records import EntryResult, Unfinished

EntryLabel = Literal["healthy", Grade, "flaky", "environment", "ungraded", Unfinished]
LABELS: tuple[EntryLabel, ...] = get_args(EntryLabel)
"""Best first. `healthy`, `flaky` and `environment`: heals that asked no model. `ungraded`: finished without a
ruling."""

_MOST_DETAIL = 600


@dataclass(frozen=True)
class Report:
    """The results of a batch and the facts about it as a whole, for its reports."""

    results: Sequence[EntryResult]
    required: RequiredGrade
    """The lowest grade that counts as reached."""
    exit_code: int
    seconds: float
    """Wall time of the batch, with earlier calls that were resumed."""
    created: str = ""
    """Time of the start, ISO 8601 with zone; empty where it is not known."""

    @cached_property
    def count(self) -> int:
        """Number of results that have the required grade."""
        return sum(has_reached(result, self.required) for result in self.results)

    @cached_property
    def counts(self) -> dict[EntryLabel, int]:
        """Number of results by label, best first."""
        counted = Counter(map(label_of, self.results))
        return {name: counted[name] for name in LABELS if counted[name]}

    @cached_property
    def usage(self) -> Usage:
        """The usage of all results together."""
        return sum((result.usage for result in self.results), Usage())


def has_reached(result: EntryResult, required: RequiredGrade) -> bool:
    """Return True if `result` is finished with at least the required grade, or nothing was to be healed."""
    return result.status == "finished" and (result.heal == "healthy" or reaches(result.grade, required))


def label_of(result: EntryResult) -> EntryLabel:
    """Return the grade of a finished result, the outcome of a heal that asked no model, else the status."""
    if result.status == "finished":
        if result.heal == "healthy" or result.heal == "flaky" or result.heal == "environment":
            return result.heal
        return result.grade or "ungraded"
    return result.status


def reason(result: EntryResult) -> str:
    """Return the reason for a result's label, in cleaned text; never empty."""
    said = result.error.message if result.error is not None else result.why
    if result.error is not None and result.grade is not None:
        said = f"{said} Graded {result.grade} so far: {result.why}"
    return clean(said or f"It is {label_of(result)}.")


def tokens(usage: Usage) -> int:
    """Return the tokens read and generated."""
    return usage.prompt_tokens + usage.completion_tokens


def outcome_line(outcome: Outcome) -> str:
    """Return a test's status and the assertion's values, cleaned, on one line."""
    detail = one_line(outcome.detail, _MOST_DETAIL)
    return f"{one_line(outcome.test_id, _MOST_DETAIL)}: {outcome.status}{f', {detail}' if detail else ''}"


def open_lines(result: EntryResult) -> Iterator[str]:
    """Yield each open question in one cleaned line: the input, the rival outputs, and how to answer."""
    for dispute in result.disputes:
        yield one_line(f"{question_line(dispute)} {how_to_answer((dispute,), by_file=False)}", 2 * _MOST_DETAIL)


def duration(seconds: float) -> str:
    """Return a time for a person: `8.1 s`, `3 min 05 s`, `2 h 07 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def one_line(text: str, most: int) -> str:
    """Return `text` cleaned, on one line of about `most` characters; cut it before cleaning too, which is slow."""
    return shortened(" ".join(clean(shortened(text, 4 * most)).split()), most)


def shortened(text: str, most: int) -> str:
    """Return `text` cut in its middle to about `most` characters, with the number of those left out."""
    if len(text) <= most:
        return text
    kept = most // 2
    return f"{text[:kept]} … {len(text) - 2 * kept:,} characters left out … {text[len(text) - kept :]}"
