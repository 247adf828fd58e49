from __future__ import annotations

from dataclasses import replace

import pytest

from agents.judge.argument_tests import argument_tests
from agents.judge.clause_checks import clause_checks, edge_probes, odd_probes
from agents.judge.judge import Situation, judge
from agents.judge.probes import probed_call, probes_of
from agents.records import Board as RecordedBoard
from agents.records import Clause, ClauseCheck, Need, Outcome, Ruling, Test, Verdict
from agents.spec import read_spec
from agents.spec.clauses import clauses

from ..support.boards import board, candidate, value_test

A, B, C, D = (candidate(name) for name in "abcd")
ROMAN = Clause("roman numerals, upper or lower case", (Need("input", "lower case"), Need("input", "upper case")))
RAISES = Clause(
    "raise ValueError for an empty text",
    (Need("exception", "ValueError"), Need("input", "an empty input", "ValueError")),
)
UPPER, LOWER = (value_test(f"test_{n}", f"f({text!r})", "4") for n, text in enumerate(("IV", "iv")))


def raising(name: str, call: str, exception: str = "ValueError") -> Test:
    return Test(name, f"def {name}():\n    with pytest.raises({exception}):\n        {call}\n", "generated")


def checked(clause: Clause, *tests: Test, contested: tuple[Test, ...] = ()) -> ClauseCheck:
    (found,) = clause_checks([clause], tests, contested, "f")
    return found


def test_a_clause_is_held_once_a_test_uses_all_that_it_needs() -> None:
    assert checked(ROMAN, UPPER).standing == "nothing checks lower case"
    assert checked(ROMAN, UPPER, LOWER).standing == "held by 2 tests"
    assert checked(ROMAN).standing == "nothing checks this"
    assert [checked(Clause("it sorts"), *tests).is_held for tests in ((), (UPPER,))] == [False, True]


def test_a_text_of_the_specs_is_not_tested_by_what_is_refused() -> None:
    said = "reads '1h30m' as 5400 seconds"
    (clause,) = clauses(read_spec(f"Write f(text: str) -> int that {said}.", origin="argument"))
    refusing = raising("test_order", "f('1h30m2s')")
    assert checked(clause, refusing).missing == (Need("text", "'1h30m'"),)
    assert checked(clause, refusing, value_test("test_1", "f('1h30m')", "5400")).missing == ()
    denied = "Codes such as 'AB-1' are invalid"
    found = clauses(read_spec(f"Write f(text: str) -> int that reads a code. {denied}.", origin="argument"))
    assert not any(need.kind == "text" for need in found[1].needs)


def test_an_unchecked_clause_names_a_line_that_would_test_it() -> None:
    assert checked(ROMAN, UPPER).would_test == "f('iv') == ..."
    assert checked(RAISES, UPPER).would_test == "f(...) raises ValueError"
    assert checked(RAISES, UPPER, raising("test_x", "f('A')")).would_test == "f('') raises ValueError"


def test_a_clause_of_a_class_is_tested_by_a_step() -> None:
    found = clause_checks(
        clauses(
            read_spec(
                "Write a class Cart. Cart(n) raises TypeError if n is None. "
                "remove(x) must raise KeyError. A full one stays.",
                origin="argument",
            )
        ),
        (),
        (),
        "Cart",
    )
    assert [check.would_test for check in found] == [
        "Cart(...) raises TypeError",
        "x = Cart(...); x.remove(...) raises KeyError",
        "x = Cart(...); x.method(...) == ..., on an input that shows it",
    ]


@pytest.mark.parametrize(
    ("test", "missing"),
    [
        (raising("test_x", "f('')"), []),
        (raising("test_x", "f('A')"), ["ValueError for an empty input"]),
        (raising("test_x", "f('')", "KeyError"), ["`ValueError`", "ValueError for an empty input"]),
        (value_test("test_x", "f('')", "0"), ["`ValueError`", "ValueError for an empty input"]),
    ],
)
def test_an_input_that_raises_is_needed_in_a_test_of_that_exception(test: Test, missing: list[str]) -> None:
    assert [str(need) for need in checked(RAISES, test).missing] == missing


def test_a_test_of_what_a_call_does_to_its_argument_holds_the_clause_on_that_alone() -> None:
    unchanged = Clause("the list is not changed", (Need("test", "the list is not changed"),))
    none = Clause("None is dropped", (Need("input", "None"),))
    said = argument_tests([unchanged], [value_test("test_1", "f([None])", "[]")])
    assert checked(unchanged, *said).missing == ()
    assert [str(need) for need in checked(none, *said).missing] == ["None"]


@pytest.mark.parametrize(("given", "held"), [("[]", False), ("['a', '']", True)])
def test_an_empty_list_is_no_empty_string(given: str, held: bool) -> None:
    left_out = Clause("Empty strings are left out", (Need("input", "an empty text"),))
    assert (checked(left_out, value_test("test_x", f"f({given})", "[]")).missing == ()) == held


def test_a_contested_test_of_what_is_missing_makes_the_clause_open() -> None:
    found = checked(RAISES, UPPER, contested=(raising("test_x", "f('')"),))
    assert (found.open, found.standing) == (True, "open")


def test_names_may_be_used_as_attributes_keywords_or_in_the_text_of_a_command() -> None:
    clause = Clause(
        "with pop, key and --quiet", (Need("name", "pop"), Need("name", "key"), Need("name", "--quiet"))
    )
    uses = Test("test_a", "def test_a():\n    assert f(x.pop(), key=1) == run(['--quiet'])\n", "generated")
    assert checked(clause, uses).missing == ()


def test_values_of_loops_helpers_and_texts_are_used_too() -> None:
    loop = "def test_a():\n    for n in (0, -1):\n        with pytest.raises(ValueError):\n            f(n)\n"
    needs = (Need("input", "zero", "ValueError"), Need("input", "a negative number", "ValueError"))
    assert checked(Clause("zero or negative", needs), Test("test_a", loop, "generated")).missing == ()
    helper = "def missing(key):\n    with pytest.raises(KeyError):\n        f(key)"
    uses = Test("test_a", "def test_a():\n    missing('-1.5')\n", "generated", helper)
    kinds = (Need("exception", "KeyError"), Need("input", "a float"), Need("input", "a negative number"))
    assert checked(Clause("raises", kinds), uses).missing == ()


def test_a_value_may_go_in_or_come_out() -> None:
    clause = Clause("return None for an unknown name", (Need("value", "None"),))
    assert checked(clause, value_test("test_a", "f('x')", "None")).missing == ()


def test_edges_are_made_from_the_calls_of_tests_where_no_test_has_them() -> None:
    assert [probed_call(probe) for probe in edge_probes([ROMAN], [UPPER], 4)] == ["f('iv')"]
    assert edge_probes([ROMAN], [UPPER, LOWER], 4) == ()


def test_numbers_and_quoted_texts_of_the_clauses_are_tried() -> None:
    said = Clause("-123 has the digits 2 and 3, 'an' and `\"the\"` are no words (see 1.2.3 and 'or' it's).")
    digits, words = value_test("test_1", "f([3, 11])", "2"), value_test("test_2", "f('a tree')", "1")
    for test, values in ((digits, {"-123", "2, "}), (words, {"'an'", "'the'", "'or'"})):
        calls = [probed_call(each) for each in edge_probes([said], [test], 9)]
        assert len(calls) == len(values)
        assert all(any(value in call for call in calls) for value in values)


def test_lists_of_several_types_are_tried_with_one_of_each_alone() -> None:
    mixed = value_test("test_1", "f([4, 1, None, 2], 2)", "4")
    assert [probed_call(each) for each in edge_probes([], [mixed], 4)] == ["f([4], 2)", "f([None], 2)"]
    assert edge_probes([], [value_test("test_1", "f([4, 1], 2)", "4")], 4) == ()


def test_texts_of_nearly_the_right_form_are_tried_where_the_spec_names_an_exception() -> None:
    raising = Clause("A text that is no date raises ValueError.", (Need("exception", "ValueError"),))
    dated = value_test("test_1", "f('2020-03-01', 2)", "3")
    calls = [probed_call(probe) for probe in odd_probes([raising], [dated], 5)]
    assert calls == ["f('', 2)"] + [
        f"f('{t}', 2)" for t in ("2020-3-01", "2020--03-01", "202003-01", "2020-03-01x")
    ]
    assert odd_probes([Clause("It returns a number.")], [dated], 4) == ()
    assert odd_probes([raising], [value_test("test_1", "f(2)", "3")], 4) == ()


TIES = Clause("ties keep their order", (Need("test", "ties keep their order"),))


def test_a_rule_without_a_word_to_look_for_is_held_by_a_test_that_was_asked_for_it() -> None:
    assert checked(TIES, UPPER).standing == "nothing checks this"
    assert checked(TIES, replace(UPPER, about=TIES.text)).standing == "held by 1 test"


@pytest.mark.parametrize(
    ("spec", "standing"),
    [
        ("f(text) counts. f('IV') == 4. {}.", "nothing checks this"),
        ("f(text) counts. {}. f('IV') == 4.", "held by 1 test"),
        ("f(text) counts. f('IV') == 4. {}, which IV and 4 show.", "held by 1 test"),
        ("f(text) counts. f('IV') == 4. {}, it is 4.", "held by 1 test"),
        ("f(text) counts. f('VI') == 6. {}.", "held by 1 test"),
    ],
)
def test_a_test_that_repeats_an_example_holds_no_rule_that_comes_after_it(spec: str, standing: str) -> None:
    given = read_spec(spec.format("If no hint is there"), origin="argument")
    (rule,) = [clause for clause in clauses(given) if "hint" in clause.text]
    again = replace(UPPER, id="test_part_1", about=rule.text)
    assert checked(rule, replace(UPPER, origin="spec"), again).standing == standing


def test_a_rule_that_ends_in_a_value_is_held_by_a_test_that_expects_it() -> None:
    (clause,) = clauses(read_spec("f(x) doubles x.\n\nIf the result would be odd, it is 7.", origin="argument"))[
        1:
    ]
    other, shown = (replace(value_test("test_9", "f(1)", value), about=clause.text) for value in ("2", "7"))
    assert checked(clause, UPPER, other).would_test == "f(...) == 7, on an input that shows it"
    assert checked(clause, UPPER, shown).standing == "held by 1 test"


def test_two_clauses_that_name_one_exception_need_a_test_each() -> None:
    other = Clause("raise ValueError for other texts", (Need("exception", "ValueError"),))
    empty, strange = raising("test_x", "f('')"), raising("test_y", "f('?')")
    one = clause_checks([RAISES, other], [empty], [], "f")
    assert [check.standing for check in one] == ["held by 1 test", "nothing checks `ValueError`"]
    both = clause_checks([RAISES, other], [empty, strange], [], "f")
    assert [check.missing for check in both] == [(), ()]


# --- what a ruling makes of it -----------------------------------------------------------------------------------

TRUSTED = value_test("test_spec_example_1", "f('IX')", "9", "spec")
FOUR = (A, B, C, D)


def test_a_clause_that_nothing_checks_is_no_success_and_is_asked_for_once() -> None:
    judged = board({TRUSTED: "9", UPPER: "4"}, dict.fromkeys(FOUR, ("9", "4")))
    first = judge(judged, Situation(clauses=(ROMAN,), entry="f", may_draft=False)).ruling
    assert (first.grade, first.next_step) == ("contested", "test")
    assert first.why.startswith("Nothing checks lower case, which the spec asks for.")
    last = judge(judged, Situation(clauses=(ROMAN,), entry="f", may_draft=False, clauses_asked=True)).ruling
    assert (last.grade, last.next_step, last.clauses[0].standing) == (
        "contested",
        "done",
        "nothing checks lower case",
    )
    both = board({TRUSTED: "9", UPPER: "4", LOWER: "4"}, dict.fromkeys(FOUR, ("9", "4", "4")))
    assert judge(both, Situation(clauses=(ROMAN,), entry="f")).ruling.grade == "verified"


def test_an_exception_that_the_spec_does_not_name_rules_no_test_out() -> None:
    refusing = dict.fromkeys(FOUR, ("9", "4", "raise KeyError: 'i'"))
    tests = {TRUSTED: "9", UPPER: "4", LOWER: "4"}
    plain = judge(board(tests, refusing), Situation()).ruling
    named = judge(board(tests, refusing), Situation(clauses=(RAISES,), entry="f")).ruling
    assert [entry.standing for entry in (plain.ledger[2], named.ledger[2])] == ["ruled out", "contested"]


def by_status(*statuses: str) -> RecordedBoard:
    """A board of `raising` and a trusted test that all pass, by the status of each draft on the first."""
    test = raising("test_x", "f('')")
    verdicts = tuple(
        Verdict("failed", (Outcome(TRUSTED.id, "passed"), Outcome("test_x", status)))  # type: ignore[arg-type]
        for status in statuses
    )
    return RecordedBoard(FOUR[: len(statuses)], (TRUSTED, test), verdicts)


def test_drafts_that_raise_something_else_than_the_spec_names_are_followed_by_nobody() -> None:
    situation = Situation(clauses=(RAISES,), entry="f")
    assert judge(by_status("error", "error", "error", "passed"), situation).ruling.leader == D.id
    assert judge(by_status("failed", "failed", "failed", "passed"), situation).ruling.leader == A.id


def test_a_test_of_a_named_exception_that_all_drafts_fail_is_told_to_the_next_ones() -> None:
    situation = Situation(clauses=(RAISES,), entry="f", clauses_asked=True, may_compare=False)
    decision = judge(by_status(*["error"] * 4), situation)
    assert (decision.ruling.grade, decision.ruling.next_step) == ("contested", "redraft")
    assert [test.id for test in decision.tell] == ["test_x"]
    again = Situation(
        clauses=(RAISES,), entry="f", clauses_asked=True, may_draft=False, told=frozenset({"test_x"})
    )
    assert judge(by_status(*["error"] * 4), again).ruling.next_step == "done"


def probed(probe: Test, raised: str) -> RecordedBoard:
    verdict = Verdict("failed", (Outcome(probe.id, "error", raised),))
    return RecordedBoard(FOUR, (probe,), (verdict,) * 4)


def test_a_probe_that_ends_in_an_exception_that_the_spec_does_not_name_is_no_success_and_asked_first() -> None:
    (probe,) = probes_of({"f([None])": "from user_code import f\n"})
    judged = board({TRUSTED: "9", UPPER: "4", LOWER: "4"}, dict.fromkeys(FOUR, ("9", "4", "4")))
    met = replace(RAISES, needs=RAISES.needs[:1])
    held = [raising("test_x", "f('')")]
    verdicts = tuple(
        replace(each, outcomes=(*each.outcomes, Outcome("test_x", "passed"))) for each in judged.verdicts
    )
    judged = RecordedBoard(judged.candidates, (*judged.tests, *held), verdicts)

    def ruled(raised: str, *clauses: Clause) -> Ruling:
        return judge(judged, Situation(probed(probe, raised), clauses, "f", clauses_asked=True)).ruling

    found = ruled("IndexError: list index out of range", met)
    assert found.grade == "contested"
    assert found.why.startswith("It raises IndexError for f([None]), an exception that the spec does not name.")
    assert (found.disputes[0].question, found.disputes[0].answers) == ("f([None])", ("raises IndexError",))
    assert ruled("ValueError: no number", met).grade == "verified"
    assert ruled("IndexError: list index out of range").grade == "verified", "the spec names no exception at all"


def test_an_exception_that_an_answer_names_is_named() -> None:
    answer = replace(raising("test_spec_example_2", "f([])", "IndexError"), origin="spec")
    (probe,) = probes_of({"f([None])": "from user_code import f\n"})
    tests = (TRUSTED, UPPER, LOWER, raising("test_x", "f('')"), answer)
    passed = Verdict("passed", tuple(Outcome(test.id, "passed") for test in tests))
    judged = RecordedBoard(FOUR, tests, (passed,) * 4)
    met = replace(RAISES, needs=RAISES.needs[:1])
    ruling = judge(judged, Situation(probed(probe, "IndexError: no"), (met,), "f", clauses_asked=True)).ruling
    assert ruling.grade == "verified"


def test_code_that_ends_its_tests_by_what_the_spec_names_runs() -> None:
    judged = RecordedBoard(
        FOUR, (UPPER,), (Verdict("failed", (Outcome(UPPER.id, "error", "ValueError: x"),)),) * 4
    )
    assert judge(judged, Situation(clauses=(RAISES,), entry="f")).ruling.grade == "contested"
    assert judge(judged, Situation(entry="f")).ruling.grade == "failed"


@pytest.mark.parametrize(
    ("source", "held"),
    [
        ("assert f('') == True", False),
        ("assert f('') is False", True),
        ("assert not f('')", True),
        ("assert f('') != False", False),
        ("assert f('') == True\n    assert f('ab') is False", False),
    ],
)
def test_an_input_of_which_a_clause_says_what_comes_out_is_held_by_a_test_that_expects_it(
    source: str, held: bool
) -> None:
    """All drafts and a generated test may be wrong alike about it."""
    clause = Clause("An empty text is not one", (Need("input", "an empty text", giving="False"),))
    found = checked(clause, Test("test_1", f"def test_1():\n    {source}\n", "generated"))
    assert (found.standing.startswith("held"), found.would_test) == (held, "" if held else "f(...) == False")


LEFT_OUT = "Items that come to 0 are left out"
SORTED = "The result is in ascending order"
AS_GIVEN = "Items keep the order in which they came"


@pytest.mark.parametrize(
    ("rule", "source", "held"),
    [
        (LEFT_OUT, "assert f({'a': 1, 'b': 2}, {'b': 0}) == {'a': 1, 'b': 2}", False),
        (LEFT_OUT, "assert f({'a': 1, 'b': 2}, {'b': -2}) == {'a': 1}", True),
        (LEFT_OUT, "assert f([1, 2]) == [1, 2]", False),
        (LEFT_OUT, "assert f([1, (0, 1)]) == [1, (1,)]", True),
        (LEFT_OUT, "assert f('a b') == 'A B'", False),
        (LEFT_OUT, "assert f('a b') == 'ab'", True),
        (LEFT_OUT, "assert f([1, 0]) == 1", True),
        (LEFT_OUT, "assert f([1]) == [1]\n    assert f([0]) == []", True),
        ("Items are not left out", "assert f([1]) == [1]", True),
        (SORTED, "assert f([1, 2]) == [1, 2]", False),
        (SORTED, "assert f([2, 1]) == [1, 2]", True),
        (SORTED, "assert f([1, 3], [2]) == [1, 2, 3]", True),
        (SORTED, "assert f(3) == [1, 2, 3]", True),
        ("The given lists are in ascending order", "assert f([1, 2]) == [1, 2]", True),
        (AS_GIVEN, "assert f(['a', 'b']) == ['a', 'b']", False),
        (AS_GIVEN, "assert f(['b', 'a', 'c']) == ['b', 'a', 'c']", True),
        (AS_GIVEN, "assert f([1, 'a']) == [1, 'a']", True),
    ],
)
def test_a_rule_of_what_comes_out_is_held_by_a_result_that_shows_it(rule: str, source: str, held: bool) -> None:
    clause = Clause(rule, (Need("test", rule),))
    found = checked(clause, Test("test_1", f"def test_1():\n    {source}\n", "generated", about=rule))
    assert found.standing.startswith("held") is held


@pytest.mark.parametrize(
    ("rule", "body", "held"),
    [
        ("Calling it twice does no harm", "off()\n    assert f() == 0", False),
        ("Calling it twice does no harm", "off()\n    off()\n    assert f() == 0", True),
        ("An item given twice is kept once", "assert f([1, 2]) == [1, 2]", False),
        ("An item given twice is kept once", "assert f([1, 1]) == [1]", True),
        ("A count of one is written twice", "assert f(1) == '1 1'", True),
        ("If a handler raises, the others still run", "assert f([1]) == [1]", False),
        ("If a handler raises, the others still run", "with pytest.raises(KeyError):\n        f(1 / 0)", True),
        ("Particles such as 'van' or 'de' keep theirs", "assert f('Ada Day') == 'A.D.'", False),
        ("Particles such as 'van' or 'de' keep theirs", "assert f('Jan de Wit') == 'J.d.W.'", True),
    ],
)
def test_a_rule_of_what_is_done_twice_what_raises_or_of_named_texts_is_held_by_a_test_that_has_it(
    rule: str, body: str, held: bool
) -> None:
    clause = Clause(rule, (Need("test", rule),))
    test = Test("test_1", f"def test_1():\n    {body}\n", "generated", about=rule)
    assert checked(clause, test).standing.startswith("held") is held


def test_what_is_beyond_a_limit_that_it_counts_as_is_held_by_a_number_beyond() -> None:
    above, below = (Clause(f"{each} counts as it", (Need("bound", each),)) for each in (">100", "<0"))
    given = [Test("test_1", f"def test_1():\n    assert f({n}) == 'A'\n", "generated") for n in (100, 101, -1)]
    assert [checked(above, each).standing for each in given[:2]] == [
        "nothing checks a number >100",
        "held by 1 test",
    ]
    assert [checked(below, each).is_held for each in given] == [False, False, True]
    assert checked(above, given[0]).would_test == "f(...) == ..., on an input that shows it"


TIED = "Ties are broken by the alphabet"
ROUNDED = "The result is rounded to two decimal places"


@pytest.mark.parametrize(
    ("rule", "other", "held"),
    [
        (TIED, "assert f('a b b') == ['b', 'a']", False),
        (TIED, "assert f('b a') == ['a', 'b']", True),
        (TIED, "assert f('a b b c c') == ['b', 'c', 'a']", False),
        (TIED, "assert f('a c c b b') == ['b', 'c', 'a']", True),
        (TIED, "assert f({'a': 5, 'b': 5}) == 'a'", False),
        (TIED, "assert f({'b': 5, 'a': 5}) == 'a'", True),
        ("If several share it, the first wins", "assert f({'a': 5, 'b': 5}) == 'a'", True),
        ("Names get their share in turn", "assert f([1, 2]) == 'a'", True),
        (TIED, "assert f('aab') == 'a'", False),
        (TIED, "assert f('baab') == 'a'", True),
        (TIED, "assert f({'b': 2, 'a': 1}) == ['b', 'a']", False),
        (TIED, "assert f({'b': 1, 'a': 1}) == ['a', 'b']", True),
        (TIED, "assert f(['apple', 'fig']) == 'apple'", False),
        (TIED, "assert f(['grape', 'fig', 'apple']) == 'apple'", True),
        (TIED, "assert f(['melons', 'grape', 'apple']) == 'melons'", False),
        (TIED, "assert f([('a', 2), ('b', 1), ('c', 1)]) == 'a'", False),
        (TIED, "assert f([('a', 2), ('b', 1), ('c', 2)]) == 'c'", True),
        (TIED, "assert f([3, 1, 1, 3]) == 1", True),
        (TIED, "assert f([3, 1, 1, 3, 1]) == 1", False),
        (TIED, "assert f([('a', 2), ('b', 1)]) == ['a', 'b']", False),
        (TIED, "assert f([{'name': 'b', 'points': 1}, {'name': 'a', 'points': 1}]) == ['a', 'b']", True),
        (ROUNDED, "assert f(1, 2) == 0.5", False),
        (ROUNDED, "assert f(1, 3) == 0.33", True),
    ],
)
def test_a_rule_of_ties_or_rounding_is_held_where_any_test_that_counts_shows_it(
    rule: str, other: str, held: bool
) -> None:
    """The test that is named for it may have been written with other values."""
    clause = Clause(rule, (Need("test", rule),))
    given = "f(1, 1)" if rule == ROUNDED else "f(['a'])"
    own = Test(
        "test_1", f"def test_1():\n    assert {given} == {'1.0' if rule == ROUNDED else ['a']}\n", "generated"
    )
    found = checked(clause, replace(own, about=rule), Test("test_2", f"def test_2():\n    {other}\n", "generated"))
    assert found.standing.startswith("held") is held


@pytest.mark.parametrize(
    ("number", "source", "held"),
    [
        ("100", "assert f(150) == 0", False),
        ("100", "assert f(100) == 0", True),
        ("100", "assert f(100.0) == 0", True),
        ("-2", "assert f(-2) == 0", True),
        ("8", "assert f('abc') is False", False),
        ("8", "assert f('abcdefgh') is True", True),
        ("3", "assert f('a b c d') == 'a b c'", True),
        ("2", "assert f(['a', 'b', 'c']) == ['a', 'b']", True),
        ("18", "assert f('Ann, 18') == 'half'", True),
        ("18", "assert f('Ann, 180') == 'full'", False),
        ("3", "x = Shelf()\n    x.put(7)\n    x.put(7)\n    x.put(7)\n    assert x.all() == 9", True),
        ("3", "x = Shelf()\n    x.put(7)\n    assert x.all() == 9", False),
        ("25.5", "assert f(90) == 25.5", True),
    ],
)
def test_a_number_at_which_something_changes_is_held_by_a_test_that_has_it(
    number: str, source: str, held: bool
) -> None:
    clause = Clause(f"{number} or more", (Need("bound", number),))
    found = checked(clause, Test("test_1", f"def test_1():\n    {source}\n", "generated"))
    assert found.standing == ("held by 1 test" if held else f"nothing checks exactly {number}")


def test_a_limit_of_a_result_is_held_by_a_result_of_that_size() -> None:
    clause = Clause("It has at most 5 characters", (Need("bound", "5"),))
    short, full = (
        Test("test_1", f"def test_1():\n    assert f('abcdefgh') == {text!r}\n", "spec")
        for text in ("abc", "abcde")
    )
    assert [checked(clause, each).is_held for each in (short, full)] == [False, True]


def test_a_line_that_would_test_a_number_has_it() -> None:
    clause = Clause("Orders of 100 or more are free", (Need("bound", "100"),))
    assert checked(clause, value_test("test_1", "f(150)", "0")).would_test == "f(100) == ..."
    assert checked(clause, value_test("test_1", "f(150.5)", "0")).would_test == "f(100.0) == ..."
    assert checked(clause, value_test("test_1", "f('a')", "0")).would_test == (
        "f(...) == ..., on an input that shows it"
    )


@pytest.mark.parametrize(
    ("source", "held"),
    [
        ("assert f('abc', 6) == 'abc'", False),
        ("assert f('abcdef', 6) == 'abcdef'", True),
        ("assert f([1, 2], 2) == [1, 2]", True),
        ("assert f(7, 7) is True", True),
        ("assert f('09:00', '09:00') == 0", True),
        ("assert f('09:00', '09:30') == 30", False),
        ("assert f('a b c', 3) == 'a b c'", True),
        ("with pytest.raises(ValueError):\n        f('abc', 3)", False),
    ],
)
def test_a_limit_that_is_an_argument_is_held_by_a_call_at_it(source: str, held: bool) -> None:
    said = "Write f(text: str, width: int) -> str that shortens a text. It is cut to at most width characters."
    assert clauses(read_spec(said, origin="argument"))[1].needs[:1] == (Need("bound", "width"),)
    clause = Clause("It is cut to at most width", (Need("bound", "width"),))
    standing = checked(clause, Test("test_1", f"def test_1():\n    {source}\n", "generated")).standing
    assert standing == ("held by 1 test" if held else "nothing checks exactly width")


def test_an_argument_that_is_left_unchanged_is_held_by_the_test_of_that() -> None:
    clause = Clause("items is left unchanged", (Need("test", "items is left unchanged"),))
    source = "def test_spec_says_unchanged_1():\n    given = [2, 1]\n    f(given)\n    assert given == [2, 1]\n"
    assert checked(clause, Test("test_spec_says_unchanged_1", source, "spec", about=clause.text)).is_held


def test_a_key_that_occurs_twice_in_a_text_is_a_repeated_item() -> None:
    rule = "If a key occurs twice, the last one wins"
    clause = Clause(rule, (Need("test", rule),))
    held = Test("test_1", "def test_1():\n    assert f('a=1\\na=2') == {'a': '2'}\n", "generated", about=rule)
    assert checked(clause, held).is_held


def test_what_stays_as_it_was_is_held_by_a_test_that_looks_at_it() -> None:
    rule = "Withdrawing too much raises ValueError and leaves the balance as it was"
    clause = Clause(rule, (Need("test", rule),))
    refused = "x = Account()\n    with pytest.raises(ValueError):\n        x.withdraw(9)\n"
    tests = [
        Test("test_1", f"def test_1():\n    {refused}{then}", "generated", about=rule)
        for then in ("", "    assert x.balance() == 0\n")
    ]
    assert [checked(clause, test).standing.startswith("held") for test in tests] == [False, True]
