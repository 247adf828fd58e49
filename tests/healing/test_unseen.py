"""Evidence that the model did not see, and voices that are several: cases in which either was counted and was not
there."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path
from typing import Any

import pytest

from agents.healing.evidence import Answers, Evidence, shown
from agents.healing.expectations import asked_and_expected, rounded
from agents.healing.near_calls import calls_near
from agents.healing.ruling import rule
from agents.records.heal import Answer, Call, Item, Observation, Patch, Place, Trial
from agents.repository.inside.calls import NO_END
from agents.sandbox import Sandbox

from ..support.heals import healed

LABEL = "def label(name, amount):\n    return name + ': ' + str(amount)\n\n\nprint(label('tea', 3.5))\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[0.30000000000000004, -1e-300]", "[0.3, -1e-300]"),
        ("{'a': 0.1 + 0j, 'b': 2.5}", "{'a': 0.1 + 0j, 'b': 2.5}"),
        ("'tea: 3.50'", "'tea: 3.50'"),
        ("Money: 3.50 €", "Money: 3.50 €"),
    ],
)
def test_fractions_are_rounded_and_texts_are_not(text: str, shown: str) -> None:
    assert rounded(text) == shown


def test_a_text_with_another_number_of_decimals_is_another_text(sandbox: Sandbox, tmp_path: Path) -> None:
    right = LABEL.replace("str(amount)", "format(amount, '.2f')")
    overfit = LABEL.replace("str(amount)", "str(amount) + '0'")
    result = healed(
        sandbox, tmp_path, LABEL, [right, overfit, right], expect_call=("label('tea', 3.5) == 'tea: 3.50'",)
    )
    assert result.outcome == "unhealed", "it failed"
    assert result.grade == "contested", result.why
    assert result.question is not None


WRITES = """\
def save(path, names):
    for name in names:
        with open(path, "w") as file:
            file.write(f"{name}\\n")


save("names.txt", ["ann", "bob", "cid"])
"""
WRITTEN = [
    WRITES.replace(WRITES[WRITES.index("    for") : WRITES.index("\n\nsave(")], each)
    for each in (
        '    with open(path, "w") as file:\n        for name in names:\n            file.write(f"{name}\\n")\n',
        '    with open(path, "w") as file:\n        file.writelines(each + "\\n" for each in names)\n',
        '    file = open(path, "w")\n    for each in names:\n        print(each, file=file)\n    file.close()\n',
    )
]


def test_what_a_function_writes_into_files_is_compared(sandbox: Sandbox, tmp_path: Path) -> None:
    rival = WRITES.replace("names:\n", "sorted(names):\n").replace('"w"', '"a"')
    expected = ("names.txt:rows>=2",)
    alike = healed(sandbox, tmp_path, WRITES, [WRITTEN[0], WRITTEN[1], WRITTEN[0]], expect_file=expected)
    assert alike.grade == "consensus", alike.why
    three = healed(sandbox, tmp_path, WRITES, WRITTEN, expect_file=expected)
    assert three.grade == "verified", three.why
    apart = healed(sandbox, tmp_path, WRITES, [WRITTEN[0], rival, rival], expect_file=expected)
    assert apart.grade == "contested", apart.why
    assert "files become {'" in str(apart.question)


def test_a_long_file_is_looked_at_whole(sandbox: Sandbox, tmp_path: Path) -> None:
    text = "import json\nrows = ['x' * 99] * 60_000\nopen('out.json', 'w').write(json.dumps(rows)[:-1])\n"
    patches = [text.replace("[:-1]", each) for each in ("", "[:]", "[0:]")]
    result = healed(sandbox, tmp_path, text, patches, expect_file=("out.json:json",))
    assert all(trial.plausible for trial in result.trials), result.why


GRID = """\
def grid(width, height):
    return [[0] * width] * height


found = grid(2, 2)
found[0][1] = 5
print(found)
"""


def test_rows_that_are_one_object_are_compared(sandbox: Sandbox, tmp_path: Path) -> None:
    rows = [
        GRID.replace("[[0] * width] * height", each)
        for each in (
            "[[0] * width for _ in range(height)]",
            "[[0 for _ in range(width)] for _ in range(height)]",
            "list([0] * width for _ in range(height))",
            "[[0] * width, [0] * width]",
        )
    ]
    right = healed(sandbox, tmp_path, GRID, rows[:3], expect="[[0, 5], [0, 0]]")
    assert right.grade == "verified", right.why
    wrong = healed(sandbox, tmp_path, GRID, [rows[3], rows[0], rows[1]], expect="[[0, 5], [0, 0]]")
    assert wrong.grade == "contested", wrong.why


TOTAL = "def total(amounts):\n    return sum(amounts[1:])\n"
PRINTED = f"{TOTAL}\n\nprint('total', total([1, 2, 3]))\n"
OVERFIT = ("sum(amounts[1:])", "len(amounts) * 2")
ONE_CALL_TWICE = """\
from s import total


def test_total():
    assert total([1, 2, 3]) == 6


def test_sum():
    result = total(amounts=[1, 2, 3])
    assert result == 6
"""


@pytest.mark.parametrize(
    ("call", "grade"),
    [
        ("total([1, 2, 3]) == 6", "contested"),
        ("total(amounts=[1,2,3]) == 6", "contested"),
        ("total([5, 3, 1]) == 6", "verified"),
    ],
)
def test_an_expected_call_that_the_script_makes_itself_is_not_held_out(
    sandbox: Sandbox, tmp_path: Path, call: str, grade: str
) -> None:
    patch = PRINTED.replace(*OVERFIT)
    result = healed(sandbox, tmp_path, PRINTED, [patch] * 3, expect="total 6", expect_call=(call,))
    assert result.grade == grade, result.why


@pytest.mark.parametrize(("other", "grade"), [("[1, 2, 3]", "contested"), ("[5, 3, 1]", "verified")])
def test_a_test_that_makes_the_call_of_another_is_not_held_out(
    sandbox: Sandbox, tmp_path: Path, other: str, grade: str
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_s.py").write_text(ONE_CALL_TWICE.replace("(amounts=[1, 2, 3])", f"(amounts={other})"))
    patch, tests = TOTAL.replace(*OVERFIT), (str(tmp_path / "test_s.py"),)
    result = healed(sandbox, tmp_path, TOTAL, [patch] * 3, name="total", tests=tests, seconds=60.0)
    assert result.grade == grade, result.why


AGE = """\
def age(text):
    number = int(text)
    return number


for text in ["30", "-5"]:
    try:
        print(age(text))
    except ValueError:
        print("invalid")
"""
RESULT = "    return number\n"


def raising(condition: str) -> str:
    return AGE.replace(RESULT, f"    if {condition}:\n        raise ValueError(text)\n{RESULT}")


def unpacking(code: str) -> str:
    return PRINTED.replace("    return sum(amounts[1:])", code)


RAISE = {
    "where they should": ([raising(each) for each in ("number < 0", "not number >= 0", "0 > number")], "verified"),
    "others": ([raising(each) for each in ("number < 20", "number % 10", "number < 0")], "contested"),
    "whatever has another length": (
        [
            unpacking(f"    {code}")
            for code in (
                "a, b, c = amounts\n    return a + b + c",
                "first, *rest = amounts\n    b, c = rest\n    return first + b + c",
                "[a, b, c] = amounts\n    return sum((a, b, c))",
            )
        ],
        "contested",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISE)
def test_an_exception_is_an_answer_where_the_code_as_it_was_answered(
    sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    patches, grade = RAISE[name]
    text, expect = (PRINTED, "total 6") if "length" in name else (AGE, "/30\\ninvalid/")
    result = healed(sandbox, tmp_path, text, patches, expect=expect)
    assert result.grade == grade, result.why
    assert any("raises at" in note for note in result.notes)
    if grade == "contested":
        assert result.question is not None
        assert " raises ValueError" in result.question


@pytest.mark.parametrize("call", ["age('-7') raises ValueError", "age('7') == 7"])
def test_an_expected_call_may_raise(sandbox: Sandbox, tmp_path: Path, call: str) -> None:
    text = AGE.replace("int(text)", "abs(int(text)) + 1").replace('["30", "-5"]', '["-5"]')
    right = raising("number < 0").replace('["30", "-5"]', '["-5"]')
    result = healed(sandbox, tmp_path, text, [right] * 3, expect="invalid", expect_call=(call,))
    assert result.grade == "verified", result.why


SECONDS = """\
def seconds(amount, unit):
    return amount * {"h": 60, "m": 60, "s": 1}[unit]


print(seconds(2, "h"))
"""


def test_an_answer_that_a_literal_of_a_patch_equals_makes_no_suspicion(sandbox: Sandbox, tmp_path: Path) -> None:
    patch, answer = SECONDS.replace("60", "3600", 1), ("seconds(1, 'h') == 3600",)
    result = healed(sandbox, tmp_path, SECONDS, [patch] * 3, expect="7200", expect_call=answer)
    assert result.grade == "verified", result.why


PRICES = """\
def total(prices):
    result = 0
    for price in prices.values():
        result = price
    return result


print("total", total({"tea": 3, "cake": 4}))
"""
SUMS = "def sums(rows):\n    return [sum(row) for row in rows]\n\n\nprint(sums([[1, 2], [3, 4]]))\n"
LEAP = "def is_leap(year):\n    return year % 4 == 1\n\n\nprint('leap', is_leap(2024))\n"
NIGHTS = """\
from datetime import date


def nights(arrival, departure):
    first, last = date.fromisoformat(arrival), date.fromisoformat(departure)
    return last.day - first.day


print("nights", nights("2024-01-30", "2024-02-02"))
"""
TREE = """\
def depth(tree):
    if not tree:
        return 0
    return 1 + depth(tree.get("left"))


print("depth", depth({"left": {"left": None, "right": {"left": None}}, "right": None}))
"""
LINES = """\
import sys


def parse(line):
    name, amount = line.split()
    return name, int(amount)


total = 0
for line in sys.stdin:
    name, amount = parse(line)
    total = amount
print("total", total)
"""
WORDS = """\
import sys


def pad(text):
    return text.strip()


def main():
    words = [pad(each) for each in sys.argv[1:]]
    print("longest", len(words[0]))


main()
"""
MONEY = """\
from decimal import Decimal


def money(amount):
    return amount.quantize(Decimal("0.01"))


print(money(Decimal("0.125")))
"""
DUE = """\
from calendar import monthrange
from datetime import date


def due(day, months):
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = 31
    return date(year, month + 1, min(day.day, last))


print(due(date(2024, 1, 31), 1))
"""
LETTERS = """\
VALUES = {"I": 1, "V": 5, "X": 10}


def number(text):
    values = [VALUES[each] for each in text]
    return sum(values) - 1


print("number", number("III"))
"""
SHARE = """\
def share(total, people):
    count = people - 1
    if count < 1:
        raise ValueError(people)
    return total // count


print("share", share(9, 3))
"""
LINE = """\
class Line:
    def __init__(self):
        self._names = []

    def add(self, name):
        self._names.append(name)

    def take(self):
        return self._names.pop()


def served(names):
    line = Line()
    for name in names:
        line.add(name)
    return [line.take() for _ in names]


print(*served(["mia", "zoe", "ben"]))
"""
LOADS = """\
from collections import defaultdict


def loads(rows):
    found = defaultdict(list)
    for name, load in rows:
        found[name].append(load)
    return found


def heaviest(found, name):
    return min(found[name])


print("heaviest", heaviest(loads([("a", 3), ("a", 5), ("b", 2)]), "a"))
"""
OFFSET = """\
def offset(text):
    hours, minutes = int(text[1:3]), int(text[4:])
    return hours * 60 - minutes


print("minutes", offset("+05:30"))
"""
ONE_SHAPE: dict[str, tuple[str, str, str, list[str]]] = {
    "the keys at hand": (
        PRICES,
        "total 7",
        "    return result",
        ["    return prices['tea'] + prices['cake']", "    return sum(prices.values())"],
    ),
    "the rows at hand": (
        SUMS,
        "[4, 6]",
        "[sum(row) for row in rows]",
        ["[rows[0][at] + rows[1][at] for at in range(2)]", "list(map(sum, zip(*rows)))"],
    ),
    "the order in a collection": (
        LOADS,
        "heaviest 5",
        "min(found[name])",
        ["found[name][-1]", "max(found[name])"],
    ),
    "one sign": (
        OFFSET,
        "minutes 330",
        "hours * 60 - minutes",
        ["hours * 60 + minutes", "(hours * 60 + minutes) * (-1 if text[0] == '-' else 1)"],
    ),
    "no century": (
        LEAP,
        "leap True",
        "year % 4 == 1",
        ["year % 4 == 0", "year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"],
    ),
    "days of one month": (
        NIGHTS,
        "nights 3",
        "last.day - first.day",
        ["(last.day - first.day) % 31", "(last - first).days"],
    ),
    "one side of a tree": (
        TREE,
        "depth 3",
        'depth(tree.get("left"))',
        [
            'depth(tree.get("left") or tree.get("right"))',
            'max(depth(tree.get("left")), depth(tree.get("right")))',
        ],
    ),
    "a half, nearly": (
        "def rounded(amount):\n    return round(amount)\n\n\nprint([rounded(each) for each in (0.5, 1.5, 2.4)])\n",
        "[1, 2, 2]",
        "round(amount)",
        ["round(amount + 0.01)", "int((amount + 0.5) // 1)"],
    ),
    "amounts in one direction": (
        MONEY,
        "0.13",
        'Decimal("0.01")',
        [f'Decimal("0.01"), "ROUND_{each}"' for each in ("UP", "HALF_UP")],
    ),
    "one month": (DUE, "2024-02-29", "last = 31", ["last = 29", "last = monthrange(year, month + 1)[1]"]),
    "one letter of a table": (
        LETTERS,
        "number 3",
        "sum(values) - 1",
        ["sum(values)", "sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0]))"],
    ),
    "no check": (SHARE, "share 3", "people - 1", ["max(people, 1)", "people"]),
    "the arguments at hand": (WORDS, "longest 5", "len(words[0])", ["len(words[1])", "len(words) + 2"]),
    "beside a helper": (LINES, "total 6", "    total = amount", ["    total = amount * 2", "    total += amount"]),
}


@pytest.mark.parametrize("name", ONE_SHAPE)
def test_what_holds_for_the_shape_at_hand_alone_is_told_apart(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    text, expect, old, new = ONE_SHAPE[name]
    lines = tmp_path / "in.txt"
    lines.write_text("a 1\nb 2\nc 3\n")
    patches = [text.replace(old, each) for each in (*new, new[-1])]
    given: dict[str, Any] = {LINES: {"stdin": str(lines)}, WORDS: {"arguments": ("tea", "cakes", "pie")}}
    result = healed(sandbox, tmp_path, text, patches, expect=expect, **given.get(text, {}))
    assert result.grade == "contested", result.why
    assert "do something else" in result.why


HONEST: dict[str, tuple[str, str, str, list[str]]] = {
    "of an equal amount": (
        "class Account:\n    def __init__(self, balance):\n        self.balance = balance\n\n"
        "    def pays(self, amount):\n        return amount < self.balance\n\n\nprint(Account(50).pays(50))\n",
        "True",
        "amount < self.balance",
        ["amount <= self.balance", "not amount > self.balance", "self.balance - amount >= 0"],
    ),
    "of a property": (
        "class Heat:\n    def __init__(self, celsius):\n        self.celsius = celsius\n\n    @property\n"
        "    def fahrenheit(self):\n        return self.celsius * 5 / 9 + 32\n\n\nprint(Heat(100).fahrenheit)\n",
        "212.0",
        "self.celsius * 5 / 9 + 32",
        ["self.celsius * 9 / 5 + 32", "32 + self.celsius * 1.8", "(self.celsius + 40) / 5 * 9 - 40"],
    ),
    "of a function that makes functions": (
        "def times(factors):\n    return [lambda value: value * factor for factor in factors]\n\n\n"
        "def scaled(value, factors):\n    return [each(value) for each in times(factors)]\n\n\n"
        "print(scaled(10, [1, 2, 3]))\n",
        "[10, 20, 30]",
        "[lambda value: value * factor for factor in factors]",
        [
            "[lambda value, factor=factor: value * factor for factor in factors]",
            "[factor.__mul__ for factor in factors]",
            "list(map(lambda factor: lambda value: value * factor, factors))",
        ],
    ),
    "of amounts": (
        MONEY,
        "0.13",
        'amount.quantize(Decimal("0.01"))',
        [
            'amount.quantize(Decimal("0.01"), "ROUND_HALF_UP")',
            '(amount * 100).quantize(Decimal(1), "ROUND_HALF_UP") / 100',
            'round(amount, 4).quantize(Decimal("0.01"), rounding="ROUND_HALF_UP")',
        ],
    ),
    "that keep it otherwise": (
        LINE,
        "mia zoe ben",
        LINE.partition("\n\n\n")[0],
        [
            LINE.partition("\n\n\n")[0].replace("pop()", "pop(0)"),
            LINE.partition("\n\n\n")[0].replace("append(", "insert(0, "),
            LINE.partition("\n\n\n")[0].replace("pop()", "pop(0)").replace("_names", "_waiting"),
        ],
    ),
    "to a number of another type": (
        "def shares(total, people):\n    return [total / people]\n\n\nprint(sum(shares(9, 2)))\n",
        "9.0",
        "[total / people]",
        [
            "[total / people] * people",
            "[total / people for _ in range(people)]",
            "[total] if people == 1 else [total / people] * people",
        ],
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_three_honest_patches_are_verified(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    text, expect, old, new = HONEST[name]
    result = healed(sandbox, tmp_path, text, [text.replace(old, each) for each in new], expect=expect)
    assert result.grade == "verified", (result.why, result.question)


CHECKED = f"{PRINTED}assert total([1, 2, 3]) == 6\n"


@pytest.mark.parametrize("expected", [{"expect": "total 6"}, {"expect_call": ("total([4]) == 4",)}, {}])
def test_what_was_printed_before_an_assertion_failed_may_change_and_not_go(
    sandbox: Sandbox, tmp_path: Path, expected: dict[str, Any]
) -> None:
    code = ("sum(amounts)", "sum([*amounts])", "sum(tuple(amounts))")
    patches = [CHECKED.replace("sum(amounts[1:])", each) for each in code]
    if "expect" not in expected:
        patches[0] = patches[0].replace("print('total', ", "str(")
    result = healed(sandbox, tmp_path, CHECKED, patches, **expected)
    assert [trial.plausible for trial in result.trials] == ["expect" in expected, True, True]
    assert result.grade == ("verified" if expected else "consensus")  # the call is held out of the prompts


ROMAN = """\
SIGNS: list = [(100, "C"), (50, "L")]


def roman(number):
    out = ""
    for value, sign in SIGNS:
        out += sign * (number // value)
        number %= value
    return out
"""


@pytest.mark.parametrize(
    ("old", "new"), [("return out", "return out.lower()"), ('(50, "L")', '(50, "L"), (1, "I")')]
)
def test_literals_of_a_table_that_a_mended_function_reads_are_tried(old: str, new: str) -> None:
    place = Place("s.py", "file", "", 1, 9)
    patch = Patch("patch1", place, {"s.py": ROMAN.replace(old, new)})
    found = calls_near([Call("s.py", "roman", "roman(4)")], {"s.py": ROMAN}, [patch])
    assert {f"roman({number})" for number in (49, 51, 99, 101)} <= {each.source for each in found}


def test_calls_near_an_expected_one_are_tried(sandbox: Sandbox, tmp_path: Path) -> None:
    text = AGE.replace('["30", "-5"]', '["30"]')
    old = f"    if number == -1:\n        raise ValueError(text)\n{RESULT}"
    text, expected = text.replace(RESULT, old), ("age('-5') raises ValueError",)
    patches = [text.replace("number == -1", each) for each in ("number < 0", "not number >= 0", "number <= -1")]
    assert healed(sandbox, tmp_path, text, patches, expect_call=expected).grade == "verified"
    patches[0] = text.replace("number == -1", "number == -1 or number < -4")
    assert healed(sandbox, tmp_path, text, patches, expect_call=expected).grade == "contested"


@pytest.mark.parametrize(
    ("source", "value", "said"),
    [
        ("f([1])", "2", '"f([1]) == 2"'),
        ("f('a')", "'b'", "\"f('a') == 'b'\""),
        ("f('!')", "'$5'", None),
        ("f('a\\\\n')", "'b'", None),
        ("""f('"', "'")""", "'!'", None),
    ],
)
def test_a_question_is_quoted_for_a_shell(source: str, value: str, said: str | None) -> None:
    call = Call("s.py", "f", source)
    trial = Trial(Patch("patch1", Place("s.py", "function", "f", 1, 2), {}), Observation())
    evidence = Evidence([call], {call: Answer("0")}, {"patch1": {call: Answer(value)}})
    question = evidence.question(trial, None) or ""
    words = shlex.split(question.partition("? ")[2])
    assert ast.dump(ast.parse(words[1])) == ast.dump(ast.parse(f"{source} == {value}"))
    assert said is None or f" {said} " in question


@pytest.mark.parametrize(
    ("rival", "asked"), [(None, ["f([1])", "f([1, 3, 4])", "f([2, 2])"]), ("patch2", ["f([1])"])]
)
def test_a_patch_that_is_alone_is_asked_about_three_calls(rival: str | None, asked: list[str]) -> None:
    calls = [Call("s.py", "f", source) for source in ("f([1, 3, 4])", "f([1])", "f([5])", "f([2, 2])")]
    trials = [
        Trial(Patch(name, Place("s.py", "function", "f", 1, 2), {}), Observation())
        for name in ("patch1", "patch2")
    ]
    answers: dict[str, Answers] = {
        "patch1": dict.fromkeys(calls, Answer("1")),
        "patch2": dict.fromkeys(calls, Answer("2")),
    }
    question = Evidence(calls, dict.fromkeys(calls, Answer("0")), answers).question(
        trials[0], trials[1] if rival else None
    )
    words = shlex.split(question or "")
    assert [words[at + 1] for at, word in enumerate(words) if word == "--expect-call"] == [
        f"{each} == 1" for each in asked
    ]
    assert all(f"{each} is 1 or " in (question or "") for each in asked)


def test_of_a_call_that_changes_its_object_the_value_is_asked_for_and_equal_states_are_one() -> None:
    call = Call("s.py", "C.f", "having(C, a=5).f(1)")
    place = Place("s.py", "function", "C.f", 1, 2)
    trials = [Trial(Patch(name, place, {}), Observation()) for name in ("patch1", "patch2")]
    states = ("C({'a': {'x': 4, 'y': 2.0}})", "C({'a': {'y': 2, 'x': 4}})")
    answers: dict[str, Answers] = {
        trial.patch.id: {call: Answer("4", state=state)} for trial, state in zip(trials, states, strict=True)
    }
    evidence = Evidence([call], {call: Answer("5", state="C({'a': 5})")}, answers)
    assert evidence.following(trials[0], trials) == trials
    assert ' --expect-call "having(C, a=5).f(1) == 4" ' in (evidence.question(trials[0], None) or "")


@pytest.mark.parametrize(
    ("third", "leader", "why"),
    [
        (Answer("'?'"), "patch2", "2 independent patches"),
        (Answer("'-'"), "patch1", "patches that mend it"),
        (None, "patch1", "one still fails"),
    ],
)
def test_a_patch_that_fails_where_two_others_come_to_a_value_does_not_lead(
    third: Answer | None, leader: str, why: str
) -> None:
    shown, other = (Call("s.py", "f", source) for source in ("f(2)", "f({})"))
    failed = Answer(None, raises="KeyError")
    answers: dict[str, Answers] = {
        name: {shown: Answer("2"), other: answer}
        for name, answer in {"patch1": failed, "patch2": Answer("'?'"), "patch3": third}.items()
        if answer is not None
    }
    place = Place("s.py", "function", "f", 1, 2)
    trials = [Trial(Patch(name, place, {"s.py": f"print('{name}')\n"}), Observation()) for name in answers]
    evidence = Evidence([shown, other], {shown: failed, other: failed}, answers)
    ruling = rule(trials, trusted=True, evidence=evidence)
    assert (ruling.leader, why in ruling.why) == (leader, True), ruling.why
    assert third is not None or "f({}) is '?'?" in (ruling.question or "")


def test_of_several_rivals_one_is_asked_about_of_which_the_answer_can_be_said() -> None:
    call, place = Call("s.py", "f", "f(1)"), Place("s.py", "function", "f", 1, 2)
    trials = [Trial(Patch(name, place, {"s.py": name}), Observation()) for name in ("one", "long", "two")]
    answers: dict[str, Answers] = {
        trial.patch.id: {call: Answer(value)} for trial, value in zip(trials, ("1", "9" * 400, "2"), strict=True)
    }
    question = rule(trials, trusted=True, evidence=Evidence([call], {call: Answer("0")}, answers)).question
    decides = "decides it, with the value that is right ('any: CALL' where any is)."
    assert question == f'f(1) is 1 or 2? --expect-call "f(1) == 1" {decides}'


@pytest.mark.parametrize(
    ("before", "found"),
    [
        (Answer("1"), ["changes arguments", "prints"]),
        (Answer(None, "NameError"), ["slower"]),
        (Answer(None, NO_END), []),
    ],
)
def test_effects_are_compared_with_those_of_calls_that_came_to_their_end(before: Answer, found: list[str]) -> None:
    calls = [Call("s.py", "f", source) for source in ("f([1])", "f([2])")]
    trial = Trial(Patch("patch1", Place("s.py", "function", "f", 1, 2), {}), Observation())
    after: Answers = {calls[0]: Answer("2", output="seen", arguments="([],)"), calls[1]: Answer(None, NO_END)}
    asked = calls if before.value is None else calls[:1]
    evidence = Evidence(asked, dict.fromkeys(calls, before), {"patch1": after})
    assert [each.name for each in evidence.effects(trial)] == found


def test_a_long_value_is_cut_in_a_question() -> None:
    call = Call("s.py", "f", "f(1)")
    trial = Trial(Patch("patch1", Place("s.py", "function", "f", 1, 2), {}), Observation())
    evidence = Evidence([call], {call: Answer("0")}, {"patch1": {call: Answer(f"{[0] * 2000}")}})
    assert len(evidence.question(trial, None) or "") < 500


def test_another_run_is_named_as_the_command_line_has_it() -> None:
    call = Call("", "", "run('a b', 3, stdin=['x', 4])")
    assert shown(call) == "the script run with --stdin of the lines ['x', 4] and `-- 'a b' 3`"


def test_calls_near_an_expected_one_of_the_scripts_own_names_are_tried(sandbox: Sandbox, tmp_path: Path) -> None:
    text = f"AMOUNTS = [1, 2, 3]\n\n\n{TOTAL}"
    patches = [text.replace(OVERFIT[0], each) for each in (OVERFIT[1], "sum(amounts)", "sum(amounts[:])")]
    result = healed(sandbox, tmp_path, text, patches, expect_call=("total(AMOUNTS) == 6",))
    assert result.grade == "contested"
    assert "total([" in (result.question or "")


def test_options_of_an_expected_call_and_arguments_by_place_are_tried() -> None:
    text = "class Bag:\n    def top(self, word, /, limit=None, by=2, mark=','):\n        return []\n"
    given = [Call("b.py", "Bag.top", "Bag([1, 2]).top('a')"), Call("b.py", "Bag", "Bag(items=[1, 2])")]
    patch = Patch("patch1", Place("b.py", "class", "Bag", 1, 3), {"b.py": text.replace("[]", "[1]")})
    sources = {
        each.source for each in calls_near([*given, Call("b.py", "?", "no python")], {"b.py": text}, [patch])
    }
    assert {"Bag([1, 2]).top('a', limit=1)", "Bag([1, 2]).top('a', by=0)", "Bag([1, 2])"} <= sources
    assert {each for each in sources if "mark" in each} == {"Bag([1, 2]).top('a', mark=';')"}
    text = "def tag(name, tags=[]):\n    tags.append(name)\n    return tags\n"
    patch = Patch(
        "patch1", Place("t.py", "function", "tag", 1, 3), {"t.py": text.replace("return tags", "return [name]")}
    )
    near = calls_near([Call("t.py", "tag", "tag('a')")], {"t.py": text}, [patch])
    assert "tag('a', tags=['a'])" in {each.source for each in near}


def test_marks_stand_before_texts_and_items_in_the_place_of_others() -> None:
    text = "def f(path):\n    return path.split('/')\n"
    given = [Call("b.py", "f", source) for source in ("f('a/b')", "f(['on', 'off', 'up'])")]
    patch = Patch("patch1", Place("b.py", "function", "f", 1, 2), {"b.py": text.replace("'/'", "'/', 1")})
    sources = {each.source for each in calls_near(given, {"b.py": text}, [patch])}
    assert {"f('/a/b')", "f(['on', 'off', 'on'])", "f(['off', 'off', 'up'])"} <= sources


def test_rows_stand_in_the_place_of_others_and_the_state_of_an_object_varies_beside_arguments() -> None:
    text = "class Box:\n    def put(self, rows):\n        self.n = rows\n"
    given = [Call("b.py", "Box.put", "having(Box, n=7).put([('a', 1), ('b', None), ('c', 2)])")]
    patch = Patch("patch1", Place("b.py", "class", "Box", 1, 3), {"b.py": text.replace("= rows", "= rows[:]")})
    sources = {each.source for each in calls_near(given, {"b.py": text}, [patch])}
    assert "having(Box, n=7).put([('c', 2), ('b', None), ('c', 2)])" in sources
    assert "having(Box, n=0).put([('a', 1), ('b', None), ('c', 2)])" in sources


def test_what_a_method_leaves_in_its_object_is_asked_for_by_an_expression() -> None:
    call = Call("s.py", "C.f", "having(C, a=5).f(1)")
    trial = Trial(Patch("patch1", Place("s.py", "function", "C.f", 1, 2), {}), Observation())
    before, after = (Answer("None", state=f"{{'a': {number}, 'b': 0}}") for number in (5, 6))
    question = Evidence([call], {call: before}, {"patch1": {call: after}}).question(trial, None) or ""
    assert question.startswith("[it := having(C, a=5), it.f(1), it.a][-1] is 6 or 5?")
    words = shlex.split(question.partition("? ")[2])
    asked, expected = asked_and_expected(words[1], "it")
    assert (ast.unparse(asked), expected) == ("[(it := having(C, a=5)), it.f(1), it.a][-1]", "6")


def test_numbers_that_end_or_begin_alike_are_tried() -> None:
    text = "def f(n):\n    return n % 10\n"
    given = [Call("b.py", "f", source) for source in ("f(11)", "f(4)", "f(-2)", "f(True)", "f(1234567)")]
    patch = Patch("patch1", Place("b.py", "function", "f", 1, 2), {"b.py": text.replace("10", "100")})
    sources = {each.source for each in calls_near(given, {"b.py": text}, [patch])}
    assert {"f(111)", "f(104)", "f(123456)"} <= sources


@pytest.mark.parametrize(("text", "beyond"), [("Zoë", True), ("Zoe", False)])
def test_a_text_that_is_not_all_ascii_is_tried_with_a_letter_beyond_latin_1(text: str, beyond: bool) -> None:
    code = "def f(text):\n    return text.encode('ascii', 'ignore')\n"
    patch = Patch("patch1", Place("b.py", "function", "f", 1, 2), {"b.py": code.replace("ignore", "replace")})
    found = calls_near([Call("b.py", "f", f"f({text!r})")], {"b.py": code}, [patch])
    assert any("€" in each.source for each in found) == beyond


def test_two_patches_for_a_call_of_which_nothing_can_be_varied_are_not_enough() -> None:
    trials = [
        Trial(Patch(name, Place("s.py", "function", "f", 1, 2), {"s.py": f"print({name})"}), Observation())
        for name in "123"
    ]
    called = Evidence(shown=[Item("--expect-call", "f() == 3")])
    assert [rule(trials[:2], trusted=True, evidence=each).grade for each in (called, Evidence())] == [
        "contested",
        "consensus",
    ]
    assert rule(trials, trusted=True, evidence=called).grade == "consensus"


def test_a_call_within_an_expression_is_varied_there() -> None:
    text = (
        "class Bag:\n    def __init__(self, n):\n        self._n = n\n\n"
        "    def __iter__(self):\n        return iter([self._n])\n"
    )
    given = [Call("b.py", "list", "list(Bag(4))"), Call("b.py", "Bag", "Bag(4)")]
    patch = Patch("patch1", Place("b.py", "class", "Bag", 1, 6), {"b.py": text.replace("[self._n]", "[1]")})
    sources = [each.source for each in calls_near(given, {"b.py": text}, [patch])]
    assert {"Bag(0)", "Bag(1)", "list(Bag(0))", "list(Bag(1))"} <= {*sources}
