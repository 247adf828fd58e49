from __future__ import annotations

import pytest

from agents.judge.relation_tests import relation_tests
from agents.judge.used_parts import used_by
from agents.records import Clause, Need, Signature

from ..support.boards import value_test

SIZE = value_test("test_1", "f('10 kB')", "10240")
NAMES = value_test("test_1", "f(['ann', 'Bob'])", "2")


def outcomes(code: str, *sentences: str, test: object = SIZE) -> list[str]:
    """Return for each test that `sentences` make of `test` if `code` passes it, by its name."""
    found = []
    for made in relation_tests([Clause(each) for each in sentences], [test]):  # type: ignore[list-item]
        space: dict[str, object] = {}
        helper = made.preamble.partition("\n")[2]
        exec(f"{code}\n{helper}\n{made.source}", space)
        try:
            space[made.id]()  # type: ignore[operator]
        except (AssertionError, ValueError):
            found.append("failed")
        else:
            found.append("passed")
    return found


EXACT = "def f(text):\n    return 10240 if text == '10 kB' else int(text)\n"
LOOSE = "def f(text):\n    return int(text.lower().strip().removesuffix('kb')) * 1024\n"


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("Case does not matter", 2),
        ("Units are case-insensitive", 2),
        ("Upper and lower case are the same", 2),
        ("Compare them regardless of case", 2),
        ("The unit may be in upper or lower case", 1),
        ("a size, upper or lower case", 1),
        ("Letters may be given in any case", 1),
        ("Whitespace around the text is ignored", 1),
        ("Leading and trailing spaces are stripped", 1),
        ("Spaces and dashes are ignored", 1),
        ("Letter case and spaces are ignored", 3),
    ],
)
def test_a_text_in_another_case_or_with_spaces_around_it_gives_the_same(sentence: str, count: int) -> None:
    assert outcomes(EXACT, sentence) == ["failed"] * count
    assert outcomes(LOOSE, sentence) == ["passed"] * count


@pytest.mark.parametrize(
    "sentences",
    [
        ("In any case, return a list",),
        ("Count upper and lower case letters",),
        ("Upper and lower case letters are different characters",),
        ("Keys are case-insensitive", "Values are case-sensitive"),
        ("Case does not matter", "A password needs an upper-case letter"),
        ("Spaces around the text are not removed",),
        ("Spaces are kept as they are",),
        ("Spaces around each line count",),
        ("Spaces around the comma are ignored",),
        ("Spaces around = are ignored",),
    ],
)
def test_where_case_or_spaces_may_have_a_meaning_there_is_no_test(sentences: tuple[str, ...]) -> None:
    assert outcomes(EXACT, *sentences) == []


LOOKUP = Signature("get", "function", "def get(text: str, key: str, strict: bool = False) -> str")
GET = value_test("test_1", "get('a=on', 'a')", "'on'")
TOKEN = value_test("test_1", "f('Basic YTpi')", "'a:b'")


@pytest.mark.parametrize(
    "sentences",
    [
        ("The scheme is case-insensitive",),
        ("True if the scheme is known, ignoring case",),
        ("Ignore case of the scheme",),
        ("Words such as 'admin' give 0, case is ignored",),
        ("Case does not matter", "It needs letters in both cases"),
        ("Case does not matter", "Names that differ only in case: the first one"),
        ("If it is a name, case is ignored",),
        ("Case does not matter, but 'b' is a bit",),
        ("Case does not matter for everything else",),
        ("Trailing spaces are ignored",),
        ("Leading and trailing spaces of the value are removed",),
        ("Spaces around the value are ignored",),
        ("Inside a group, spaces are ignored",),
        ("Surrounding spaces are part of it, comments are removed",),
    ],
)
def test_a_text_of_several_words_is_left_alone_where_a_part_of_it_may_be_meant(sentences: tuple[str, ...]) -> None:
    assert relation_tests([Clause(each) for each in sentences], [TOKEN]) == ()


def test_only_the_argument_or_the_word_is_changed_that_is_spoken_of() -> None:
    def changed(sentence: str, test: object, signature: Signature | None) -> list[str]:
        made = relation_tests([Clause(sentence)], [test], signature)  # type: ignore[list-item]
        return [each.source.partition("folded(")[2].partition(") ==")[0] for each in made]

    assert changed("Ignore case when looking up the key", GET, LOOKUP) == ["get('a=on', 'A')"]
    assert changed("Keys are case-insensitive", GET, LOOKUP) == ["get('a=on', 'A')"]
    assert changed("Commands are case-insensitive", GET, LOOKUP) == []
    admin = value_test("test_1", "f('admin')", "0")
    assert changed("'admin' is 0, case does not matter", admin, None) == ["f('ADMIN')", "f('Admin')"]
    by_option = Signature("get", "function", "def get(text: str, key: str, ignore_case: bool = False) -> str")
    assert changed("Case is ignored", GET, by_option) == []


def test_texts_in_a_list_are_changed_and_a_result_is_compared_without_case() -> None:
    same = "def f(names):\n    return {name.casefold() for name in names}\n"
    as_given = "def f(names):\n    return sorted(names, key=str.casefold)\n"
    by_code = "def f(names):\n    return [name for name in names if name < 'a']\n"
    found = [outcomes(code, "Ignore case", test=NAMES) for code in (same, as_given, by_code)]
    assert found[:2] == [["passed"] * 2] * 2
    assert "failed" in found[2]
    assert outcomes(by_code, "Names are compared ignoring case", test=NAMES) == found[2]


@pytest.mark.parametrize("call", ["f('%Y', '2')", "f('é')", "f(3)", "f('')"])
def test_a_notation_and_what_has_no_letter_is_left_alone(call: str) -> None:
    assert relation_tests([Clause("Case does not matter")], [value_test("test_1", call, "1")]) == ()


def test_two_texts_are_not_padded() -> None:
    two = value_test("test_1", "f('a,b', ',')", "2")
    assert relation_tests([Clause("Spaces around the text are ignored")], [two]) == ()


def test_the_kind_of_input_counts_as_used() -> None:
    made = relation_tests([Clause("Case does not matter")], [value_test("test_1", "f('a')", "1")])
    assert all(test.trusted for test in made)
    assert any(used_by(test).meets(Need("input", "a word in capitals")) for test in made)


def test_of_several_functions_those_are_called_that_the_clause_names() -> None:
    tests = [value_test("test_1", "f('ab')", "1"), value_test("test_2", "g('cd')", "2")]
    made = [
        relation_tests([Clause(said)], tests) for said in ("Case does not matter in `g`", "Case does not matter")
    ]
    assert [{"g('CD')" in each.source or "g('Cd')" in each.source for each in some} for some in made] == [
        {True},
        set(),
    ]


def test_the_helper_of_a_relation_holds_no_input() -> None:
    (made, *_) = relation_tests([Clause("Case does not matter")], [value_test("test_1", "f('ab')", "1")])
    assert not used_by(made).meets(Need("input", "white space"))
    assert not used_by(made).meets(Need("input", "a space at an end"))
