"""Recorded answers are read as values, changed, and written back: what is not changed stays what it is."""

from __future__ import annotations

from agents.verifier.inside.test_process.changes import NEW, Known, Values
from agents.verifier.inside.test_process.other_answers import Held


def of_containers(**held: tuple[str, object, list[object]]) -> Values:
    known = Known()
    known.containers = {int(name[1:]): parts for name, parts in held.items()}
    return Values(known)


def test_what_is_not_changed_keeps_its_number() -> None:
    values = of_containers(_1=("list", None, [["@", 3], ["o", 5], 2]), _3=("list", None, [1]))
    changed = [more[-1] for _, _, more in values.others(values.read(["@", 1]))]
    assert [["@", 3], ["o", 5], 3] in [items for _, _, _, *items in changed]
    assert all(number > NEW and number % 2 for number, *_ in changed)


def test_an_object_is_replaced_by_another_of_its_class() -> None:
    values = of_containers(_1=("list", None, [["o", 5]]))
    values._known.classes[5] = 7
    (_, _, more) = next(values.others(values.read(["@", 1])))
    assert more[0][3:] == [["o", 5 + NEW, ["K", 7], None]]


def test_what_lies_deep_is_kept_and_not_gone_through() -> None:
    known = Known()
    known.containers = {number: ("list", None, [["@", number + 2]]) for number in range(1, 3001, 2)}
    assert repr(Values(known).read(["@", 1])) == "[" * 9 + "..." + "]" * 9


def test_an_array_that_cannot_be_made_is_kept() -> None:
    values = of_containers(_7=("ndarray", '["<f8", [1], false]', [True, ["t", 1], ["o", 5]]))
    held = values.read(["@", 7])
    assert type(held) is Held
    assert values.write(held) == ["@", 7]
