"""Critic: a candidate and its failing tests -> a whole replacement file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import ReplyError
from ..records import Candidate, Outcome, Reply, Request, Spec, Test
from ..syntax.source import program
from .ask import Ask, ReplyLengths, ask_until_readable
from .code_writer import read_candidate
from .prompt import messages

SHOWN_FAILURES = 3
LONGEST_DETAIL = 600


@dataclass(frozen=True, slots=True)
class Critic:
    """Writes the whole corrected file from the spec, the current file and its failing tests with outcomes."""

    ask: Ask
    lengths: ReplyLengths
    seed: int = field(kw_only=True)

    def replace(
        self,
        spec: Spec,
        candidate: Candidate,
        failures: Sequence[tuple[Test, Outcome]],
        round_number: int,
        known: frozenset[str],
        note: str = "",
        trace: str = "",
        attempts: Sequence[str] = (),
    ) -> Candidate:
        """Return a replacement for `candidate`. `note` is the user's, `trace` is of its failing call, `attempts`
        are the failures of other candidates.

        `known` are the earlier candidates, normalized by `program`: a reply that repeats one can't be used. Raises
        ReplyError when no new candidate can be read."""
        request = Request(
            role="critic",
            messages=messages(
                spec,
                "critic",
                code=candidate.code.strip(),
                failures=[describe(test, outcome) for test, outcome in failures[:SHOWN_FAILURES]],
                note=note,
                trace=trace,
                attempts=attempts,
            ),
            max_tokens=self.lengths.code,
            temperature=0.0,
            seed=self.seed + round_number,
            purpose=f"replacement for round {round_number}",
        )

        def read(reply: Reply) -> Candidate:
            replacement = read_candidate(
                reply, spec, "repair", round_number, f"repair{round_number}", candidate.id
            )
            if program(replacement.code) in known:
                raise ReplyError("it repeats a file that failed these tests before; change what makes them fail")
            return replacement

        return ask_until_readable(self.ask, request, read)


def describe(test: Test, outcome: Outcome) -> str:
    """Return a failing test for a prompt: its source, then its outcome."""
    facts = outcome.detail.strip()[:LONGEST_DETAIL]
    if outcome.actual is not None and outcome.expected is not None:
        facts = f"It returned {outcome.actual}, and the test expects {outcome.expected}."
    return f"```python\n{test.source.strip()}\n```\n{facts}"
