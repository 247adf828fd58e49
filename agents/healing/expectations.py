"""Expectations: `--expect`, `--expect-output`, `--expect-exit`, `--expect-file`, `--expect-call`."""

from __future__ import annotations

import ast
import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from ..errors import UsageError
from ..records.heal import Answer, Call, HealRequest, Item
from ..sandbox.host.search import is_found
from ..syntax.source import names_bound, names_used, parse_expression, parses, statements, unparse
from ..verifier.inside.proxy.plain_source import is_plain, value_of

EXPECT_CALL = "--expect-call"
ANY = "..."
"""The expected answer of a call for which any is right."""
RAISES = "raises "
"""Prefix of an answer that is an exception; its name follows."""
_FORMS = "write 'NAME(...) == VALUE', 'NAME(...) raises ERROR', or 'any: NAME(...)'"
_LEFT_OPEN = re.compile(r"any:\s*(.*)", re.DOTALL)
_RAISING = re.compile(rf"(.*\)) ({RAISES}[\w.]+)", re.DOTALL)
YIELDS = re.compile(r"^\['yields'(, )?")
"""The beginning of the answer of a generator; its items are compared."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LONGEST_SHOWN = 300


@dataclass(frozen=True, slots=True)
class FileCheck:
    """`PATH`, `PATH:nonempty`, `PATH:json`, or of a CSV file with a header `PATH:rows>=N`, `PATH:columns=a,b`."""

    text: str
    path: str
    check: str

    def fault(self, content: bytes | None) -> str | None:
        """Return why the file is not as expected; None if it is."""
        if content is None:
            return f"{self.path} was not written"
        if self.check and not content.removeprefix(codecs.BOM_UTF8).strip():
            return f"{self.path} is empty"
        if self.check == "json":
            try:
                json.loads(content)
            except (ValueError, RecursionError) as error:
                return f"{self.path} is no JSON ({error})"
        if self.check.startswith(("rows>=", "columns=")):
            return self._table_fault(content)
        return None

    def _table_fault(self, content: bytes) -> str | None:
        try:
            rows = [row for row in csv.reader(io.StringIO(content.decode("utf-8-sig"))) if row]
        except (UnicodeDecodeError, csv.Error) as error:
            return f"{self.path} is no CSV ({error})"
        name, _, wanted = self.check.partition("=")
        if name == "rows>":
            found = len(rows) - 1
            return None if found >= int(wanted) else f"{self.path} has {found} rows, not {wanted} or more"
        columns = wanted.split(",")
        return None if rows[0] == columns else f"{self.path} has the columns {','.join(rows[0])}, not {wanted}"


@dataclass(frozen=True, slots=True)
class Expectations:
    """The expectations of a run. Standard output has to contain `text` (between slashes: a regular expression)."""

    text: str | None = None
    output: bool = False
    exit_code: int | None = None
    files: tuple[FileCheck, ...] = ()

    @property
    def given(self) -> bool:
        """True if the user gave any expectation."""
        return self != Expectations()

    @property
    def sentence(self) -> str:
        """The expectations for the prompt."""
        parts = []
        if self.text is not None:
            kind = "something that matches" if _pattern(self.text) else "the text"
            parts.append(f"Its output has to hold {kind}: {self.text}")
        if self.output:
            parts.append("It has to print something.")
        if self.exit_code is not None:
            parts.append(f"It has to end with exit code {self.exit_code}.")
        parts += [f"It has to write {check.text}." for check in self.files]
        return " ".join(parts)

    def failing(self, exit_code: int, output: str, contents: Mapping[str, bytes | None]) -> tuple[Item, ...]:
        """Return the expectations that a run did not meet."""
        items = []
        if self.text is not None and (fault := _fault(self.text, output)) is not None:
            items.append(Item("--expect", fault, self.text, _literals(self.text)))
        if self.output and not output.strip():
            items.append(Item("--expect-output", "it ran and printed nothing"))
        if self.exit_code is not None and exit_code != self.exit_code:
            items.append(Item("--expect-exit", f"it ended with exit code {exit_code}, not {self.exit_code}"))
        for check in self.files:
            if (fault := check.fault(contents.get(check.path))) is not None:
                items.append(Item(f"--expect-file {check.text}", fault))
        return tuple(items)


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call, or an expression with calls, that has to give `expected`: a value's source, `raises NAME`, `ANY`."""

    call: Call
    expected: str

    @property
    def text(self) -> str:
        """The call and its answer, as an item names them."""
        return answered_by(self.call, self.expected)

    @property
    def made(self) -> tuple[Call, ...]:
        """The call and the calls nested in it: `list(pairs([1, 2]))` makes one of `pairs`; none for `ANY`."""
        calls = calls_in(parse_expression(self.call.source))
        within = (Call(self.call.path, ast.unparse(each.func), ast.unparse(each)) for each in calls)
        return tuple(dict.fromkeys([self.call, *within])) if self.expected != ANY else ()

    def failing(self, answer: Answer | None) -> Item | None:
        """Return the item of an answer that is not as expected; None if it is."""
        returned = answer.value if answer is not None else None
        raised = answer.raises if answer is not None else None
        # The expectation may name the exception's module.
        is_raised = raised is not None and f".{self.expected.removeprefix(RAISES)}".endswith(f".{raised}")
        if is_raised or self.expected == ANY:
            return None
        items = YIELDS.sub("[", returned or "")
        if returned is not None and (is_same(returned, self.expected) or is_same(items, self.expected)):
            return None
        raises = f"raises {raised}" if raised else "has no answer in time"
        detail = f"`{self.text}` is expected; it {raises if returned is None else f'returns {returned}'}"
        return Item(EXPECT_CALL, detail, self.text, (*_literals(self.text), *literals_in(self.call.source)))


def literals_in(source: str) -> list[str]:
    """Return the literals of a test or an expression: arguments and expected values."""
    nodes = (node for each in statements(source) for node in ast.walk(each) if isinstance(node, ast.Constant))
    values = (node.value for node in nodes)
    return list(dict.fromkeys(repr(each) for each in values if each is not None and each is not ...))


def calls_in(node: ast.expr) -> list[ast.Call]:
    """Return the calls that an expression makes, itself first if it is one."""
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def answered_by(call: Call, answer: str) -> str:
    """Return a call and its answer in the form of `--expect-call`."""
    if answer.startswith(RAISES):
        return f"{call.source} {answer}"
    is_compared = isinstance(parse_expression(call.source), ast.Compare | ast.BoolOp | ast.UnaryOp)
    return f"({call.source}) == {answer}" if is_compared else f"{call.source} == {answer}"


def is_same(one: str, other: str) -> bool:
    """Return True if two answers are equal as texts or as plain data: 2.0 equals 2."""
    if one == other or not (is_plain(one) and is_plain(other)):
        return one == other
    found, wanted = (value_of(rounded(text)) for text in (one, other))
    return bool(found == wanted)


@lru_cache(512)
def rounded(text: str, *, as_equal: bool = False) -> str:
    """Return a value's source with floats rounded to 12 digits, so that the order of a sum makes no difference;
    what is no source is returned as it is. With `as_equal`, equal values (2 and 2.0, dicts) have equal texts."""
    try:
        tree = parse_expression(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, float):
                value = float(f"{node.value:.12g}")
                node.value = int(value) if as_equal and value.is_integer() else value
            elif isinstance(node, ast.Dict) and as_equal:
                items = sorted(
                    zip(node.keys, node.values, strict=True), key=lambda item: ast.dump(ast.Dict([item[0]], []))
                )
                node.keys, node.values = [key for key, _ in items], [value for _, value in items]
        return unparse(tree)
    except ValueError:
        return text


def failing_calls(expected: Sequence[ExpectedCall], answers: Sequence[Answer | None]) -> tuple[Item, ...]:
    """Return the items of the calls whose answer is not as expected."""
    return tuple(filter(None, map(ExpectedCall.failing, expected, answers)))


def read_calls(texts: Sequence[str], files: Mapping[str, str]) -> tuple[ExpectedCall, ...]:
    """Return the calls of `--expect-call`, of functions in `files`. Raises UsageError."""
    return tuple(dict.fromkeys(_read_call(text, files) for text in texts))


def _read_call(text: str, files: Mapping[str, str]) -> ExpectedCall:
    asked, expected = asked_and_expected(text, f"{EXPECT_CALL} {text}")
    for path, code in files.items():
        bound = {name for each in statements(code) for name in names_bound(each)}
        if not parses(code):  # the syntax error is the failure; assume that any name is defined
            bound = {*re.findall(r"\w+", code)}
        if (calls := calls_in(asked)) and names_used(asked) & bound:
            return ExpectedCall(Call(path, ast.unparse(calls[0].func), ast.unparse(asked)), expected)
    raise UsageError(f"{EXPECT_CALL} {text} calls nothing that {', '.join(files)} defines.")


def asked_and_expected(text: str, named: str) -> tuple[ast.expr, str]:
    """Return the call and the answer of an `--expect-call`. Raises UsageError, which begins with `named`."""
    raising, left_open = (form.fullmatch(text.strip()) for form in (_RAISING, _LEFT_OPEN))
    stated = next((f"{each[1]} == {ANY}" for each in (raising, left_open) if each), text.strip())
    try:
        node = parse_expression(stated)
    except ValueError as error:
        raise UsageError(f"{named} is not Python ({error}); {_FORMS}.") from error
    match node:
        case ast.Compare(asked, [ast.Eq() | ast.Is()], [value]) if is_plain(value):
            return asked, raising[2] if raising else ast.unparse(value)
        case ast.Compare() if not raising:  # another operator, or a value that is no plain data
            return node, "True"
    raise UsageError(f"{named} is not understood; {_FORMS}.")


def read_expectations(request: HealRequest) -> Expectations:
    """Return the expectations of a request. Raises UsageError."""
    text = request.expect
    if text is not None and not text:
        raise UsageError("--expect is empty; say what the output has to hold, or give --expect-output.")
    if text is not None and (pattern := _pattern(text)) is not None:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"--expect {text} is no regular expression ({error}).") from error
    files = tuple(map(_read_file_check, request.expect_file))
    return Expectations(text, request.expect_output, request.expect_exit, files)


def _read_file_check(text: str) -> FileCheck:
    path, _, check = text.partition(":")
    known = check in ("", "nonempty", "json") or re.fullmatch(r"rows>=\d{1,18}|columns=.+", check)
    place = PurePosixPath(path)
    if not known or not path or place.is_absolute() or ".." in place.parts:
        raise UsageError(
            f"--expect-file {text} is not understood; write PATH, PATH:nonempty, PATH:json, PATH:rows>=N or "
            "PATH:columns=a,b, with a path below the script's folder."
        )
    return FileCheck(text, place.as_posix(), check)


def refusal(verify: Callable[[Any], object], value: Any) -> Exception | None:
    """Return the error that `verify` raises, or a ValueError if it returns a false value; else None."""
    try:
        return None if verify(value) else ValueError("`verify` refused the value")
    except Exception as error:
        return error


def _pattern(text: str) -> str | None:
    return text[1:-1] if len(text) > 2 and text.startswith("/") and text.endswith("/") else None


def _fault(text: str, output: str) -> str | None:
    """Return why `output` is not as expected; None if it is."""
    pattern = _pattern(text)
    try:
        holds = text in output if pattern is None else is_found(pattern, output)
    except OSError as error:  # a TimeoutError
        return f"the output is {_shown(output)}, and {error}: write it without repeats within repeats"
    return None if holds else f"the output is {_shown(output)}"


def _literals(text: str) -> tuple[str, ...]:
    """Return the literals that a program with a hard-coded output would have."""
    if _pattern(text) is not None:
        return tuple(_NUMBER.findall(text))
    return (repr(text), *_NUMBER.findall(text))


def _shown(output: str) -> str:
    if not output.strip():
        return "empty"
    cut = output if len(output) <= _LONGEST_SHOWN else "…" + output[-_LONGEST_SHOWN:]
    return repr(cut)
