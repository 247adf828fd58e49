from __future__ import annotations

import ast

import pytest

from agents.strength.mutants import mutants, mutants_in, mutants_of, plain_layout

SEARCH = '''"""A module."""
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    LIMIT = 3 + 4
T = TypeVar("T", bound="Sequence[int]")


def search(items: "list[1 + 2]", wanted: int) -> "int | None":
    """Find: 1 < 2."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    print("found", 5)
    raise LookupError("not " + "there")
    low = min(low, high)


def double(number):
    return cast("Number[8]", number) * 2


if __name__ == "__main__":
    print(search([1, 2], 9 - 7))
'''


def changes(code: str) -> set[tuple[str, str]]:
    return {(mutant.before, mutant.after) for mutant in mutants(code, 10_000)}


def of_body(body: str) -> set[tuple[str, str]]:
    return changes(f"def f(a, b):\n    {body}\n")


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        ("return a < b", "return a < b", "return a <= b"),
        ("return a < b", "return a < b", "return a >= b"),
        ("return a in b", "return a in b", "return a not in b"),
        ("return a + b", "return a + b", "return a - b"),
        ("return a + b", "return a + b", "return None"),
        ("return a % b", "return a % b", "return a // b"),
        ("return [a] + b", "return [a] + b", "return [a]"),
        ("return a + 'x'", "return a + 'x'", "return a"),
        ("return a == 3", "return a == 3", "return a == 4"),
        ("return a == 3", "return a == 3", "return a == 2"),
        ("return a[-1]", "return a[-1]", "return a[0]"),
        ("return True", "return True", "return False"),
        ("return 0.5", "return 0.5", "return 1.5"),
        ("return 'ab'", "return 'ab'", "return 'a'"),
        ("return ''", "return ''", "return 'x'"),
        ("return a and b", "return a and b", "return a or b"),
        ("return not a", "return not a", "return a"),
        ("return a if b else 0", "return a if b else 0", "return a if not b else 0"),
        ("return [x for x in a if x]", "return [x for x in a if x]", "return [x for x in a if not x]"),
        ("a.append(b)", "a.append(b)", ""),
        ("a[0] = b", "a[0] = b", ""),
        ("a += b", "a += b", "a -= b"),
        ("a += b", "a += b", ""),
        ("a = b", "a = b", ""),
        ("raise ValueError(a)", "raise ValueError(a)", ""),
        ("return a[b:]", "return a[b:]", "return a[b + 1:]"),
        ("return a[:b]", "return a[:b]", "return a[:b - 1]"),
        ("[a[i] for i in range(b)]", "[a[i] for i in range(b)]", "[a[i - 1] for i in range(b)]"),
        ("return list(range(b))", "return list(range(b))", "return list(range(b - 1))"),
        ("return min(a, b)", "return min(a, b)", "return max(a, b)"),
        ("return sorted(a, key=b)", "return sorted(a, key=b)", "return list(a)"),
        ("return a.strip()", "return a.strip()", "return a.lstrip()"),
        ("return abs(a)", "return abs(a)", "return a"),
        ("return f'{a}-{b}'", "return f'{a}-{b}'", "return f'{a}{b}'"),
    ],
)  # fmt: skip
def test_a_place_is_changed(body: str, before: str, after: str) -> None:
    assert (before, after) in of_body(body)


@pytest.mark.parametrize(("word", "other"), [("break", "continue"), ("continue", "break")])
def test_ways_out_of_a_loop_are_swapped(word: str, other: str) -> None:
    assert (word, other) in changes(
        f"def f(a):\n    for x in a:\n        if x:\n            {word}\n        a()\n"
    )


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("return a <= 1", "return a <= 0"),
        ("return a < 1", "return a < 2"),
        ("return a + 0", "return a - 0"),
        ("return a * 1", "return a // 1"),
        ("x = a", ""),
        ("print(a - b)", "print(a + b)"),
        ("raise ValueError(a - b)", "raise ValueError(a + b)"),
        ("return cast('int', a)", "return cast('in', a)"),
        ("return open(a, encoding='utf-8')", "return open(a, encoding='utf-')"),
        ("return 'a\\n b\\n '", "return 'a\\n b\\n'"),
        ("return 9 if a > 9 else a", "return 9 if a >= 9 else a"),
        ("a = cast(int, a)\n    return a", ""),
    ],
)
def test_what_changes_nothing_or_repeats_another_mutant_is_left_out(body: str, same: str) -> None:
    assert same not in {after for _, after in of_body(body)}


def test_nothing_is_changed_in_docstrings_types_messages_main_blocks_and_dead_code() -> None:
    touched = {mutant.line for mutant in mutants(SEARCH, 10_000)}
    assert touched == {11, 12, 13, 14, 15, 16, 17, 19, 21, 26}


@pytest.mark.parametrize(
    "body",
    [
        "text = 'no ' + 'such thing'\n    raise ValueError(text)",
        "text = f'{a} is wrong: %s' % b\n    log.warning(text)",
        "p.add_argument(a, help='show it', metavar='N')",
        "sys.stderr.write('gone')",
        "return Option(a, help=f'one of {b}')",
    ],
)
def test_texts_that_only_people_read_are_left_alone(body: str) -> None:
    assert {after for _, after in of_body(body)} <= {"", "return None"}


@pytest.mark.parametrize("body", ["code = a + 1\n    raise Exit(code)", "text = 'yes'\n    return text"])
def test_what_decides_or_is_returned_is_changed_though_a_text_or_raised(body: str) -> None:
    assert {after for _, after in of_body(body)} - {"", "return None"}


def test_a_change_within_a_function_is_that_function_within_its_classes() -> None:
    method = "    @d\n    def f(self, n=1):\n        def g():\n            return n < 2\n        return g\n"
    code = f"X = 3\nclass A:\n{method}"
    inside = [mutant for mutant in mutants(code, 100) if mutant.names]
    assert {(mutant.names, mutant.first) for mutant in inside} == {(("A", "f"), 3)}
    assert (
        "class A:\n\n    def f(self, n=1):\n\n        def g():\n            return n <= 2\n        return g\n"
        in {mutant.function for mutant in inside}
    )
    assert {mutant.after for mutant in mutants(code, 100) if not mutant.names} == {
        "X = 4", "X = 2", "def f(self, n=2):", "def f(self, n=0):",
    }  # fmt: skip


def test_code_that_compiles_to_the_same_is_no_mutant() -> None:
    assert ("while 1:", "while 2:") not in changes("def f():\n    while 1:\n        g()\n")


def test_each_mutant_is_the_module_with_one_line_changed() -> None:
    own = plain_layout(SEARCH).splitlines()
    made = mutants(SEARCH, 10_000)
    for mutant in made:
        lines = mutant.code.splitlines()
        assert len(lines) == len(own)
        assert sum(left != right for left, right in zip(own, lines, strict=True)) == 1, mutant
        ast.parse(mutant.code)
    assert len({mutant.code for mutant in made}) == len(made) > 20


def test_a_few_mutants_are_the_same_each_time_and_of_every_function() -> None:
    few = mutants(SEARCH, 6)
    assert few == mutants(SEARCH, 6) == mutants(SEARCH, 30)[:6]
    assert len(few) == 6
    assert {mutant.line > 24 for mutant in few} == {True, False}
    assert len({mutant.line for mutant in few}) >= 4, "they crowd in one place"


def test_a_long_table_is_two_places() -> None:
    code = f"PRIMES = {[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]}\n"
    assert {after for _, after in changes(code)} == {
        after
        for first, last in ((3, 29), (1, 29), (2, 30), (2, 28))
        for after in [f"PRIMES = [{first}, 3, 5, 7, 11, 13, 17, 19, 23, {last}]"]
    }


def test_a_long_statement_is_shown_about_the_first_difference() -> None:
    names = " + ".join(f"long_name_number_{n}" for n in range(9))
    shown = of_body(f"return g({names}, a < 1, {names})")
    assert any("number_8, a < 1, l" in before and "number_8, a >= 1, l" in after for before, after in shown)
    assert all(before != after and max(len(before), len(after)) <= 110 for before, after in shown)


def test_a_change_below_the_first_line_of_a_statement_is_shown_by_itself() -> None:
    assert ("a > 1", "a >= 1") in of_body("match b:\n        case 2 if a > 1:\n            return 1")


@pytest.mark.parametrize(
    "code",
    [
        "def f(a):\n    if sys.version_info >= (3, 9):\n        pass",
        "def f(a):\n    if not sys.platform.startswith('win'):\n        pass",
        "X = 1 if os.name == 'nt' else None",
        "Pair = typing.Tuple[int, 'Node']",
        "f.__doc__ = 'text'",
        "if not TYPE_CHECKING:\n    import a",
        "def f(a):\n    assert a > 1, 'text'",
        "SIZE = 3 + 1\ndef f(a):\n    warnings.warn(a, stacklevel=SIZE)\n    print(SIZE)",
        "class _State(enum.Enum):\n    ON = 'on'\ndef f(a):\n    print(f'not while {a.value}')",
    ],
)
def test_what_no_test_needs_to_notice_is_left_alone(code: str) -> None:
    assert not {each for each in changes(f"{code}\n") if "X" not in each[0]}


@pytest.mark.parametrize(
    "code",
    [
        "class State(Enum):\n    ON = 'on'",
        "class _State(IntEnum):\n    ON = 1",
        "ON = Literal['on', 'off']",
        "ON = 'utf'",
        "class _State(Enum):\n    ON = 'on'\ndef f(a):\n    print(_State(a))",
        "class _State(Enum):\n    ON = 'on'\n    def text(self):\n        return self.value",
    ],
)
def test_values_that_somebody_reads_are_changed(code: str) -> None:
    assert any(before.startswith("ON = ") for before, _ in changes(f"{code}\n"))


def test_mutants_are_found_again_by_what_survived() -> None:
    made = mutants(SEARCH, 12)
    assert mutants_of(SEARCH, [made[7].survivor, made[3].survivor]) == (made[7], made[3])


def test_what_is_no_python_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1"):
        mutants("def f(:\n")


def test_outside_of_functions_only_the_lines_that_are_wanted_are_changed() -> None:
    code = "LOW = 4\nHIGH = 9\n\n\ndef sign(x):\n    return 2 * x\n"
    assert {mutant.line for mutant in mutants_in(code)} == {1, 2, 6}
    assert {mutant.line for mutant in mutants_in(code, {2})} == {2, 6}
