"""TestWriter: spec -> tests, blind to every candidate."""

from __future__ import annotations

from ..errors import ReplyError
from ..records import Message, Reply, Request, Spec, Test
from ..reply import read_properties, read_tests
from .ask import Ask, ReplyLengths, ask_until_readable
from .prompt import messages, render, system


class TestWriter:
    """Drafts pytest tests from the spec and the signature. It is never shown a candidate."""

    __test__ = False

    def __init__(self, ask: Ask, lengths: ReplyLengths, *, seed: int) -> None:
        self._ask = ask
        self._lengths = lengths
        self._seed = seed

    def draft(self, spec: Spec, count: int) -> tuple[Test, ...]:
        """About `count` tests of one assertion each. Raises ReplyError when no test can be read."""
        asked = messages(spec, "test_writer", **_asked_for(spec, count))
        return ask_until_readable(self._ask, self._for_tests(asked, "tests"), lambda reply: _tests(reply, spec))

    def draft_from_code(self, spec: Spec, code: str, count: int) -> tuple[Test, ...]:
        """About `count` tests of `code`, which is shown in the spec's place: what greenloop is measured against,
        and never part of its own loop. Raises ReplyError when no test can be read."""
        text = render("tests_of_code", code=code.strip(), **_asked_for(spec, count))
        asked = (system(spec), Message("user", text))
        return ask_until_readable(
            self._ask, self._for_tests(asked, "tests of the code"), lambda reply: _tests(reply, spec)
        )

    def _for_tests(self, asked: tuple[Message, ...], purpose: str) -> Request:
        return Request(
            role="test_writer",
            messages=asked,
            max_tokens=self._lengths.tests,
            temperature=0.0,
            seed=self._seed,
            purpose=purpose,
        )

    def properties(self, spec: Spec, count: int) -> tuple[Test, ...]:
        """At most `count` property tests for hypothesis, of one assertion each and without expected values.

        Raises ReplyError when none can be read.
        """
        names = spec.signature.name if spec.signature else "the names that the spec gives"
        request = Request(
            role="test_writer",
            messages=messages(spec, "properties", names=names, count=count),
            max_tokens=self._lengths.tests,
            temperature=0.0,
            seed=self._seed,
            purpose="properties",
        )

        def read(reply: Reply) -> tuple[Test, ...]:
            return read_properties(reply.text, spec, truncated=reply.finish != "stop", limit=count)

        return ask_until_readable(self._ask, request, read)


def _asked_for(spec: Spec, count: int) -> dict[str, object]:
    names = spec.signature.name if spec.signature else "the names that the spec gives"
    example = f"{names}(...) == ..." if spec.signature else "function(...) == ..."
    return {"names": names, "example": example, "count": count}


def _tests(reply: Reply, spec: Spec) -> tuple[Test, ...]:
    tests, _mended = read_tests(reply.text, spec, truncated=reply.finish != "stop")
    if not tests:
        raise ReplyError("it holds no test function with an assertion")
    return tests
