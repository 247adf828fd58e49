"""A model's reply -> a module that parses, or tests; or a ReplyError, worded so that the model can mend it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ReplyError
from ..records import Spec, Test
from ..syntax.collection import is_test
from ..syntax.imports import KNOWN, add_missing_imports
from ..syntax.source import compile_error, names_bound, names_unbound, parse, source_of
from .class_faults import class_fault
from .elisions import left_out
from .entry import with_entry
from .extract_tests import extract_tests
from .fences import blocks
from .parseable import Mended, make_parseable
from .split_cases import asserts
from .strip_demos import cut, without_demos

MAX_CHARACTERS = 200_000
"""Longer replies are refused: no role is given room to write so much."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Module:
    """A module that parses and binds the entry point; `mended` says in one phrase each what was changed."""

    code: str
    mended: tuple[str, ...] = ()


def read_code(text: str, spec: Spec, *, truncated: bool) -> Module:
    """Return the module in a reply. `truncated` says that the reply was stopped before its own end.

    Raises ReplyError where there is none, where it leaves code out, or lacks the spec's entry point.
    """
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
    """Return at most `limit` generated tests of a reply, one case each, and what was changed to get them.

    Raises ReplyError where the reply holds no test with an assertion on the spec's entry point.
    """
    drafts = _drafts(text, truncated=truncated, keep_begun=True)
    testing = [draft for draft in drafts if any(is_test(node) or asserts(node) for node in parse(draft.code).body)]
    if not testing:
        cause = " before its first test was whole" if truncated else ", or none that is Python"
        raise ReplyError(f"the reply ends{cause}; answer with short pytest functions in one Python code block")
    code = "\n\n".join(draft.code.strip("\n") for draft in testing) + "\n"
    helpers = [draft for draft in drafts if draft not in testing]
    code, borrowed = _completed(code, helpers, without=spec.signature.name if spec.signature else None)
    tests, notes = extract_tests(code, spec, limit)
    return tests, tuple(dict.fromkeys([*(note for draft in testing for note in draft.notes), *borrowed, *notes]))


def _drafts(text: str, *, truncated: bool, keep_begun: bool = False) -> list[Mended]:
    """Return the blocks of a reply, mended; those that hold no statement are left out."""
    if len(text) > MAX_CHARACTERS:
        raise ReplyError(f"the reply is longer than {MAX_CHARACTERS} characters; answer with the code alone")
    found = blocks(text.replace("\0", ""), truncated=truncated)
    drafts = [
        make_parseable(block.text, cut_off=truncated and not block.closed, keep_begun=keep_begun)
        for block in found
    ]
    return [draft for draft in drafts if draft.lost or parse(draft.code).body]


def _by_promise(drafts: Sequence[Mended], spec: Spec) -> list[Mended]:
    """Return drafts that may be the module, the most promising first: of several, models mean the last."""
    name = spec.signature.name if spec.signature else ""
    defining = [
        draft
        for draft in drafts
        if draft.lost or spec.program or _definitions(draft.code) or _binds(draft.code, name)
    ]
    if not name:
        joined = _joined([draft for draft in defining if not draft.lost])
        return [*joined, *reversed(defining)]
    exact = [draft for draft in defining if _binds(draft.code, name) or name in draft.lost]
    return [*reversed(exact), *reversed([draft for draft in defining if draft not in exact])]


def _definitions(code: str) -> set[str]:
    return {node.name for node in parse(code).body if isinstance(node, _Definition) and not is_test(node)}


def _binds(code: str, name: str) -> bool:
    return any(name in names_bound(node) for node in parse(code).body)


def _joined(drafts: Sequence[Mended]) -> list[Mended]:
    """Return all drafts as one, where a later definition of a name takes the place of an earlier one."""
    if len(drafts) < 2:
        return []
    code = ""
    for draft in drafts:
        again = _definitions(draft.code)
        code = cut(
            code, [node for node in parse(code).body if isinstance(node, _Definition) and node.name in again]
        )
        code = f"{code.rstrip()}\n\n\n{draft.code.strip()}\n".lstrip()
    notes = dict.fromkeys(note for draft in drafts for note in draft.notes)
    return [Mended(code, (f"joined {len(drafts)} code blocks", *notes))]


def _finished(draft: Mended, drafts: Sequence[Mended], spec: Spec) -> Module:
    entry = spec.signature.name if spec.signature else None
    if entry in draft.lost or (draft.lost and not _definitions(draft.code)):
        raise ReplyError(_why_lost(draft, entry or draft.lost[0]))
    if reason := left_out(draft.code, entry):
        raise ReplyError(reason)
    code, dropped = (draft.code, ()) if spec.program else without_demos(draft.code, entry)
    code, borrowed = _completed(code, [other for other in drafts if other is not draft])
    moved: tuple[str, ...] = ()
    if spec.signature:
        code, moved = with_entry(code, spec.signature)
    if reason := left_out(code, entry):
        raise ReplyError(reason)
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


def _completed(code: str, others: Sequence[Mended], *, without: str | None = None) -> tuple[str, tuple[str, ...]]:
    """`code` with the definitions that it lacks and another block of the reply has, save the one of `without`."""
    borrowed: list[str] = []
    notes: list[str] = []
    missing = names_unbound(code) - KNOWN.keys() - {without}
    for other in others:
        lines = other.code.split("\n")
        for node in parse(other.code).body:
            if missing & names_bound(node) and not is_test(node):
                borrowed.append(source_of(lines, node))
                names = ", ".join(sorted(missing & names_bound(node)))
                notes.append(f"took {names} from another code block")
                missing = (missing | (names_unbound(borrowed[-1]) - KNOWN.keys())) - names_bound(node)
    if not borrowed:
        return code, ()
    lines = code.split("\n")
    first = next((node for node in parse(code).body if isinstance(node, _Definition)), None)
    place = len(lines)
    if first:
        place = min([first.lineno, *(decorator.lineno for decorator in first.decorator_list)]) - 1
    parts = ["\n".join(lines[:place]).rstrip(), *borrowed, "\n".join(lines[place:])]
    return "\n\n\n".join(part for part in parts if part), tuple(notes)
