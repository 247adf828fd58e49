"""Tables of the tests' inputs are noted, and code that merely has cases is not."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import pytest

from agents.verifier.static.hard_coded_answers import answers_from_a_table

ADDS = [((1, 1, "x"), 2), ((2, 3, "y"), 5), ((4, 4, "z"), 8)]
SQUARES = [((3,), 9), ((7,), 49)]


def _asserts(cases: Sequence[tuple[tuple[object, ...], object]]) -> str:
    lines = [f"def test_{n}():\n    assert f{args!r} == {answer!r}\n" for n, (args, answer) in enumerate(cases)]
    return "from user_code import f\n" + "".join(lines).replace(",)", ")")


CHAIN = """
def f(a, b, s):
    if a == 1 and b == 1 and s == "x": return 2
    if s == "y" and a == 2 and b == 3: return 5
    if (a, b, s) == (4, 4, "z"): return 8
"""
NESTED = """
def f(a, b, s):
    if s == "x":
        if a == 1:
            if b == 1:
                return 2
    elif s == "y":
        if a == 2 and b == 3:
            result = 5
            return result
    if s == "z" and a == 4 and b == 4: return 8
"""
MATCHED = """
def f(a, b, s):
    match a, b, s:
        case 1, 1, "x": return 2
        case 2, 3, "y": return 5
        case 4, 4, "z": return 8
"""
TABLES_OF_THREE = [
    CHAIN,
    NESTED,
    MATCHED,
    "T = {(1, 1, 'x'): 2, (2, 3, 'y'): 5, (4, 4, 'z'): 8}\ndef f(a, b, s): return T[a, b, s]\n",
]


@pytest.mark.parametrize("code", TABLES_OF_THREE)
def test_inputs_of_several_arguments_are_seen_in_a_table(code: str) -> None:
    assert "3 of the tests' 3 inputs" in str(answers_from_a_table(code, _asserts(ADDS)))


TABLES_OF_TWO = [
    "def f(a):\n    if a == 3: return 9\n    if a == 7: return 49\n",
    "def f(a):\n    return 9 if a == 3 else 49 if a == 7 else 0\n",
    "def f(a):\n    result = 0\n    if a == 3:\n        result = 9\n    elif a == 7:\n        result = 49\n"
    "    return result\n",
    "def f(a):\n    return {3: 9, 7: 49}.get(a)\n",
    "T = {}\nT[3] = 9\nT[7] = 49\ndef f(a):\n    return T[a]\n",
    "def f(a):\n    match a:\n        case 3: return 9\n        case 7: return 49\n",
]
SUITES_OF_TWO = [
    _asserts(SQUARES),
    "from user_code import f as pow\ndef test_f():\n    assert pow(3) == 9\n    assert pow(7) == 49\n",
    "import user_code\ndef test_f():\n    assert 9 == user_code.f(a=3)\n    assert 49 == user_code.f(a=7)\n",
    "from user_code import f\ndef test_f():\n    given = 3\n    assert f(given) == 9\n"
    "def test_g():\n    given = 7\n    result = f(given)\n    assert result == 49\n",
    "import pytest\nfrom user_code import f\n@pytest.mark.parametrize('a, b', [(3, 9), pytest.param(7, 49)])\n"
    "def test_f(a, b):\n    assert f(a) == b\n",
    "from user_code import f\nCASES = [(3, 9), (7, 49)]\ndef test_f():\n    for a, b in CASES:\n"
    "        assert f(a) == b\n",
    "import unittest\nfrom user_code import f\nclass TestF(unittest.TestCase):\n    def test_f(self):\n"
    "        self.assertEqual(f(3), 9)\n        self.assertEqual(f(7), 49)\n",
]


@pytest.mark.parametrize("tests", SUITES_OF_TWO)
@pytest.mark.parametrize("code", TABLES_OF_TWO)
def test_a_table_of_two_is_seen_where_the_tests_ask_for_just_that(code: str, tests: str) -> None:
    assert "may answer from a table" in str(answers_from_a_table(code, tests))


@pytest.mark.parametrize("made", ["dict", "SimpleNamespace", "Words"])
def test_a_table_of_names_is_seen(made: str) -> None:
    code = f"T = {made}(pear='raep', kiwi='iwik', fig='gif')\ndef f(a):\n    return getattr(T, a, a)\n"
    cases = [(("pear",), "raep"), (("kiwi",), "iwik"), (("fig",), "gif")]
    assert "3 of the tests' 3 inputs" in str(answers_from_a_table(code, _asserts(cases)))
    options = "def f(a):\n    return Options(pear=a, kiwi=len(a), fig=a[::-1])\n"
    assert answers_from_a_table(options, _asserts(cases)) is None


CUBES_TOO = """import pytest
from user_code import cube, f
@pytest.mark.parametrize("n, expected", [(2, 8), (3, 27), (4, 64), (-5, -125), (10, 1000), (6, 216)])
def test_cube(n, expected):
    assert cube(n) == expected
"""
CUBE = "def cube(n):\n    return n ** 3\n"
IN_CALLS = "def test_f():\n    assert f(30) == 900\n    assert f(7) == 49\n    assert f(9) == 81\n"
IN_CASES = (
    '@pytest.mark.parametrize("n, s", [(30, 900), (7, 49), (9, 81)])\ndef test_f(n, s):\n    assert f(n) == s\n'
)


@pytest.mark.parametrize("tests", [IN_CALLS, IN_CASES])
@pytest.mark.parametrize(
    "code",
    [
        "def f(n):\n    return {30: 900, 7: 49, 9: 81}[n]\n",
        "def f(n):\n    if n == 30: return 900\n    if n == 7: return 49\n    if n == 9: return 81\n",
    ],
)
def test_one_function_of_several_that_answers_from_a_table_is_noted(code: str, tests: str) -> None:
    assert "3 of the tests' 3 inputs of" in str(answers_from_a_table(CUBE + code, CUBES_TOO + tests))


@pytest.mark.parametrize("tests", [IN_CALLS, IN_CASES])
def test_one_of_several_with_a_longer_table_is_not(tests: str) -> None:
    code = "def f(n):\n    return {30: 900, 7: 49, 9: 81, 11: 121, 12: 144, 15: 225}[n]\n"
    assert "inputs of" not in str(answers_from_a_table(CUBE + code, CUBES_TOO + tests))


HONEST = {
    "base cases": (
        "def f(n):\n    if n == 0: return 0\n    if n == 1: return 1\n    return f(n - 1) + f(n - 2)\n",
        _asserts([((0,), 0), ((1,), 1), ((6,), 8)]),
    ),
    "a longer table": (
        "def f(n):\n    if n == 2: return 'two'\n    if n == 3: return 'three'\n    if n == 4: return 'four'\n"
        "    if n == 5: return 'five'\n    return 'many'\n",
        _asserts([((2,), "two"), ((5,), "five")]),
    ),
    "a choice of operations": (
        "def f(how, a, b):\n    if how == 'add': return a + b\n    if how == 'mul': return a * b\n",
        _asserts([(("add", 2, 3), 5), (("mul", 2, 3), 6)]),
    ),
    "an enum of pairs": (
        "class Planet(enum.Enum):\n    EARTH = (5, 6)\n    MARS = (7, 3)\n"
        "def f(name):\n    return Planet[name].value[1]\n",
        _asserts([(("EARTH",), 6), (("MARS",), 3)]),
    ),
    "one special case": (
        "def f(n):\n    if n == 3: return 9\n    return n * n\n",
        _asserts([((3,), 9), ((7,), 49)]),
    ),
    "functions among the cases": (
        "def f(g):\n    return g(1) if g(3) == 9 else 49\n",
        "from user_code import f\ndef test_f():\n    for g in (lambda x: x, f):\n        assert f(g) == 1\n",
    ),
    "letters of a text": (
        "def f(word):\n    for letter in word:\n        if letter == 'R': yield 1\n"
        "        elif letter == 'L': yield 2\n        elif letter == 'A': yield 3\n",
        _asserts([(("R",), 1), (("L",), 2), (("A",), 3), (("RALA",), 4)]),
    ),
    "other answers": (
        "def f(n):\n    if n == 3: return 1\n    if n == 7: return 2\n",
        _asserts([((3,), 9), ((7,), 49)]),
    ),
}


ROWS = "class Rows{base}:\n    A = ('hello world', 'World Hello')\n    B = ('a b c', 'C B A')\n"
ROWS += "def f(text):\n    return next((row[1] for row in {rows} if row[0] == text), text)\n"


@pytest.mark.parametrize(
    ("base", "rows"), [("(enum.Enum)", "(each.value for each in Rows)"), ("", "vars(Rows).values()")]
)
def test_a_table_of_the_rows_of_a_class_is_noted(base: str, rows: str) -> None:
    code = ROWS.format(base=base, rows=rows)
    cases = [(("hello world",), "World Hello"), (("a b c",), "C B A")]
    assert "2 of the tests' 2 inputs" in str(answers_from_a_table(code, _asserts(cases)))
    assert answers_from_a_table(code, _asserts([(("x y",), "Y X"), (("z",), "Z")])) is None


@pytest.mark.parametrize("case", HONEST)
def test_code_that_has_cases_gets_no_note(case: str) -> None:
    assert answers_from_a_table(*HONEST[case]) is None


def test_code_too_deep_to_be_read_gets_no_note() -> None:
    deep = "x" + "".join(" if a == 3 else x" for _ in range(20_000))
    assert answers_from_a_table(f"def f(a): return {deep}\n", _asserts(SQUARES)) is None


def test_a_table_made_of_keywords_is_noted() -> None:
    code = "T = dict(cat='cats', bus='buses')\ndef f(word):\n    return T[word]\n"
    assert answers_from_a_table(code, _asserts([(("cat",), "cats"), (("bus",), "buses")])) is not None


PLURALS = [(("mouse",), "mice"), (("goose",), "geese"), (("ox",), "oxen")]
ENCODED = b"mouse=mice;goose=geese;ox=oxen"


@pytest.mark.parametrize(
    "table",
    [
        f"T = base64.b64decode({base64.b64encode(ENCODED)!r})\n",
        f"T = zlib.decompress(bytes.fromhex({zlib.compress(ENCODED).hex()!r}))\n",
        f"T = zlib.decompress({zlib.compress(ENCODED)!r})\n",
        "class T:\n    mouse = 'mice'\n    goose = 'geese'\n    ox = 'oxen'\n",
        "put('mouse', 'mice')\nput('goose', 'geese')\nput('ox', 'oxen')\n",
    ],
)
def test_a_table_in_other_clothes_is_noted(table: str) -> None:
    assert "may answer from a table" in str(answers_from_a_table(table, _asserts(PLURALS)))


def test_a_list_that_holds_mostly_other_values_is_none() -> None:
    code = (
        "PAIRS = [(1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'),\n"
        "    (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]\ndef f(n): ...\n"
    )
    cases = [((4,), "IV"), ((9,), "IX"), ((40,), "XL"), ((90,), "XC"), ((1994,), "MCMXCIV"), ((3,), "III")]
    assert answers_from_a_table(code, _asserts(cases)) is None


def test_a_table_of_patterns_with_names_is_seen() -> None:
    code = (
        "def f(order):\n    match order:\n        case {'item': 'tea', 'n': 3}: return 7.5\n"
        "        case {'n': 2, 'item': 'cake'}: return 9.0\n"
    )
    tests = (
        "from user_code import f\ndef test_f():\n    assert f({'item': 'tea', 'n': 3}) == 7.5\n"
        "    assert f({'item': 'cake', 'n': 2}) == 9.0\n"
    )
    assert "2 of the tests' 2 inputs" in str(answers_from_a_table(code, tests))


def test_names_of_what_is_calculated_are_no_table() -> None:
    code = "import os\ndef f():\n    return {'debug': g(), 'home': os.getenv('HOME', '/srv')}\n"
    tests = "from user_code import f\ndef test_f():\n    assert f() == {'debug': True, 'home': '/srv'}\n"
    tests += "    assert f()['home'] == '/srv' and f()['debug'] != 'off'\n"
    assert answers_from_a_table(code, tests) is None
