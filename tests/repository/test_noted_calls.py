"""The calls of a program's functions as source that makes them again, with what they returned."""

from __future__ import annotations

import collections
import importlib
import json
import os
import sys
from array import array
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agents.repository.inside.answers import Answers
from agents.repository.inside.calls import EQUALS_ANYTHING, Calls, shown
from agents.repository.inside.reached import reached_by
from agents.repository.inside.report import Report

CODE = """
import os
import weakref

class Any(str):
    def __eq__(self, other):
        return True
    __hash__ = str.__hash__

class Loose(dict):
    def __eq__(self, other):
        return str(self).lower() == str(other).lower()

class Cart:
    __slots__ = ("price",)

    def __init__(self, price):
        self.price = price

    def twice(self):
        return 2 * self.price

    @classmethod
    def of(cls, price):
        return cls(price).twice()

def double(number):
    return 2 * number

def anything(number):
    return Any(number)

def loose(number):
    return Loose(a=number)

MISSING = object()

def longest(names, key=len, *, default=MISSING):
    return max(names, key=key) if names or default is MISSING else default

class Shelf:
    @staticmethod
    def longest(names, key=len):
        return longest(names, key)

def halves(number):
    while number := number // 2:
        yield number

def end(number):
    os._exit(number)

def forget(number):
    local = Any(number)
    return weakref.ref(local)
"""


@pytest.fixture
def module(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The names of a module that lies in `tmp_path`."""
    (tmp_path / "noted_shop.py").write_text(CODE)
    sys.path.insert(0, str(tmp_path))
    yield vars(importlib.import_module("noted_shop"))
    sys.path.remove(str(tmp_path))
    del sys.modules["noted_shop"]


def noted(tree: Path, call: Callable[[], object]) -> Calls:
    calls = Calls(str(tree) + os.sep, pickled=True)
    with reached_by(str(tree), calls=calls):
        call()
    return calls


def test_calls_of_any_arguments_are_made_again_with_the_same_answer(
    tmp_path: Path, module: dict[str, Any]
) -> None:
    cart = module["Cart"](Decimal("1.5"))
    cart_class = module["Cart"]

    def call() -> None:
        assert module["double"](Decimal("1.5")) == 3
        assert module["double"](array("i", [1])) == array("i", [1, 1])
        assert module["double"](4) == 8
        assert [*module["halves"](4)] == [2, 1]
        assert [*module["halves"](0)] == []
        assert cart.twice() == 3
        assert cart_class.of(array("i")) == array("i")

    calls = noted(tmp_path, call)
    answers = [*Answers(str(tmp_path)).in_turn([[path, source] for path, _, source in calls.found])]
    told = [each["value"] for each in json.loads(json.dumps(answers))]
    assert told == [calls.returned.get(each, "None") for each in calls.found]
    sources = [source for _, _, source in calls.found]
    assert {"double(4)", "double(Decimal('1.5'))"} <= {*sources}
    assert {each.partition(",")[0] for each in sources} >= {
        "applied(double",
        "applied(Cart.twice",
        "applied(Cart.of",
    }


def test_a_call_that_ends_its_process_leaves_the_next_one_to_another(
    tmp_path: Path, module: dict[str, Any]
) -> None:
    asked = [["noted_shop.py", source] for source in ("double(1)", "end(0)", "double(2)")]
    answers = [*Answers(str(tmp_path)).in_turn(asked)]
    assert [each and (each["value"], each["raises"]) for each in answers] == [
        ("2", None),
        (None, "no end"),
        ("4", None),
    ]


WRITING = """
import os
import sys


def save(path, text, keep=False):
    with open(path, "a") as file:
        file.write(text)
    if not keep and text == "end":
        os.replace(path, "moved.txt")


def spool(path, count):
    with open(path, "wb") as file:
        file.write(b"x" * count)


def drop(path):
    os.remove(path)


def say(*args):
    sys.audit("open", *args)
"""


def test_files_that_a_call_writes_are_told_and_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "noted_writing.py").write_text(WRITING, encoding="utf-8")
    (tmp_path / "log.txt").write_text("old\n", encoding="utf-8")
    (tmp_path / "large.txt").write_text("y" * 70_000, encoding="utf-8")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    sources = [
        "save('log.txt', 'new')",
        "save('log.txt', 'new')",
        "save('other.txt', 'end')",
        "save('log.txt', '')",
        "drop('log.txt')",
        "spool('large.txt', 70_001)",
        "save('/dev/null', 'new')",
        "save('nowhere/log.txt', 'new')",
        "say('log.txt')",
        "say('log.txt', 'w', None)",
    ]
    asked = [["noted_writing.py", source] for source in sources]
    found = [each and (each["files"], each["raises"]) for each in Answers(str(tmp_path)).in_turn(asked)]
    assert found == [
        ("{'log.txt': 'old\\nnew'}", None),
        ("{'log.txt': 'old\\nnew'}", None),
        ("{'moved.txt': 'end'}", None),
        ("", None),
        ("", None),
        ("", None),
        ("", None),
        ("", "FileNotFoundError"),
        ("", None),
        ("", None),
    ]
    (tmp_path / "large.txt").write_bytes(before["large.txt"])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_what_an_answer_holds_twice_as_one_object_is_told(tmp_path: Path) -> None:
    rows = "def rows(kind, item):\n    return kind(item)\n"
    (tmp_path / "noted_rows.py").write_text(rows, encoding="utf-8")
    sources = {
        "rows(lambda item: [item] * 2, [1])": "[1]",
        "rows(lambda item: [[*item], [*item]], [1])": "",
        "rows(lambda item: {'a': [item], 'b': (2, item)}, {1})": "{1}",
        "rows(lambda item: [item] * 2, (1,))": "",
        "rows(lambda item: item.append(item) or item, [1])": "[1, [1, [1, [1, [1, [1, [1, [1, [1, ...]]]]]]]]]",
    }
    asked = [["noted_rows.py", source] for source in sources]
    assert [each and each["twice"] for each in Answers(str(tmp_path)).in_turn(asked)] == [*sources.values()]


def test_a_call_whose_answer_nobody_asks_for_keeps_no_object(tmp_path: Path, module: dict[str, Any]) -> None:
    report = Report(-1, str(tmp_path))
    with report.profiled():
        forgotten = module["forget"](3)
    assert "forget(3)" in str(report.calls.found)
    assert forgotten() is None


@pytest.mark.parametrize("name", ["anything", "loose"])
def test_an_answer_that_equals_anything_or_more_than_data_does_is_told(
    tmp_path: Path, module: dict[str, Any], name: str
) -> None:
    calls = noted(tmp_path, lambda: module[name](3))
    assert [*calls.returned.values()] == [EQUALS_ANYTHING]


def test_arguments_that_are_a_default_of_no_plain_kind_are_left_out(
    tmp_path: Path, module: dict[str, Any]
) -> None:
    def call() -> None:
        module["longest"](["a", "bb"])
        module["longest"]([], default=3)
        module["Shelf"].longest(["c"])

    sources = [source for _, _, source in noted(tmp_path, call).found]
    assert {"longest(['a', 'bb'])", "longest([], default=3)", "Shelf.longest(['c'])"} <= {*sources}


def test_an_object_of_a_class_named_like_a_container_is_not_written_as_one() -> None:
    class Counter:
        def __init__(self) -> None:
            self.a = 1

    Counter.__qualname__ = "Counter"
    assert [shown(Counter()), shown(collections.Counter(a=1))] == ["<Counter>({'a': 1})", "Counter({'a': 1})"]


def test_functions_of_two_files_that_are_alike_are_told_apart(tmp_path: Path) -> None:
    def made(path: Path) -> Any:
        space: dict[str, Any] = {}
        exec(compile("def get():\n    return 1\n", str(path), "exec"), space)
        return space["get"]

    one, other = made(tmp_path / "one.py"), made(tmp_path / "other.py")
    with reached_by(str(tmp_path)) as take:
        assert (one(), take(), other(), take()) == (1, ["one.py::1"], 1, ["other.py::1"])
