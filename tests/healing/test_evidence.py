"""A patch is verified by what the model did not see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.sandbox import Sandbox

from ..support.heals import Heals, healed

REPORT = """\
def total(amounts):
    result = 0
    for index in range(len(amounts) - 1):
        result += amounts[index]
    return result


def main():
    amounts = [1, 2, 3]
    print("amounts:", amounts)
    print("total:", total(amounts))


main()
"""
HONEST = (
    REPORT.replace(" - 1", ""),
    REPORT.replace("for index in range(len(amounts) - 1)", "for amount in amounts").replace(
        "amounts[index]", "amount"
    ),
    REPORT.replace("    return result", "    return sum(amounts)"),
)
EMPTIES = REPORT.replace(" - 1", "").replace("return result", "amounts.clear()\n    return result")
OVERFITTING = {
    "length": REPORT.replace("return result", "return len(amounts) * 2"),
    "greatest": REPORT.replace("return result", "return max(amounts) * 2"),
    "start": REPORT.replace("result = 0", "result = 3"),
    "step": REPORT.replace("+= amounts[index]", "+= amounts[index] * 2"),
    "spelled": REPORT.replace("return result", 'return int("".join(map(chr, [54])))'),
    "empties": EMPTIES,
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", OVERFITTING)
def test_what_satisfies_the_one_expectation_alone_is_not_verified(heals: Heals, name: str) -> None:
    heals.script(REPORT, "report.py")
    heals.replies(OVERFITTING[name], HONEST[0])
    assert heals.run("report.py", "--expect", "total: 6") == 1, heals.error
    assert heals.document["grade"] == "contested"
    heals.replies(OVERFITTING[name])
    assert heals.run("report.py", "--expect", "total: 6") == 1, heals.error
    assert heals.document["grade"] == "contested"


def test_three_honest_patches_that_answer_alike_are_verified(heals: Heals) -> None:
    heals.script(REPORT, "report.py")
    heals.replies(*HONEST)
    code = heals.run("report.py", "--expect", "total: 6")
    assert code == 0
    assert heals.document["grade"] == "verified"
    assert any("other answers that the code gave" in note for note in heals.document["notes"])


def test_an_answer_decides_and_asks_nothing_twice(heals: Heals) -> None:
    heals.script(REPORT, "report.py")
    heals.replies(OVERFITTING["length"], HONEST[0])
    assert heals.run("report.py", "--expect", "total: 6") == 1, heals.error
    asked, run = len(heals.requests), heals.document["run_dir"]
    heals.script("# open\ntotal([1, 2, 3, 4]) == 10\n", "answers.txt")
    assert heals.run("--resume", run, "--answers", "answers.txt") == 0, heals.error
    assert heals.document["grade"] == "verified"
    assert "range(len(amounts))" in heals.document["diff"]
    assert len(heals.requests) == asked
    for wrong in ("total([1])", "nothing(1) == 2", "total([1]) == total([2]) raises ValueError"):
        assert heals.run("--resume", run, "--expect-call", wrong) == 2
        assert "--expect-call" in heals.document["error"]["message"]
    for number, wrong in enumerate(("???? what", "total([1])"), 1):
        heals.script("total([1]) == 1\n" * number + wrong, "answers.txt")
        assert heals.run("--resume", run, "--answers", "answers.txt") == 2
        said = heals.document["error"]["message"]
        assert said.startswith(f"answers.txt, line {number + 1}: `{wrong}` is not ")


CART = """\
class Cart:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(self.items[1:])


print("total", Cart([1, 2, 3]).total())
"""
PAIRS = "def pairs(xs):\n    for x in xs[1:]:\n        yield x\n\n\nprint(*pairs([1, 2, 3]))\n"
GROSS = "def gross(x, rate=0.2):\n    return x * (1 + rate)\n\n\nprint(gross(100))\n"
TIMES = "import sys\n\nn = int(sys.argv[1])\nprint('result', n * 2)\n"
LINES = "import sys\n\nprint('sum', sum(map(int, sys.stdin)) + 1)\n"
APART = """\
def apart(a, b):
    return sum(x != y for x, y in zip(a, b)) + 1


print(apart("meow", "moan"))
"""
OTHERS: dict[str, tuple[str, dict[str, Any], str, str, str, str]] = {
    "a method": (
        CART,
        {"expect": "6"},
        "sum(self.items[1:])",
        "len(self.items) * 2",
        "sum(self.items)",
        "having(",
    ),
    "a generator": (PAIRS, {"expect": "1 2 3"}, "in xs[1:]", "in range(1, 4)", "in xs", "pairs("),
    "a default": (GROSS, {"expect": "119"}, "x * (1 + rate)", "x + 19", "x * 1.19", "gross("),
    "an edge": (
        APART,
        {"expect": "3"},
        "sum(x != y for x, y in zip(a, b)) + 1",
        "max(1, sum(x != y for x, y in zip(a, b)))",
        "sum(x != y for x, y in zip(a, b))",
        "apart(",
    ),
    "arguments": (TIMES, {"expect": "9", "arguments": ("3",)}, "n * 2", "n + 6", "n * 3", "run with `-- "),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", OTHERS)
def test_rivals_are_told_apart_on_calls_of_every_kind(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    text, expected, old, wrong, right, asked = OTHERS[name]
    patches = [text.replace(old, wrong), text.replace(old, right), text.replace(old, f"{right} ")]
    result = healed(sandbox, tmp_path, text, patches, **expected)
    assert (result.grade, len(result.trials)) == ("contested", 3), result.why
    assert result.question is not None
    assert asked in result.question


ACCOUNT = """\
class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        self.balance -= amount
        return self.balance
"""
OVERDRAFT = """
import pytest
from account import Account

def test_overdraft():
    with pytest.raises(ValueError):
        Account(100).withdraw(150)

def test_withdraw():
    assert Account(100).withdraw(30) == 70
"""
TAKES = "        self.balance -= amount\n"


@pytest.mark.thorough
def test_what_a_call_leaves_behind_that_raises_is_compared(heals: Heals) -> None:
    heals.script(ACCOUNT, "account.py")
    heals.script(OVERDRAFT, "test_account.py")
    late = f"{TAKES}        if self.balance < 0:\n            raise ValueError(amount)\n"
    checked = [
        f"        if amount > self.balance:\n            raise ValueError(amount)\n{TAKES}",
        f"        if self.balance - amount < 0:\n            raise ValueError(self.balance)\n{TAKES}",
        f"        left = self.balance - amount\n        if left < 0:\n            raise ValueError(left)\n{TAKES}",
    ]
    asked = ("account.py::Account.withdraw", "--test", "test_account.py::test_overdraft")
    first, *others = (ACCOUNT.replace(TAKES, each) for each in (late, *checked))
    heals.replies(first, *others[:2])
    assert heals.run(*asked) == 1, heals.error
    assert "object becomes {'balance': " in heals.document["question"]
    heals.replies(*others)
    assert heals.run(*asked) == 0, heals.error
    assert heals.document["grade"] == "verified"


@pytest.mark.thorough
def test_standard_input_is_changed_where_no_function_is_called(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("3\n4\n")
    patches = [
        LINES.replace(" + 1", ""),
        LINES.replace("sum(map(int, sys.stdin)) + 1", "len(list(sys.stdin)) + 5"),
    ]
    result = healed(sandbox, tmp_path, LINES, [*patches, patches[0]], expect="sum 7", stdin=str(tmp_path / "in"))
    assert result.grade == "contested"
    assert "run with --stdin of the lines [" in (result.question or "")


def test_patches_of_what_cannot_be_called_again_are_contested_and_that_is_said(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    text = (
        "import os\n\n\ndef size(text, file):\n    return len(text)\n\n\n"
        "def key(token):\n    return len(token) + 1\n\n\n"
        "print(size('a', open('s.py')) + key(os.environ['TOKEN']))\n"
    )
    patches = [text.replace("len(token) + 1", f"len({each})") for each in ("token", "token[:]", "list(token)")]
    result = healed(sandbox, tmp_path, text, patches, "TOKEN-VALUE", expect="12", environment=("TOKEN",))
    assert result.grade == "contested"
    assert "no other call shows what 3 patches mend" in result.why
    (note,) = result.notes
    assert "size (a TextIOWrapper is among its arguments)" in note
    assert "key (an argument has a value of --env)" in note
    assert "TOKEN-VALUE" not in str(result)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("changes arguments", "    xs.append(0)\n"),
        ("prints", "    if len(xs) > 3:\n        print('long')\n"),
        ("slower", "    sum(range(400_000_000 if len(xs) != 3 else 0))\n"),
    ],
)
def test_what_a_patch_does_beside_is_named(sandbox: Sandbox, tmp_path: Path, name: str, change: str) -> None:
    text = "def total(xs):\n    return sum(xs[1:])\n\n\nprint(total([1, 2, 3]))\n"
    right = text.replace("[1:]", "").replace("    return", f"{change}    return")
    patches = [right, right.replace("xs)\n\n", "list(xs))\n\n"), right.replace("sum(xs)", "0 + sum(xs)")]
    result = healed(sandbox, tmp_path, text, patches, expect="6")
    assert result.grade == "contested"
    assert {each.name for each in result.trials[0].suspicions} >= {name}
