"""What every part of greenloop speaks of: immutable records, no behaviour beyond reading themselves.

The words are the project's, in docs/words.md: spec, candidate, test, suite, board, verdict, ruling, grade.
Imports nothing local, and nothing heavy.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

TestOrigin = Literal["spec", "user", "generated", "settled"]
CandidateOrigin = Literal["draft", "repair", "redraft"]
Role = Literal["code_writer", "test_writer", "critic"]
VerdictKind = Literal["passed", "failed", "void", "forged", "incomplete", "stopped", "refused"]
OutcomeStatus = Literal["passed", "failed", "error", "stopped", "missing"]
Isolation = Literal["isolated", "in-process"]
Grade = Literal["verified", "consensus", "contested", "failed"]

TRUSTED_ORIGINS: tuple[TestOrigin, ...] = ("spec", "user")


def fingerprint(text: str) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of `text`: an id that follows the content."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# --- what the user asked for -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signature:
    """The entry point that the spec names: `text` is a header line without the colon.

    Example: `def quicksort(arr: list[int]) -> list[int]`, or `class Stack`.
    """

    name: str
    kind: Literal["function", "class"]
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """One example found in the spec, as Python statements that hold for right code (the last is an assert,
    or a `with pytest.raises(...)` block). `source_line` is the text it was found in."""

    code: str
    source_line: str
    answer: bool = False
    """Whether it is an answer to an open question, from a file of answers."""
    told: bool = True
    """Whether prompts show it; an answer to a run under way is a test alone, so that recorded replies serve."""


@dataclass(frozen=True, slots=True)
class SpecLimits:
    """Limits a spec's front matter may set; None leaves the setting as it is."""

    max_rounds: int | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """The user's request: its text, and what was read out of it."""

    id: str
    text: str
    signature: Signature | None = None
    examples: tuple[Example, ...] = ()
    user_tests: str | None = None
    """Source of a pytest file given by the user: trusted."""
    limits: SpecLimits = SpecLimits()
    origin: str = "argument"
    """Where the spec came from: `argument`, `stdin`, or a file's path."""


# --- what is written for it --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """One version of `user_code.py`. `parent` is the candidate that it replaces, if any."""

    id: str
    code: str
    origin: CandidateOrigin
    round: int
    parent: str | None = None
    mended: tuple[str, ...] = ()
    """What reply.py changed to make the reply a module, one phrase each."""


@dataclass(frozen=True, slots=True)
class Test:
    """One pytest function: `id` is its name, `source` the whole `def test_...`, decorators included."""

    __test__ = False

    id: str
    source: str
    origin: TestOrigin
    preamble: str = ""
    """Module-level statements it needs (imports, constants, helper functions), one statement after the other."""

    @property
    def trusted(self) -> bool:
        """Whether the test comes from the user (spec example or tests file)."""
        return self.origin in TRUSTED_ORIGINS


# --- what running it showed --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stopped:
    """A limit that was overrun: `limit` names it (wall, cpu, memory, processes, file_size, disk, output)."""

    limit: str
    value: float
    allowed: float
    unit: str = "s"

    def __str__(self) -> str:
        return f"{self.limit} limit: {self.value:g} of {self.allowed:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one test showed on one candidate. `detail` is cleaned text: the assertion and its values, or the
    exception; `actual` and `expected` are `repr`s where the test compares two values."""

    test_id: str
    status: OutcomeStatus
    detail: str = ""
    actual: str | None = None
    expected: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A test that was not run, and why, or why its pass shows nothing."""

    test_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class TestStrength:
    """How many changes of the code's answers a passing test noticed; `missed` says one that it did not."""

    __test__ = False

    test_id: str
    noticed: int
    tried: int
    missed: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verifier's answer on one candidate. Only `passed` means that every test ran and passed."""

    kind: VerdictKind
    outcomes: tuple[Outcome, ...] = ()
    refused: tuple[Refusal, ...] = ()
    reason: str = ""
    isolation: Isolation = "isolated"
    backend: str = ""
    stopped: Stopped | None = None
    notes: tuple[str, ...] = ()
    output: str = ""
    """What the code printed: cleaned, and cut to a few kilobytes."""
    seconds: float = 0.0
    strength: tuple[TestStrength, ...] = ()
    """For each test, where all of them passed."""

    def outcome(self, test_id: str) -> Outcome:
        """The outcome of `test_id`; `missing` where the test never ran."""
        for outcome in self.outcomes:
            if outcome.test_id == test_id:
                return outcome
        return Outcome(test_id, "missing", self.reason)


@dataclass(frozen=True, slots=True)
class Board:
    """Outcomes of every candidate on every test: `verdicts[i]` belongs to `candidates[i]`."""

    candidates: tuple[Candidate, ...]
    tests: tuple[Test, ...]
    verdicts: tuple[Verdict, ...]
    seconds: float = 0.0

    def verdict(self, candidate_id: str) -> Verdict:
        """The verdict on `candidate_id`. Raises KeyError when it is not on the board."""
        for candidate, verdict in zip(self.candidates, self.verdicts, strict=True):
            if candidate.id == candidate_id:
                return verdict
        raise KeyError(candidate_id)


# --- what was decided --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One test of a run and its standing. `reason` says why, where it does not count."""

    test: Test
    standing: Literal["counts", "contested", "ruled out", "refused"]
    votes_for: int = 0
    votes_against: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A test on which independent candidates and the test's writer disagree: an open question to the user."""

    test_id: str
    question: str
    """The call under dispute, as source."""
    answers: tuple[str, ...]
    """The rival answers, as `repr`s; the test's own expectation first."""


NextStep = Literal["done", "test", "repair", "redraft", "settle"]
"""What the loop does next; `settle` is found in runs of earlier versions alone, which `show` still reads."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The judge's decision on a board."""

    grade: Grade
    leader: str | None
    """Id of the candidate that leads; None when there is none at all."""
    next_step: NextStep
    why: str
    """One sentence for the user."""
    ledger: tuple[LedgerEntry, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    passed: int = 0
    failed: int = 0
    """Counting tests that the leader passes and fails."""

    @property
    def done(self) -> bool:
        """Whether the loop ends here."""
        return self.next_step == "done"


# --- what it cost ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """Spent on model calls. `seconds` is wall time inside calls; `cost_usd` is None where no price is known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost_usd: float | None = None
    cached_prompt_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    """Tokens proposed by speculation, and those of them that were accepted (embedded model)."""
    replayed: int = 0
    """How many of `calls` were not made: recorded or cached replies repeat them."""

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
            cost_usd=sum(costs) if costs else None,
            cached_prompt_tokens=self.cached_prompt_tokens + other.cached_prompt_tokens,
            drafted_tokens=self.drafted_tokens + other.drafted_tokens,
            accepted_tokens=self.accepted_tokens + other.accepted_tokens,
            replayed=self.replayed + other.replayed,
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model, complete: equal requests may be answered by the same recorded reply."""

    role: Role
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    seed: int
    stop: tuple[str, ...] = ()
    purpose: str = ""
    """What the user is told it is for, such as `draft 2`; no part of the question."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `finish` is `stop` (it ended by itself), `length` (cut at max_tokens) or `repetition`
    (greenloop stopped a loop)."""

    text: str
    finish: Literal["stop", "length", "repetition"]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    tokens_per_second: float | None = None
    """Decoding speed as the backend reports it; None where it does not."""
    replayed: bool = False
    """Whether it was read from recorded replies."""
