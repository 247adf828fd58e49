"""TestWriter: spec -> tests; greenloop's own loop never shows it a candidate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..records import ClauseCheck, Message, Reply, Request, Spec, Test
from ..reply import read_properties, read_tests
from .ask import LARGE_MODEL, Ask, ReplyLengths, ask_until_readable
from .kinds import kind_of
from .prompt import messages, render, system

MOST_CLAUSES = 6
"""Asked for at once: more would not fit the reply of a small model."""


@dataclass(frozen=True, slots=True)
class TestWriter:
    """Drafts pytest tests from the spec and the signature; from code only in `draft_from_code`."""

    __test__ = False
    ask: Ask
    lengths: ReplyLengths
    seed: int = field(kw_only=True)

    def draft(self, spec: Spec, count: int) -> tuple[Test, ...]:
        """Return about `count` tests of one assertion each. Raises ReplyError when no test can be read."""
        return self._tests(spec, messages(spec, "test_writer", **_asked_for(spec, count)), "tests")

    def draft_for(self, spec: Spec, checks: Sequence[ClauseCheck]) -> tuple[Test, ...]:
        """Return tests of what is missing of each clause in `checks`. Raises ReplyError when none can be read."""
        shown = [
            {"text": check.text, "wanted": ", ".join(str(need) for need in check.missing if need.kind != "test")}
            for check in checks
        ]
        count = sum(max(1, len(check.missing)) for check in checks)
        asked = messages(spec, "clause_tests", clauses=shown, **_asked_for(spec, count))
        tests = self._tests(spec, asked, "tests of clauses", 60 * (count + 1))
        return tuple(replace(test, about=_about(test.id, checks)) for test in tests)

    def draft_from_code(self, spec: Spec, code: str, count: int) -> tuple[Test, ...]:
        """Return about `count` tests of `code`, which is shown in the spec's place: for the strategy `classic`
        only. Raises ReplyError when no test can be read."""
        text = render("tests_of_code", code=code.strip(), **_asked_for(spec, count))
        return self._tests(spec, (system(spec), Message("user", text)), "tests of the code")

    def properties(self, spec: Spec, count: int) -> tuple[Test, ...]:
        """Return at most `count` property tests for hypothesis, of one assertion each and without expected values.
        Raises ReplyError when none can be read."""

        def read(reply: Reply) -> tuple[Test, ...]:
            return read_properties(reply.text, spec, truncated=reply.finish != "stop", limit=count)

        asked = messages(spec, "properties", names=_names(spec), count=count)
        return ask_until_readable(self.ask, self._request(asked, "properties"), read)

    def _tests(
        self, spec: Spec, asked: tuple[Message, ...], purpose: str, most: int = LARGE_MODEL.tests
    ) -> tuple[Test, ...]:
        def read(reply: Reply) -> tuple[Test, ...]:
            return read_tests(reply.text, spec, truncated=reply.finish != "stop")[0]

        return ask_until_readable(self.ask, self._request(asked, purpose, most), read)

    def _request(self, asked: tuple[Message, ...], purpose: str, most: int = LARGE_MODEL.tests) -> Request:
        length = min(most, self.lengths.tests)
        return Request("test_writer", asked, length, temperature=0.0, seed=self.seed, purpose=purpose)


def _names(spec: Spec) -> str:
    return spec.signature.name if spec.signature else "the names that the spec gives"


def _about(name: str, checks: Sequence[ClauseCheck]) -> str:
    """Return the text of the clause whose number is in a test's name, as `part_2`; empty without one."""
    found = re.search(r"part_?(\d+)", name)
    number = int(found[1]) if found else 0
    return checks[number - 1].text if 0 < number <= len(checks) else ""


def _asked_for(spec: Spec, count: int) -> dict[str, object]:
    kind = kind_of(spec)
    call = f"{spec.signature.name if spec.signature else 'function'}(...)"
    asked = {"names": _names(spec), "example_call": call}
    return {**asked, "count": count, "kind": kind, "form": render("test_form", kind=kind, **asked)}
