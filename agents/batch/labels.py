"""How a result stands in its batch: whether it reached the required grade, why not, and the batch's totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..clean_text import clean
from ..records import Outcome, Usage
from ..settings import GRADES, RequiredGrade, reaches
from ..storage.questions import how_to_answer, question_line
from .records import EntryResult

Standing = Literal[
    "verified", "consensus", "contested", "failed", "stopped", "interrupted", "bad", "not started", "ungraded"
]
STANDINGS: tuple[Standing, ...] = (*GRADES, "ungraded", "stopped", "interrupted", "bad", "not started")
"""Best first. `ungraded`: it came to its end without a ruling."""

_MOST_DETAIL = 600


@dataclass(frozen=True, slots=True)
class Totals:
    """What a batch comes to. `seconds` is the specs' own time together, not the batch's."""

    specs: int
    reached: int
    counts: dict[Standing, int]
    usage: Usage
    seconds: float

    @property
    def tokens(self) -> int:
        """Tokens read and generated."""
        return self.usage.prompt_tokens + self.usage.completion_tokens


def has_reached(result: EntryResult, required: RequiredGrade) -> bool:
    """Whether `result` came to its own end with at least the required grade."""
    return result.status == "finished" and reaches(result.grade, required)


def standing(result: EntryResult) -> Standing:
    """The grade of a result that came to its end, and how any other ended."""
    if result.status == "finished":
        return result.grade or "ungraded"
    return result.status


def reason(result: EntryResult) -> str:
    """Why a result stands where it does, in cleaned text; never empty."""
    said = result.error.message if result.error is not None else result.why
    if result.error is not None and result.grade is not None:
        said = f"{said} Graded {result.grade} so far: {result.why}"
    return clean(said or f"It is {standing(result)}.")


def tokens(result: EntryResult) -> int:
    """Tokens read and generated for a result."""
    return result.usage.prompt_tokens + result.usage.completion_tokens


def fact(outcome: Outcome) -> str:
    """What a test showed, cleaned, on one line: its status and the assertion's values."""
    detail = one_line(outcome.detail, _MOST_DETAIL)
    return f"{one_line(outcome.test_id, _MOST_DETAIL)}: {outcome.status}{f', {detail}' if detail else ''}"


def open_lines(result: EntryResult) -> Iterator[str]:
    """Each open question of a result in one cleaned line: the input, the rival outputs, and how to answer."""
    for dispute in result.disputes:
        yield one_line(f"{question_line(dispute)} {how_to_answer((dispute,))}", 2 * _MOST_DETAIL)


def one_line(text: str, most: int) -> str:
    """`text` cleaned, on one line of about `most` characters; cut before that too, for the time cleaning takes."""
    return shortened(" ".join(clean(shortened(text, 4 * most)).split()), most)


def shortened(text: str, most: int) -> str:
    """`text`, and where it is longer than `most` characters its beginning and end, saying how much is left out."""
    if len(text) <= most:
        return text
    kept = most // 2
    return f"{text[:kept]} … {len(text) - 2 * kept:,} characters left out … {text[len(text) - kept :]}"


def totals(results: Sequence[EntryResult], required: RequiredGrade) -> Totals:
    """The totals of `results`."""
    counted = Counter(standing(result) for result in results)
    usage = Usage()
    for result in results:
        usage += result.usage
    return Totals(
        specs=len(results),
        reached=sum(has_reached(result, required) for result in results),
        counts={name: counted[name] for name in STANDINGS if counted[name]},
        usage=usage,
        seconds=sum(result.seconds for result in results),
    )
