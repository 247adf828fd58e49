"""A model's reply -> a module that parses, or tests; or a ReplyError with a message for the model."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from ..errors import ReplyError
from ..records import Spec, Test
from ..syntax.collection import is_property, is_test, last_name
from ..syntax.definitions import is_definition
from ..syntax.imports import KNOWN, add_missing_imports
from ..syntax.source import compile_error, names_bound, names_unbound, parse, parse_expression, unparse
from .extract_tests import extract_tests
from .faults import class_fault, left_out, with_entry
from .parseable import Mended, blocks, make_parseable
from .split_cases import asserts
from .strip_demos import cut, without_demos

MAX_CHARACTERS = 200_000
"""Longer replies are refused: no role may write so much."""
_MOST_TESTS = 40
_SETTINGS = "settings(max_examples=50, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))"
_IMPORT = "from hypothesis import HealthCheck, settings"


@dataclass(frozen=True, slots=True)
class Module:
    """A module that parses and binds the entry point; `mended` has a phrase for each repair."""

    code: str
    mended: tuple[str, ...] = ()


def read_code(text: str, spec: Spec, *, truncated: bool) -> Module:
    """Return the module in a reply. `truncated`: the reply was cut off. Raises ReplyError where it has no module,
    or one with omitted code or without the spec's entry point."""
    drafts = _drafts(text, truncated=truncated)
    reasons: list[str] = []
    for draft in _by_promise(drafts, spec):
        try:
            return _finished(draft, drafts, spec)
        except ReplyError as error:
            reasons.append(str(error))
    if reasons:
        raise ReplyError(reasons[0])
    if any(is_test(node) for draft in drafts for node in parse(draft.code).body):
        raise ReplyError("the reply holds tests alone; answer with the module that they are to test")
    if truncated:
        raise ReplyError(
            "the reply was cut off before any code was whole; answer with the code alone, and shorter"
        )
    raise ReplyError("the reply holds no Python code; answer with one Python code block and nothing else")


def read_tests(
    text: str, spec: Spec, *, truncated: bool, limit: int = 12
) -> tuple[tuple[Test, ...], tuple[str, ...]]:
    """Return at most `limit` generated tests of a reply, one case each, and notes on changes. Raises ReplyError
    where it has no test with an assertion on the spec's entry point."""
    drafts = _drafts(text, truncated=truncated, keep_begun=True)
    testing = [draft for draft in drafts if any(is_test(node) or asserts(node) for node in parse(draft.code).body)]
    if not testing:
        cause = " before its first test was whole" if truncated else ", or none that is Python"
        raise ReplyError(f"the reply ends{cause}; answer with short pytest functions in one Python code block")
    code = "\n\n".join(draft.code.strip("\n") for draft in testing) + "\n"
    helpers = [draft.code for draft in drafts if draft not in testing]
    code, borrowed = _completed(code, helpers, (spec.signature.name,) if spec.signature else ())
    tests, notes = extract_tests(code, spec, limit)
    return tests, tuple(dict.fromkeys([*(note for draft in testing for note in draft.notes), *borrowed, *notes]))


def _drafts(text: str, *, truncated: bool, keep_begun: bool = False) -> list[Mended]:
    """Return the repaired blocks of a reply, without those that have no statement."""
    if len(text) > MAX_CHARACTERS:
        raise ReplyError(f"the reply is longer than {MAX_CHARACTERS} characters; answer with the code alone")
    found = blocks(text.replace("\0", ""), truncated=truncated)
    drafts = [
        make_parseable(block.text, cut_off=truncated and not block.closed, keep_begun=keep_begun)
        for block in found
    ]
    return [draft for draft in drafts if draft.lost or parse(draft.code).body]


def _by_promise(drafts: Sequence[Mended], spec: Spec) -> list[Mended]:
    """Return the drafts that may be the module, most likely first: of several, models mean the last."""
    name = spec.signature.name if spec.signature else ""
    defining = [
        draft
        for draft in drafts
        if draft.lost or spec.program or _definitions(draft.code) or _binds(draft.code, name)
    ]
    if not name:
        whole = [draft for draft in defining if not draft.lost]
        notes = dict.fromkeys(note for draft in whole for note in draft.notes)
        joined = Mended(_joined([draft.code for draft in whole]), (f"joined {len(whole)} code blocks", *notes))
        return [*([joined] if len(whole) > 1 else []), *reversed(defining)]
    defining.sort(key=lambda draft: _binds(draft.code, name) or name in draft.lost)
    return defining[::-1]


def _definitions(code: str) -> set[str]:
    return {node.name for node in parse(code).body if is_definition(node) and not is_test(node)}


def _binds(code: str, name: str) -> bool:
    return any(name in names_bound(node) for node in parse(code).body)


def _joined(codes: Sequence[str]) -> str:
    """Return several modules as one, where a later definition of a name replaces an earlier one."""
    joined = ""
    for code in codes:
        again = _definitions(code)
        dead = [node for node in parse(joined).body if is_definition(node) and node.name in again]
        joined = f"{cut(joined, dead).rstrip()}\n\n\n{code.strip()}\n".lstrip()
    return joined


def _finished(draft: Mended, drafts: Sequence[Mended], spec: Spec) -> Module:
    entry = spec.signature.name if spec.signature else None
    if entry in draft.lost or (draft.lost and not _definitions(draft.code)):
        raise ReplyError(_why_lost(draft, entry or draft.lost[0]))
    code, borrowed = _completed(draft.code, [other.code for other in drafts if other is not draft], ())
    if reason := left_out(code, entry):
        raise ReplyError(reason)
    code, dropped = (code, ()) if spec.program else without_demos(code, entry)
    code, moved = with_entry(code, spec.signature) if spec.signature else (code, ())
    if not spec.program and not _definitions(code) and not (entry and _binds(code, entry)):
        raise ReplyError("the code defines no function and no class; write the complete module")
    if reason := class_fault(code, spec):
        raise ReplyError(reason)
    code, added = add_missing_imports(code)
    if missing := sorted(names_unbound(code) & set(draft.lost)):
        raise ReplyError(_why_lost(draft, missing[0]))
    if fault := compile_error(code):
        raise ReplyError(f"the code is not valid Python: {fault}")
    notes = dict.fromkeys([*draft.notes, *dropped, *borrowed, *moved, *added])
    return Module(code.strip("\n") + "\n", tuple(notes))


def _why_lost(draft: Mended, name: str) -> str:
    if draft.reason and not draft.notes[-1].startswith("cut"):
        return f"the code is not valid Python: {draft.reason}"
    return f"the reply was cut off before `{name}` was complete; answer with the code alone, and shorter"


def _completed(code: str, others: Sequence[str], elsewhere: Container[str]) -> tuple[str, tuple[str, ...]]:
    """Return `code` after the other blocks of its reply if one defines a name that it lacks (not one from
    `elsewhere`), and a note on that."""
    missing = {name for name in names_unbound(code) if name not in elsewhere} - KNOWN.keys()
    defining = [other for other in others if _definitions(other)]
    if not any(missing & _definitions(other) for other in defining):
        return code, ()
    return _joined([*defining, code]), (f"joined {len(defining) + 1} code blocks",)


def read_properties(text: str, spec: Spec, *, truncated: bool, limit: int) -> tuple[Test, ...]:
    """Return at most `limit` generated property tests of a reply, one assertion each, without other tests.

    Each has its own settings: plain pytest tries as many examples as the verifier, and always the same ones.
    Raises ReplyError where there is no property of the spec's entry point.
    """
    tests, _notes = read_tests(text, spec, truncated=truncated, limit=_MOST_TESTS)
    properties = [_bounded(test) for test in tests if is_property(parse(test.source).body[0])]
    if not properties:
        raise ReplyError("it holds no test function with @given and an assertion on what the code returns")
    return tuple(properties[:limit])


def _bounded(test: Test) -> Test:
    node = parse(test.source).body[0]
    assert isinstance(node, ast.FunctionDef)
    kept = [mark for mark in node.decorator_list if last_name(mark) != "settings"]
    node.decorator_list = [parse_expression(_SETTINGS), *kept]
    return replace(test, source=unparse(node) + "\n", preamble=f"{_IMPORT}\n{test.preamble}")
