"""TestWriter: spec -> tests, blind to every candidate; and its independent second opinions on expected values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .asking import Ask, ReplyLengths, answered
from .claims import Claim, is_literal
from .errors import ReplyError
from .records import Message, Reply, Request, Spec, Test
from .reply import read_properties, read_tests
from .source import parse
from .templates import messages, render


class TestWriter:
    """Drafts pytest tests from the spec and the signature. It is never shown a candidate."""

    __test__ = False

    def __init__(self, ask: Ask, lengths: ReplyLengths, *, temperature: float, seed: int) -> None:
        self._ask = ask
        self._lengths = lengths
        self._temperature = temperature
        self._seed = seed

    def draft(self, spec: Spec, count: int) -> tuple[Test, ...]:
        """About `count` tests of one assertion each. Raises ReplyError when no test can be read."""
        asked = messages(spec, "test_writer", **_asked_for(spec, count))
        return answered(self._ask, self._for_tests(asked, "tests"), lambda reply: _tests(reply, spec))

    def draft_from_code(self, spec: Spec, code: str, count: int) -> tuple[Test, ...]:
        """About `count` tests of `code`, which is shown in the spec's place: what greenloop is measured against,
        and never part of its own loop. Raises ReplyError when no test can be read."""
        text = render("tests_of_code", code=code.strip(), **_asked_for(spec, count))
        asked = (Message("system", render("system")), Message("user", text))
        return answered(self._ask, self._for_tests(asked, "tests of the code"), lambda reply: _tests(reply, spec))

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

        return answered(self._ask, request, read)

    def predict(self, spec: Spec, claim: Claim, number: int) -> str | None:
        """Opinion `number` (from 0) on what `claim.call` returns, as a literal; None when it gives none.

        The question shows the call alone: neither the test's value nor any candidate's.
        """
        request = Request(
            role="test_writer",
            messages=messages(spec, "expected_value", call=claim.call),
            max_tokens=self._lengths.value,
            temperature=0.0 if number == 0 else self._temperature,
            seed=self._seed + number,
            purpose=f"opinion {number + 1} on {claim.call}",
        )
        return read_value(self._ask(request).text)

    def choose(self, spec: Spec, call: str, rivals: Sequence[str], number: int) -> str | None:
        """Opinion `number` on which of two `rivals` `call` returns, shown in both orders in turns; a third value
        may be the answer too. None when it gives none."""
        first, second = rivals[:2] if number % 2 == 0 else (rivals[1], rivals[0])
        request = Request(
            role="test_writer",
            messages=messages(spec, "rivals", call=call, first=first, second=second),
            max_tokens=self._lengths.value,
            temperature=0.0 if number < 2 else self._temperature,
            seed=self._seed + number,
            purpose=f"choice {number + 1} on {call}",
        )
        return read_value(self._ask(request).text)


def _asked_for(spec: Spec, count: int) -> dict[str, object]:
    names = spec.signature.name if spec.signature else "the names that the spec gives"
    example = f"{names}(...) == ..." if spec.signature else "function(...) == ..."
    return {"names": names, "example": example, "count": count}


def _tests(reply: Reply, spec: Spec) -> tuple[Test, ...]:
    tests, _mended = read_tests(reply.text, spec, truncated=reply.finish != "stop")
    if not tests:
        raise ReplyError("it holds no test function with an assertion")
    return tests


def read_value(text: str) -> str | None:
    """The literal in a reply of the form `result = <literal>`, with or without fence and name; else None."""
    lines = [line.strip().strip("`").strip() for line in text.splitlines()]
    lines = [line for line in lines if line and line != "python"]
    stated = (_assigned("\n".join(lines)), *(_assigned(line) for line in lines))
    bare = ("\n".join(lines), *(line for line in lines if not line.endswith(",")))
    return next((value for value in (*stated, *bare) if value is not None and is_literal(value)), None)


def _assigned(source: str) -> str | None:
    """The right side of an assignment, or of a comparison `call == value`."""
    try:
        body = parse(source).body
    except ValueError:
        return None
    match body:
        case [ast.Assign(value=value)] | [ast.AnnAssign(value=ast.expr() as value)]:
            return ast.unparse(value)
        case [ast.Expr(value=ast.Compare(ops=[ast.Eq()], comparators=[value]))]:
            return ast.unparse(value)
        case [ast.Assert(test=ast.Compare(ops=[ast.Eq()], comparators=[value]))]:
            return ast.unparse(value)
    return None
