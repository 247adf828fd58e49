"""Right patches that could not be claimed: of a call any answer may be right, what a patch raises is its answer,
and arguments may change where they are changed in place already."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.healing.evidence import Answers, Evidence
from agents.healing.expectations import ANY, asked_and_expected
from agents.healing.near_calls import calls_near, without
from agents.records.heal import Answer, Call, Observation, Patch, Place, Trial
from agents.sandbox import Sandbox

from ..support.heals import healed

CUT = """\
def cut(text, size):
    return text.encode()[:size].decode()


print(cut("tea", 2))
"""
CUTS = [
    CUT.replace("    return text.encode()[:size].decode()\n", each)
    for each in (
        "    return text.encode()[:size].decode(errors='ignore')\n",
        "    found = ''\n    for each in text:\n        if len((found + each).encode()) > size:\n"
        "            break\n        found += each\n    return found\n",
        "    end = len(text)\n    while end > 0 and len(text[:end].encode()) > size:\n        end -= 1\n"
        "    return text[:end]\n",
    )
]


def test_any_answer_to_a_call_leaves_others_like_it_out(sandbox: Sandbox, tmp_path: Path) -> None:
    expected = ("cut('naïve', 3) == 'na'",)
    asked = healed(sandbox, tmp_path, CUT, CUTS, expect_call=expected)
    assert asked.grade == "contested", asked.why
    assert "-1" in str(asked.question), "the question is another one"
    assert "any: CALL" in str(asked.question)
    answered = healed(sandbox, tmp_path, CUT, CUTS, expect_call=(*expected, "any: cut('tea', -1)"))
    assert answered.grade == "verified", (answered.why, answered.question)
    rival = CUT.replace("[:size].decode()", "[:size - 1].decode()")
    apart = healed(sandbox, tmp_path, CUT, [CUTS[0], rival, rival], expect_call=(*expected, "any: cut('tea', -1)"))
    assert apart.grade == "contested", apart.why


SEEDS = [Call("s.py", "f", "f([1, 2], 3, by=2)"), Call("s.py", "A.m", "having(A, size=2).m(1)")]


@pytest.mark.parametrize(
    ("left_open", "gone"),
    [
        ("f([1, 2], -1, by=2)", ["f([1, 2], -4, by=2)", "f([1], -1, by=1)"]),
        ("f([1, 2], 3, by=0)", ["f([1], 9, by=0)"]),
        ("f([1, 2], 3, by=2)", ["f([1, 2], 3, by=2)"]),
        (
            "having(A, size=-1).m(1)",
            ["having(A, size=-2).m(1)", "[it := having(A, size=-1), it.m(5), it.size][-1]"],
        ),
        ("g()", []),
    ],
)
def test_calls_with_what_is_odd_about_another_are_like_it(left_open: str, gone: list[str]) -> None:
    texts = [
        *("f([1, 2], -4, by=2)", "f([1], -1, by=1)", "f([1], 9, by=0)", "f([1, 2], 3, by=2)", "f([1], 3, by=2)"),
        *("having(A, size=-2).m(1)", "[it := having(A, size=-1), it.m(5), it.size][-1]", "having(A, size=1).m(1)"),
    ]
    found = without([Call("s.py", "f", each) for each in texts], [Call("s.py", "f", left_open)], SEEDS)
    assert [each for each in texts if each not in {one.source for one in found}] == gone


def test_any_is_written_as_in_an_answer_to_a_run() -> None:
    asked, expected = asked_and_expected("any: f([1], -1)", "it")
    assert (asked.col_offset, expected) == (0, ANY)


PORT = """\
def port(config):
    return int(config["port"])


print(port({"port": "80"}))
"""


def ports(*codes: str) -> list[str]:
    return [PORT.replace('    return int(config["port"])\n', each) for each in codes]


def test_what_a_patch_raises_is_its_answer(sandbox: Sandbox, tmp_path: Path) -> None:
    right = ports(
        '    if "port" not in config:\n        raise ValueError("no port")\n    return int(config["port"])\n',
        '    try:\n        return int(config["port"])\n    except KeyError as error:\n'
        '        raise ValueError("no port") from error\n',
        '    value = config.get("port")\n    if value is None:\n        raise ValueError(config)\n'
        "    return int(value)\n",
    )
    wrong = ports(
        '    if not config:\n        raise ValueError("no port")\n    return int(config.get("port", 0))\n'
    )
    expected = ("port({}) raises ValueError",)
    alike = healed(sandbox, tmp_path, PORT, right, expect_call=expected)
    assert alike.grade == "verified", alike.why
    apart = healed(sandbox, tmp_path, PORT, [*wrong, *right[:2]], expect_call=expected)
    assert apart.grade == "contested", apart.why
    assert "raises ValueError" in str(apart.question)


MOVE = """\
def move(amounts, source, target, amount):
    amounts[target] += amount
    amounts[target] -= amount


amounts = {"ann": 50, "bob": 0}
move(amounts, "ann", "bob", 50)
print(amounts)
"""
OLD = "    amounts[target] += amount\n    amounts[target] -= amount\n"
TOTAL = "def total(amounts):\n    return sum(amounts[1:])\n\n\nprint('total', total([3, 1, 2]))\n"


def test_what_changes_its_arguments_already_may_change_them(sandbox: Sandbox, tmp_path: Path) -> None:
    moves = [
        MOVE.replace(OLD, each)
        for each in (
            "    amounts[target] += amount\n    amounts[source] -= amount\n",
            "    amounts.update({source: amounts[source] - amount})\n    amounts[target] += amount\n",
            "    for name, sign in ((source, -1), (target, 1)):\n        amounts[name] += sign * amount\n",
        )
    ]
    result = healed(sandbox, tmp_path, MOVE, moves, expect="{'ann': 0, 'bob': 50}")
    assert result.outcome == "healed", (result.why, result.trials)
    sorting = TOTAL.replace("return sum(amounts[1:])", "amounts.sort()\n    return sum(amounts)")
    beside = healed(sandbox, tmp_path, TOTAL, [sorting] * 3, expect="total 6")
    assert beside.why.startswith("The failure is gone, but the patch is suspicious (changes arguments"), beside.why


def test_no_list_is_taken_for_a_dictionary() -> None:
    text = "def f(rows):\n    return [list(row) for row in zip(*rows)]\n"
    patch = Patch("patch1", Place("s.py", "function", "f", 1, 2), {"s.py": text.replace("*rows", "*rows[::-1]")})
    near = calls_near([Call("s.py", "f", "f([[1, 2], [3, 4]])")], {"s.py": text}, [patch])
    assert near
    assert not [each.source for each in near if "{" in each.source]


def test_a_patch_alone_is_asked_about_a_call_of_another_number_of_items() -> None:
    near = {"mean([1, 0])": "0.5", "mean([1, 2, 2])": "1.5", "mean([1, 2, 1, 2])": "1.5", "mean([1, 6])": "3.5"}
    calls = [Call("s.py", "mean", each) for each in near]
    before: Answers = {call: Answer("0") for call in calls}
    trial = Trial(Patch("patch1", Place("s.py", "function", "mean", 1, 2), {"s.py": ""}), Observation())
    after: dict[str, Answers] = {"patch1": {call: Answer(near[call.source]) for call in calls}}
    evidence = Evidence(calls, before, after, seeds=[Call("s.py", "mean", "mean([1, 2])")])
    asked = str(evidence.question(trial, None))
    assert [each for each in near if each in asked] == ["mean([1, 0])", "mean([1, 2, 2])", "mean([1, 2, 1, 2])"]
