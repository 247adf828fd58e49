"""Calls near those of a failing run: what patches are compared on."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agents.healing.expectations import asked_and_expected
from agents.healing.near_calls import calls_near
from agents.records.heal import Call, Patch, Place
from agents.repository.inside.answers import Answers
from agents.repository.inside.calls import Calls

RATES = b"RATES = {'DE': 19, 'FR': 20}\n"
TAX = "from {0} import {1}\n\n\ndef gross(net, country):\n    return net + {2}[country]\n"


def near(text: str, sources: Sequence[str], old: str, new: str, **project: bytes) -> set[str]:
    """Calls near `sources` of a module and of one in which `new` stands for `old`."""
    patch = Patch("patch1", Place("b.py", "file", "", 1, 9), {"b.py": text.replace(old, new)})
    given = [Call("b.py", source.partition("(")[0], source) for source in sources]
    return {
        each.source for each in calls_near(given, {"b.py": text}, [patch], (), {**project, "b.py": text.encode()})
    }


@pytest.mark.parametrize(
    ("module", "imported", "path", "data"),
    [
        (".rates", "RATES", "shop/rates.py", RATES),
        ("shop.rates", "RATES as R", "src/shop/rates.py", RATES),
        (".", "rates", "shop/rates.py", RATES),
        ("shop", "Tax", "shop/__init__.py", b"class Tax:\n    " + RATES),
    ],
)
def test_literals_of_a_table_in_another_module_are_tried(
    module: str, imported: str, path: str, data: bytes
) -> None:
    table = {"rates": "rates.RATES", "Tax": "Tax.RATES"}.get(imported, "RATES")
    text = TAX.format(module, imported, table)
    found = near(text, ["gross(50.0, 'DE')"], "net +", "net *", **{path: data, "other.py": b"RATES = {'XX': 1}\n"})
    assert "gross(50.0, 'FR')" in found
    assert not any("XX" in each for each in found)


def test_a_number_as_text_is_tried_below_zero() -> None:
    found = near("def port(text):\n    return int(text)\n", ["port('80')", "port('1.5')"], "int", "float")
    assert {"port('-80')", "port('-1.5')"} <= found


def test_a_limit_is_tried_that_equals_a_number_in_a_text() -> None:
    text = "def low(rows, limit):\n    return [row for row in rows if int(row['left']) < limit]\n"
    found = near(text, ["low([{'left': '7'}, {'left': '40'}], 10)"], "<", "<=")
    assert {"low([{'left': '7'}, {'left': '40'}], 7)", "low([{'left': '7'}, {'left': '40'}], 40)"} <= found


@pytest.mark.parametrize(
    ("items", "longer"),
    [
        ("['tea', 'tea', 'milk']", "['tea', 'tea', 'milk', 'tea', 'teamilk']"),
        ("[3, 1, 2]", "[3, 1, 2, 3, 5]"),
    ],
)
def test_something_new_is_tried_behind_an_item_that_comes_again(items: str, longer: str) -> None:
    text = "def prices(items):\n    return {each: len(each) for each in items}\n"
    assert f"prices({longer})" in near(text, [f"prices({items})"], "len", "str")


def test_two_tables_that_share_their_keys_are_tried() -> None:
    text = "def merged(base, over):\n    return {**base, **over}\n"
    found = near(text, ["merged({'a': 1}, {'b': 2, 'c': 3})"], "base,", "over,")
    assert {"merged({'b': 1}, {'b': 2, 'c': 3})", "merged({'a': 1}, {'a': 2})"} <= found


def test_a_table_within_another_is_tried_with_another_mark() -> None:
    text = "def flat(tree, mark):\n    return mark.join(tree)\n"
    found = near(text, ["flat({'a': {'b': 1}}, '.')"], "tree)", "[*tree])")
    assert "flat({'a': {'a': {'b': 1}}}, ',')" in found


def test_docstrings_and_regular_expressions_are_no_arguments() -> None:
    text = 'def snake(name):\n    """Return it in small letters."""\n    return re.sub("([A-Z])", "_x", name)\n'
    found = near(text, ["snake('maxValue')"], ", name)", ", name).lower()")
    assert "snake('_x')" in found
    assert not any("small letters" in each or "[A-Z]" in each for each in found)


EDITOR = """\
class Editor:
    def __init__(self):
        self.text, self._redo = "", []

    def write(self, more):
        self.text += more

    def redo(self):
        self.text = self._redo.pop()

    def cut(self, count):
        return self.text[:count]

    @property
    def empty(self):
        return not self.text
"""


def test_what_a_method_keeps_to_itself_is_tried_by_the_methods_that_read_it() -> None:
    source = "having(Editor, text='a', _redo=['b']).write('c')"
    mended = EDITOR.replace("+= more", "+= more[:]")
    patch = Patch("patch1", Place("b.py", "class", "Editor", 1, 9), {"b.py": mended})
    found = calls_near([Call("b.py", "Editor.write", source)], {"b.py": EDITOR}, [patch])
    then = [each.source for each in found if each.source.startswith("[it")]
    assert then[0] == "[it := having(Editor, text='a', _redo=['b']), it.write('c'), [it.redo(), it.text]][-1]"
    assert all(".redo()" in each for each in then)
    asked, expected = asked_and_expected(f"{then[0]} == [None, 'b']", "it")
    assert ast.unparse(asked).startswith("[(it := having(Editor")
    assert expected == "[None, 'b']"


BOXES = """\
from dataclasses import dataclass
from enum import Enum


@dataclass
class Box:
    width: int
    inner: "Box | None" = None


Size = Enum("Size", "S M")


def total(boxes):
    return sum(each.width for each in boxes)


def widen(box, by=1):
    box.width += by
    return box.width


class Shelf:
    def __init__(self, boxes):
        self.boxes = boxes

    def count(self):
        return len(self.boxes)
"""


def test_objects_of_plain_classes_are_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boxes_of_a_test.py").write_text(BOXES)
    monkeypatch.syspath_prepend(tmp_path)
    boxes: Any = importlib.import_module("boxes_of_a_test")
    calls, box = Calls(f"{tmp_path}/"), boxes.Box(1, boxes.Box(2))

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename == boxes.__file__:
            calls.note(frame)

    sys.setprofile(profile)
    boxes.total([box, boxes.Box(3)])
    boxes.widen(box)
    boxes.total([box, box])
    box.inner = boxes.Size.S
    boxes.widen(box)
    boxes.Shelf([boxes.Box(3)]).count()
    sys.setprofile(None)
    inner = "having(Box, width=1, inner=having(Box, width=2, inner=None))"
    first = [f"total([{inner}, having(Box, width=3, inner=None)])", f"widen({inner}, 1)"]
    assert [source for _, name, source in calls.found if name in ("total", "widen")] == first
    assert {why for _, name, why in calls.left_out if name in ("total", "widen")} == {
        "an object is among its arguments twice, or too many are",
        "a Size is among its arguments",
    }
    assert "having(Shelf, boxes=[having(Box, width=3, inner=None)]).count()" in {
        each for _, _, each in calls.found
    }
    mended = BOXES.replace("+= by", "-= by").replace("sum(", "max(")
    patch = Patch("patch1", Place("b.py", "file", "", 1, 9), {"b.py": mended})
    given = [Call("b.py", source.partition("(")[0], source) for source in first]
    near = {each.source for each in calls_near(given, {"b.py": BOXES}, [patch])}
    assert f"widen({inner.replace('1', '0', 1)}, 1)" in near
    assert f"total([{inner}, having(Box, width=1, inner=None)])" in near
    answers = [*Answers(str(tmp_path)).in_turn([["boxes_of_a_test.py", each] for each in first])]
    assert [(each and each["value"], each and each["arguments"]) for each in answers] == [
        ("4", ""),
        ("2", "(Box: Box(width=2, inner=Box(width=2, inner=None)), 1)"),
    ]
