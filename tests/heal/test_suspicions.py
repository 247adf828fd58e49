"""Reasons not to believe a patch, each seen where it holds and not where a patch is honest."""

# ruff: noqa: E501 - texts of programs
from __future__ import annotations

import pytest

from agents.heal.ruling import rule
from agents.heal.suspicions import suspicions
from agents.records.heal import Item, Observation, Patch, Place, Suspicion, Symptom, Trial

ITEM = Item("--expect", "", "total: 6", ("'total: 6'", "6"))
OLD = """\
import os


def load(path, values):
    check(path)
    if not values:
        raise ValueError(path)
    for value in values:
        print(value)
    return sum(values[1:])
"""


def named(new: str, old: str = OLD) -> set[str]:
    return {each.name for each in suspicions({"s.py": old}, {"s.py": new}, [ITEM])}


HONEST = {
    "another slice": OLD.replace("values[1:]", "values"),
    "a step": OLD.replace("values[1:]", "values[::6]"),
    "a guard that raises": OLD.replace("    check", "    if path is None:\n        raise TypeError(path)\n    check"),
    "an error made clear": OLD.replace(
        "    check(path)\n", "    try:\n        check(path)\n    except OSError as error:\n        raise ValueError(path) from error\n"
    ),
    "an error that is handled": OLD.replace(
        "    check(path)\n", "    try:\n        check(path)\n    except KeyError:\n        check(path.name)\n"
    ),
    "another name of a call": OLD.replace("check(path)", "checked(path)"),
    "an operand": OLD.replace("sum(values[1:])", "sum(values) * 6"),
    "a docstring": OLD.replace("    check(path)\n", '    """total: 6"""\n    check(path)\n'),
}  # fmt: skip
WRONG = {
    "swallows": [
        OLD.replace("    check(path)\n", "    try:\n        check(path)\n    except OSError:\n        pass\n"),
        OLD.replace("    check(path)\n", "    try:\n        check(path)\n    except Exception as e:\n        print(e)\n"),
        OLD.replace("    check(path)\n", "    import contextlib\n    with contextlib.suppress(OSError):\n        check(path)\n"),
        OLD.replace("raise ValueError(path)", "return 0"),
    ],
    "hard-coded": [
        OLD.replace("sum(values[1:])", "6"),
        OLD.replace("sum(values[1:])", "3 * 2"),
        OLD.replace("    for", "    print('total: ' + '6')\n    for"),
        OLD.replace("    for", "    known = {'a': 6}\n    for"),
    ],
    "removes": [OLD.replace("    check(path)\n", ""), OLD.replace("        print(value)\n", "        pass\n"), "x = 1\n"],
    "leaves early": [OLD.replace("    check", "    os._exit(0)\n    check"), OLD.replace("    check", "    exit()\n    check")],
    "reaches": [
        OLD.replace("    check", "    import subprocess as s\n    s.run([])\n    check"),
        OLD.replace("    check", "    from urllib.request import urlopen\n    urlopen(path)\n    check"),
        OLD.replace("    check", "    open(path)\n    check"),
        OLD.replace("    check", "    os.system('x')\n    check"),
    ],
    "weakens types": [
        OLD.replace("    check", "    if not isinstance(values, list):\n        return None\n    check")
    ],
}  # fmt: skip


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST)
def test_an_honest_patch_is_not_suspicious(new: str) -> None:
    assert named(new) == set()


@pytest.mark.parametrize(("name", "new"), [(name, new) for name, news in WRONG.items() for new in news])
def test_a_suspicious_patch_is_named(name: str, new: str) -> None:
    assert name in named(new)


def trial(number: int, behavior: str, *, fails: bool = False, suspicious: bool = False, nodes: int = 1) -> Trial:
    place = Place("s.py", "function", "f", 1, 2)
    symptom = Symptom("exception", "ValueError") if fails else None
    reasons = (Suspicion("removes", "x"),) if suspicious else ()
    return Trial(
        Patch(f"patch{number}", place, {}, nodes, nodes), Observation(symptom, behavior=behavior), reasons
    )


@pytest.mark.parametrize(
    ("trials", "trusted", "grade", "leader"),
    [
        ([], True, "failed", None),
        ([trial(1, "a", fails=True)], True, "failed", None),
        ([trial(1, "a")], True, "verified", "patch1"),
        ([trial(1, "a")], False, "contested", "patch1"),
        ([trial(1, "a", nodes=9), trial(2, "a")], False, "consensus", "patch2"),
        ([trial(1, "a"), trial(2, "b")], True, "contested", "patch1"),
        ([trial(1, "a"), trial(2, "b", suspicious=True)], True, "verified", "patch1"),
        ([trial(1, "a", suspicious=True), trial(2, "a", suspicious=True)], False, "contested", "patch1"),
        ([trial(1, "a", suspicious=True), trial(2, "b", fails=True)], True, "contested", "patch1"),
    ],
)
def test_the_ruling(trials: list[Trial], trusted: bool, grade: str, leader: str | None) -> None:
    ruling = rule(trials, trusted=trusted)
    assert (ruling.grade, ruling.leader) == (grade, leader)
    assert (ruling.question is not None) == (grade == "contested")
