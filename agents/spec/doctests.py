"""Doctests in a spec as checks, and a file of doctests as pytest tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..syntax.collection import is_test, last_name
from ..syntax.definitions import Function, is_definition
from ..syntax.literals import expression, value
from ..syntax.source import indented, names_bound, names_used, parse, source_of
from .asked import Reading
from .doubt import FAILURE, is_mistaken, is_taken_back

_PROMPT = re.compile(r"^(?P<indent>[ \t]*+(?:(?:[*-]|\d+[.)]) [ \t]*+)?`?)>>> ?(?P<code>.*)$")
_MOST_SETUP = 100
"""Statements that an example may need before it."""
_REPR = re.compile(r"(?s)(?!<generator|<.* object)(?:[A-Za-z_][\w.]*\(.*\)|<.*>|[\[({].*[\])}])")
_SHORT_REPR = re.compile(r"(?![A-Za-z]+\Z)[^\s#(-]\S*")
"""Texts of a `repr`: of any object, and a single word such as `3/4`."""
_FAILED = re.compile(r"[A-Z]\w*: .+")
_RAISED = re.compile(r"^(?:\w+\.)*(?P<name>[A-Z]\w*)(?::|\s*$)")


@dataclass(frozen=True, slots=True)
class Shown:
    """One prompt: `code` as typed, `result` as printed, the text of both, and its line (from 0)."""

    code: str
    result: str
    text: str
    line: int


def shown(lines: Sequence[str]) -> list[list[Shown]]:
    """Return the sessions in `lines`: runs of prompts with nothing but results and blank lines between them."""
    sessions: list[list[Shown]] = []
    end = 0
    for start, line in enumerate(lines):
        if start >= end and (match := _PROMPT.match(line)):
            if not sessions or any(map(str.strip, lines[end:start])):
                sessions.append([])
            item, end = _one(lines, start, match)
            sessions[-1].append(item)
    return sessions


def lines_of(session: Sequence[Shown]) -> range:
    """Return the lines of a session."""
    return range(session[0].line, session[-1].line + session[-1].text.count("\n") + 1)


def _one(lines: Sequence[str], start: int, match: re.Match[str]) -> tuple[Shown, int]:
    code = [match["code"].rstrip().removesuffix("`")]
    index = start + 1
    while index < len(lines) and (more := re.match(r"^[ \t]*\.\.\.(?: (.*))?$", lines[index])):
        code.append(more[1] or "")
        index += 1
    indent = len(match["indent"].expandtabs())
    result: list[str] = []
    while index < len(lines) and lines[index].strip() and not _PROMPT.match(lines[index]):
        line = lines[index].expandtabs()
        if len(line) - len(line.lstrip()) < indent or line.strip() in {'"""', "'''", "```"}:
            break
        result.append(line[indent:])
        index += 1
    text = "\n".join(line.strip() for line in lines[start:index])
    return Shown("\n".join(code), "\n".join(result).strip(), text, start), index


def checks(session: Sequence[Shown], optional: bool, prints: bool, *, exact: bool = False) -> list[Reading]:
    """Return a session's checks, each with the statements before it that it needs.

    `optional`: the entry point may return None, so that a call without a result states None. `prints`: the lines
    below a call were printed by it. `exact`: they are real output, not written by hand.
    """
    found: list[Reading] = []
    before = Before()
    texts: dict[ast.stmt, str] = {}
    for item in session:
        try:
            body = parse(item.code).body
        except ValueError:
            return found
        if not body or "doctest:" in item.code:
            continue
        texts.update({node: source_of(item.code.split("\n"), node) for node in body})
        remark = "".join(re.split(r"\s#", item.code, maxsplit=1)[1:])
        denied = not exact and (is_taken_back(remark) or is_mistaken(remark, _PROMPT))
        check = None if denied else _check(body[-1], texts[body[-1]], item.result, optional, prints, exact)
        before.add(body[:-1])
        if check:
            try:
                setup = [texts[node] for node in before.needed(names_used(body[-1]))]
            except ValueError:
                return found
            if setup and "capsys" in check:
                setup.append("capsys.readouterr()")
            found.append(("\n".join([*setup, check]), item.text, item.line))
        if not check and not exact and (_FAILED.fullmatch(item.result) or FAILURE.search(item.code)):
            return found
        last = body[-1:]
        if _is_raised(item.result):
            last = parse(check).body if check else []  # it may have effects before it raises
            texts.update(dict.fromkeys(last, check or ""))
        before.add(last)
    return found


def _is_raised(result: str) -> bool:
    """Return True for a traceback, or for its last line alone."""
    return re.match(r"Traceback|[\w.]*(?:Error|Exception)(?:: .*)?\Z", result) is not None


def _check(node: ast.stmt, code: str, result: str, optional: bool, prints: bool, exact: bool) -> str | None:
    """Return the assertion that a statement and its shown result make; None where that is not certain."""
    if isinstance(node, ast.Assert) and not result:
        return code
    if _is_raised(result):
        raised = _RAISED.match(result.split("\n")[-1])
        return f"with pytest.raises({raised['name']}):\n{indented(code)}" if raised else None
    if not isinstance(node, ast.Expr):
        calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        return _printed(code, result) if result and any(last_name(call) == "print" for call in calls) else None
    if result and isinstance(node.value, ast.Call) and (prints or last_name(node.value) == "print"):
        return _printed(code, result)
    match node.value:
        case ast.Compare(ops=[ast.Eq() | ast.Is()]) if result in {"", "True"}:
            return f"assert {code}"
    if not result:
        return f"assert {code} is None" if optional and isinstance(node.value, ast.Call) else None
    stated = value(result)
    if stated is None or (expected := expression(stated)) is None:
        fixed = "\n" not in result and "..." not in result and not re.search(r"\b0x", result)
        own = last_name(node.value)[:1].isupper() if isinstance(node.value, ast.Call) else True
        shown = _REPR.fullmatch(result) or (own and _SHORT_REPR.fullmatch(result))
        sure = exact or (shown and not is_taken_back(result))
        return f"assert repr({code}) == {result!r}" if fixed and sure else None
    if not exact and is_taken_back(result[len(stated) :]):
        return None
    plain = isinstance(node.value, ast.Call | ast.Name | ast.Subscript | ast.Attribute)
    operator = "is" if isinstance(expected, ast.Constant) and expected.value is None else "=="
    return f"assert {code if plain else f'({code})'} {operator} {stated}"


def _printed(code: str, result: str) -> str | None:
    printed = result.replace("<BLANKLINE>", "")
    return f"{code}\nassert capsys.readouterr().out.strip() == {printed!r}" if "..." not in result else None


class Before:
    """Statements of a session, in order, and those that a later one needs."""

    def __init__(self) -> None:
        self._nodes: list[ast.stmt] = []
        self._used: list[frozenset[str]] = []
        self._about: dict[str, list[int]] = {}
        self._own: set[str] = set()

    def add(self, nodes: Sequence[ast.stmt]) -> None:
        """Add `nodes` after the others."""
        for node in nodes:
            bound, used = names_bound(node), names_used(node)
            seeds = isinstance(node, ast.Expr) and last_name(node.value) == "seed"
            for name in bound | used | ({""} if seeds else set()):
                self._about.setdefault(name, []).append(len(self._nodes))
            self._nodes.append(node)
            self._used.append(used)
            self._own |= bound

    def needed(self, names: frozenset[str]) -> list[ast.stmt]:
        """Return the statements that bind or use `names`, or seed random numbers, with those that they need.

        Raises ValueError for more than _MOST_SETUP.
        """
        chosen: set[int] = set()
        seen: set[str] = set()
        open_names = ["", *(names & self._own)]
        while open_names:
            name = open_names.pop()
            for number in self._about.get(name, ()) if name not in seen else ():
                chosen.add(number)
                if len(chosen) > _MOST_SETUP:
                    raise ValueError(f"it needs more than {_MOST_SETUP} statements before it")
                open_names += self._used[number] & self._own
            seen.add(name)
        return [self._nodes[number] for number in sorted(chosen)]


def with_doctests(source: str) -> str:
    """Return a file of tests with its doctests as test functions: those of tests that are only a docstring, and if
    the file has no other tests, those of all docstrings.

    Raises ValueError for text that isn't Python, and for a doctest without a certain result.
    """
    if ">>>" not in source:
        return source
    tree = parse(source)
    lines = source.split("\n")
    named = [node for node in tree.body if isinstance(node, Function) and is_test(node)]
    plain = [node for node in named if ast.get_docstring(node) is not None and not node.decorator_list]
    empty = [node for node in plain if all(isinstance(each, ast.Pass) for each in node.body[1:])]
    found = {node.name: _checks(node) for node in empty}
    for node in empty:
        if found[node.name]:
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    if not any(is_test(node) and node not in empty for node in tree.body):
        definitions = [node for node in tree.body if is_definition(node) and node not in empty]
        found["test_doctest"] = _checks(tree)
        found |= {f"test_doctest_of_{node.name}": _checks(node) for node in definitions}
    for name, body in found.items():
        if body:
            lines += ["", f"def {name}({'capsys' if 'capsys' in body else ''}):", indented(body)]
    return "\n".join(lines) if any(found.values()) else source


def _checks(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Return the checks of the doctests in a docstring, in order; each repeats the statements that it needs."""
    found: list[str] = []
    for session in shown((ast.get_docstring(node) or "").split("\n")):
        stated = checks(session, optional=False, prints=False, exact=True)
        read = {line for _, _, line in stated}
        for item in session:
            if item.result and item.line not in read:
                raise ValueError(f"the doctest `{item.code}` says nothing certain: write it as an assertion")
        found += [code for code, _, _ in stated]
    imports = ["import pytest"] if any("pytest." in code for code in found) else []
    return "\n".join([*imports, *found])
