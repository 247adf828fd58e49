"""Texts of others take linear time: every regular expression of the package, and its readers as a whole."""

from __future__ import annotations

import ast
import gc
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from agents.reply.reading import read_code, read_tests
from agents.spec import likely_names, read_spec
from agents.spec.answers import statements
from agents.spec.examples import from_statement
from agents.spec.modules import requirements
from agents.spec.signature import stated
from agents.suite import split
from agents.syntax.clean_text import clean

from .support.commands import ROOT

parser: Any = re._parser  # type: ignore[attr-defined]
SHORT, LONG = 3_000, 20_000
"""Characters: of the first look, and of the measurement where that took long."""
BOUNDED = {"syntax/laid_out.py": r"@(?:[\s(\\]|#[^\r\n]*[\r\n])*\Z"}
"""Patterns that see a window of a bounded length."""
NOTICED = 0.004
"""Seconds of the first look that call for a measurement: a quadratic pattern takes some 0.01."""
MOST_RATIO = 8
MOST = 15.0
UNITS = (" ", "\n", "a", "1", "`", "*", "(")
_CALLS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
_FLAGS = ("IGNORECASE", "I", "MULTILINE", "M", "DOTALL", "S", "VERBOSE", "X", "ASCII", "A")


@dataclass(frozen=True)
class Used:
    """A pattern in a source file, and how it is used."""

    where: str
    pattern: re.Pattern[str]
    how: frozenset[str]


def patterns() -> list[Used]:
    """Every pattern that the package's files write down: compiled or passed to `re`."""
    found = []
    for path in sorted((ROOT / "agents").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "import re\n" not in text:
            continue
        tree = ast.parse(text)
        known = {
            node.targets[0].id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        names = {
            id(call): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            for call in [node.value]
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args):
                continue
            function = ast.unparse(node.func).removeprefix("re.")
            source = _text(node.args[0], known)
            if function not in ("compile", *_CALLS) or source is None:
                continue
            rest = ast.unparse(node)
            flags = sum({getattr(re, name).value for name in _FLAGS if re.search(rf"\bre\.{name}\b", rest)})
            how = {function}
            if function == "compile":
                name = names.get(id(node), "")
                how = {each for each in _CALLS if name and re.search(rf"\b{name}\.{each}\b", text)}
            where = f"{path.relative_to(ROOT / 'agents')}:{node.lineno}"
            found.append(Used(where, re.compile(source, flags), frozenset(how or {"match"})))
    return found


def _text(node: ast.expr, known: dict[str, Any]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name) and isinstance(known.get(node.id), str):
        return str(known[node.id])
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(each.value) if isinstance(each, ast.Constant) else str(known.get(ast.unparse(each.value), "word"))
            for each in node.values
            if isinstance(each, ast.Constant | ast.FormattedValue)
        )
    return None


def samples(nodes: Any) -> list[str]:
    """A few texts that a parsed pattern matches, or nearly so: with each of its branches."""
    found = [""]
    for operation, argument in nodes:
        parts = _of_one(str(operation), argument)
        found = [found[0] + part for part in parts] + [begun + parts[0] for begun in found[1:]]
    return found[:4]


def _of_one(operation: str, argument: Any) -> list[str]:
    match operation:
        case "LITERAL":
            return [chr(argument)]
        case "NOT_LITERAL":
            return ["a" if argument != ord("a") else "b"]
        case "ANY":
            return ["a"]
        case "IN":
            return [_member(argument)]
        case "BRANCH":
            return [text for branch in argument[1] for text in samples(branch)[:2]]
        case "SUBPATTERN":
            return samples(argument[3])
        case "ATOMIC_GROUP":
            return samples(argument)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [text * max(1, argument[0]) for text in samples(argument[2])]
    return [""]


def _member(items: Any) -> str:
    candidates = "a1 _-.=(`A0'\n#"
    for operation, argument in items:
        match str(operation):
            case "LITERAL":
                candidates = chr(argument) + candidates
            case "RANGE":
                candidates = chr(argument[0]) + candidates
    one = re.compile(_class_of(items))
    return next((each for each in candidates if one.fullmatch(each)), "a")


def _class_of(items: Any) -> str:
    kinds = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
    text = ""
    for operation, argument in items:
        match str(operation):
            case "NEGATE":
                text += "^"
            case "LITERAL":
                text += f"\\U{argument:08x}"
            case "RANGE":
                text += f"\\U{argument[0]:08x}-\\U{argument[1]:08x}"
            case "CATEGORY":
                name = str(argument).removeprefix("CATEGORY_")
                kind = kinds[name.removeprefix("NOT_")]
                text += kind.upper() if name.startswith("NOT_") else kind
    return f"[{text}]"


def hostile(pattern: re.Pattern[str]) -> Iterator[Callable[[int], str]]:
    """Texts on the way to a match in which a unit is repeated, made for a size."""
    for sample in samples(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)):
        places = range(0, len(sample) + 1, max(1, len(sample) // 6))
        for place in places:
            head, tail = sample[:place], sample[place:]
            own = {sample[place - 1 : place], sample[place : place + 2]} - {""}
            for unit in (*UNITS, *own):
                for end in (tail, "\0"):
                    yield lambda n, head=head, unit=unit, end=end: head + unit * (n // len(unit)) + end  # type: ignore[misc]


class _TooLong(Exception):
    pass


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise in the body once it has taken so much of the processor."""

    def end(*_: object) -> None:
        raise _TooLong

    earlier = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)


def seconds(work: Callable[[str], object], text: str, most: float = 3.0) -> float:
    """Seconds of this thread, without the collector, whose time is that of what other tests have left."""
    gc.disable()
    began = time.thread_time()
    try:
        with at_most(most):
            work(text)
    except _TooLong:
        return float("inf")
    except Exception:
        return time.thread_time() - began
    finally:
        gc.enable()
    return time.thread_time() - began


def grows(work: Callable[[str], object], text: Callable[[int], str], size: int) -> bool:
    """Return True if four times the text takes much more than four times the time, or `MOST` seconds."""
    short = min(seconds(work, text(size)) for _ in range(3))
    most = min(MOST_RATIO * max(short, NOTICED), MOST)
    return all(seconds(work, text(4 * size), most) > most for _ in range(3))


def used(pattern: re.Pattern[str], how: str) -> Callable[[str], object]:
    match how:
        case "sub" | "subn":
            return lambda text: pattern.sub("", text)
        case "finditer" | "findall" | "split":
            return pattern.findall
    return getattr(pattern, how)  # type: ignore[no-any-return]


def slow_texts(each: Used) -> list[str]:
    found: list[str] = []
    for how in sorted(each.how):
        work = used(each.pattern, how)
        for text in hostile(each.pattern):
            began = time.process_time()
            try:
                with at_most(1.0):
                    work(text(SHORT))
            except _TooLong:
                return [f"{how}: {text(24)!r}"]
            if time.process_time() - began > NOTICED and grows(work, text, LONG // 4):
                found.append(f"{how}: {text(24)!r}")
                return found
    return found


EVERY = patterns()


@pytest.mark.skipif(not hasattr(signal, "SIGVTALRM"), reason="no timer of the processor's time here")
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[] if file.startswith(("reply/", "spec/")) else pytest.mark.thorough)
        for file in sorted({each.where.partition(":")[0] for each in EVERY})
    ],
)
def test_patterns_are_linear(file: str) -> None:
    mine = [each for each in EVERY if each.where.partition(":")[0] == file]
    unbounded = [each for each in mine if each.pattern.pattern != BOUNDED.get(file)]
    assert {each.where: found for each in unbounded if (found := slow_texts(each))} == {}


@pytest.mark.skipif(not hasattr(signal, "SIGVTALRM"), reason="no timer of the processor's time here")
def test_the_ways_in_which_names_stand_are_linear() -> None:
    ways = [way for _, way in (*likely_names.CLASSES, *likely_names.FUNCTIONS)]
    slow = {way.pattern: slow_texts(Used("here", way, frozenset({"finditer"}))) for way in ways}
    assert {pattern: texts for pattern, texts in slow.items() if texts} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a+)+$",
        r"\s*x$",
        *(
            pytest.param(pattern, marks=pytest.mark.thorough)
            for pattern in (r"^[ \t]*(?:- )?[ \t]*`?>>>", r"^\s*<t>.*?</t>")
        ),
    ],
)
def test_the_check_finds_patterns_that_are_not(pattern: str) -> None:
    compiled = re.compile(pattern, re.MULTILINE | re.DOTALL)
    assert slow_texts(Used("here", compiled, frozenset({"search"})))


def test_the_check_sees_the_patterns_of_the_package() -> None:
    assert len(EVERY) > 150


def requirements_of(text: str) -> object:
    return requirements([text])


SPEC = read_spec("Implement f(x: int) -> int. f(1) == 2", origin="argument")
HOSTILE = (
    " ", "\n", "`", "```\n", "(", "[", "'", "@", "a ", ">>> f(1)\n", ">>> x = f(1)\n", ">>> f(x)\n2\n", "f(1) == ",
    "f(1) == x, ", "f(", "a(a) ", "assert g(1) == 2\n", "```python\nx\n", "<think>\n", "x<think>", "</think>",
    "$ a\n", "Input: 1\n", "class A: ", "def f(x):\n", "x = (\n", "1.", "\\", "# ", "-", "a,", "{", "f(1) raises ",
)  # fmt: skip


def _specs(text: str) -> None:
    read_spec(f"Implement f(x: int) -> int.\n{text}\nx", origin="argument")


def _examples(text: str) -> None:
    statements(text, "here")
    from_statement(f"f(1) {text}!", SPEC.signature)


def _code(text: str) -> None:
    read_code(f"```python\ndef f(x):\n    return 1\n{text}", SPEC, truncated=True)


def _tests(text: str) -> None:
    read_tests(f"def test_a():\n    assert f(1) == 2\n{text}", SPEC, truncated=True)


@pytest.mark.parametrize(
    "unit", [*HOSTILE[:3], *(pytest.param(unit, marks=pytest.mark.thorough) for unit in HOSTILE[3:])]
)
@pytest.mark.parametrize("reader", [_specs, _examples, _code, _tests, clean, stated, requirements_of])
def test_readers_take_linear_time(reader: Callable[[str], object], unit: str) -> None:
    assert not grows(reader, lambda n: unit * (n // len(unit)), LONG)


def test_headings_of_several_sentences_take_linear_time() -> None:
    assert not grows(_specs, lambda n: "a: " * (n // 3) + "a. B:", LONG)


def test_files_of_many_tests_are_split_in_linear_time() -> None:
    def many(count: int) -> str:
        return "".join(f"def test_{number}():\n    assert f({number})\n" for number in range(count))

    assert not grows(lambda text: split(text, "user"), many, 600)
