"""What becomes of a test, by how it ended in the four runs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agents.audit.base import Base, around, places_of
from agents.audit.base import TestPlace as Place
from agents.audit.noticed_answers import Duller, Side
from agents.audit.records import Change
from agents.audit.trial import reason
from agents.audit.two_by_two import TwoByTwo, normal_id, settled
from agents.repository.suite import SuiteRun
from agents.repository.suite import TestRun as Ended
from agents.worktree.tree import Tree


def run(**outcomes: str) -> SuiteRun:
    tests = {f"t.py::{name}": Ended(outcome) for name, outcome in outcomes.items() if outcome}
    return SuiteRun(tests, "ended")


def ruled(base: str, contract: str, now: str, shown: str) -> list[str]:
    """The statuses where the test ended so; empty: it was not there."""
    four = TwoByTwo(run(test_a=base), run(test_a=contract), run(test_a=now), run(test_a=shown), {}, {})
    return [change.status for change in four.changes()]


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (("passed", "passed", "passed", "passed"), ["kept"]),
        (("passed", "passed", "passed", "failed"), ["kept"]),
        (("passed", "failed", "passed", "passed"), ["weaker"]),
        (("passed", "", "passed", "passed"), ["weaker"]),
        (("passed", "failed", "passed", "failed"), ["expects otherwise"]),
        (("passed", "", "passed", ""), ["expects otherwise"]),
        (("passed", "failed", "failed", "failed"), ["broken"]),
        (("passed", "passed", "failed", "passed"), ["broken"]),
        (("passed", "passed", "skipped", "skipped"), ["gone"]),
        (("passed", "failed", "", ""), ["gone"]),
        (("failed", "failed", "failed", "failed"), []),
        (("failed", "failed", "", ""), []),
        (("failed", "passed", "passed", "failed"), ["fixed"]),
        (("skipped", "skipped", "passed", "passed"), ["kept"]),
        (("", "", "passed", "failed"), ["new"]),
        (("", "", "passed", ""), ["new"]),
        (("", "", "passed", "passed"), ["shows nothing"]),
        (("", "", "failed", "failed"), ["broken"]),
        (("", "", "skipped", "skipped"), []),
    ],
)
def test_the_status_follows_from_the_four_outcomes(ended: tuple[str, str, str, str], status: list[str]) -> None:
    assert ruled(*ended) == status


def test_a_fixture_touches_the_tests_below_its_folder_and_a_helper_those_of_its_file() -> None:
    here = "def test_a():\n    assert step() == 1\n"
    fixture = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef fixed(monkeypatch):\n    pass\n"
    old = Tree(Path(), dict.fromkeys(["tests/test_a.py", "tests/test_b.py", "test_c.py"], here.encode()))
    new = Tree(Path(), {**old.files, "tests/conftest.py": fixture.encode()})
    ran = SuiteRun({f"{path}::test_a": Ended("passed") for path in old.files}, "ended")
    places = places_of(old), places_of(new)
    by_fixture = TwoByTwo(ran, ran, ran, ran, *places, around=["tests/conftest.py"]).touched
    assert by_fixture == {"tests/conftest.py::fixed", "tests/test_a.py::test_a", "tests/test_b.py::test_a"}
    by_helper = TwoByTwo(ran, ran, ran, ran, *places, around=["tests/test_b.py"]).touched
    assert by_helper == {"tests/conftest.py::fixed", "tests/test_b.py::test_a"}


def test_a_test_that_is_gone_is_kept_only_if_it_was_compared_and_nothing_it_noticed_is_missed() -> None:
    four = TwoByTwo(run(test_a="passed"), run(test_a="passed"), run(), run(), {}, {})
    changes = [*four.changes()]
    missed = Change("a.py", 1, "x", "y", noticed_before="t.py::test_a")
    assert [each.status for each in settled(changes, [], {}, lambda name: True)] == ["kept"]
    assert [each.status for each in settled(changes, [], {}, lambda name: False)] == ["gone"]
    assert [each.status for each in settled(changes, [missed], {}, lambda name: True)] == ["gone"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("E   AttributeError: 'Cart' object has no attribute 'total'", "expects otherwise"),
        ("E   inside.absent_names.Absent: no `total`", "expects otherwise"),
        ("E   AttributeError: 'Cart' object has no attribute 'size'", "gone"),
        ("E   AssertionError: no attribute 'total'\nE   AttributeError: no attribute 'size'", "gone"),
        ("E   assert 1 == 2", "gone"),
    ],
)
def test_a_test_that_goes_with_what_it_tests_is_for_a_person_to_look_at(said: str, status: str) -> None:
    contract = SuiteRun({"t.py::test_a": Ended("failed", said)}, "ended")
    four = TwoByTwo(run(test_a="passed"), contract, run(), run(), {}, {}, (), {"total"})
    assert [change.status for change in four.changes()] == [status]


def test_a_kept_test_is_weaker_if_it_can_not_fail_any_more_or_misses_what_it_noticed() -> None:
    passed = run(test_a="passed")
    four = TwoByTwo(passed, passed, passed, passed, {}, {})
    changes = [*four.changes()]
    missed = Change("a.py", 1, "x", "y", noticed_before="t.py::test_a")
    assert [each.status for each in settled(changes, [missed], {}, lambda name: True)] == ["weaker"]
    assert [each.status for each in settled(changes, [], {"t.py::test_a": "no"}, lambda name: True)] == ["weaker"]


def test_where_no_time_is_left_no_rewritten_test_is_compared() -> None:
    side = Side(SimpleNamespace(left=0.0), ())  # type: ignore[arg-type]
    assert Duller(side, side, {"test_a": "test_a", "test_b": "test_c"}, {"test_b"}).found(()) == ({}, {"test_a"})


def test_a_hash_is_no_answer_that_a_test_notices() -> None:
    side = Side(SimpleNamespace(left=9.0), ("test_a",))  # type: ignore[arg-type]
    crossings, questions = ("f", "Key.__hash__", "f"), ("1", "2", "3")
    side.__dict__["recorded"] = {"test_a": Ended("passed", crossings=crossings, questions=questions, crossed=3)}
    assert side.answers("test_a") == {("f", 0): 0, ("f", 1): 2}


@pytest.mark.parametrize(
    ("is_compared", "slower", "status"),
    [
        (True, "", "kept"),
        (True, ", as all take 40 s", "kept"),
        (False, "", "not compared"),
        (False, "x", "weaker"),
    ],
)
def test_a_test_that_there_was_no_time_to_compare_is_not_kept(is_compared: bool, slower: str, status: str) -> None:
    passed = run(test_a="passed", test_b="passed")
    changes = [*TwoByTwo(passed, passed, passed, passed, {}, {}).changes()]
    ruled = settled(changes, [], {}, lambda name: is_compared, {"t.py::test_a"}, slower)
    assert [each.status for each in ruled] == [status, "kept"]


def test_a_test_with_the_same_text_or_name_elsewhere_is_the_same_one() -> None:
    def place(body: str) -> Place:
        return Place(1, body, body, body)

    old = {"t.py::test_a": place("x"), "t.py::test_b": place("y")}
    new = {"u.py::test_c": place("x"), "u.py::test_b": place("z")}
    now = SuiteRun({"u.py::test_c": Ended("passed"), "u.py::test_b": Ended("passed")}, "ended")
    before = run(test_a="passed", test_b="passed")
    four = TwoByTwo(before, before, now, SuiteRun({}, "ended"), old, new)
    assert [(each.id, each.status) for each in four.changes()] == [
        ("t.py::test_a", "kept"),
        ("t.py::test_b", "kept"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (["a"], {"a[1]": "passed", "a[2]": "passed"}, ["kept"]),
        (["a"], {"a[1]": "skipped", "a[2]": "passed"}, ["kept"]),
        (["a"], {"a[NOTSET]": "skipped"}, ["gone"]),
        (["A::a"], {"a[1]": "passed"}, ["kept"]),
        (["a[1]", "a[2]"], {"a": "passed"}, ["kept", "kept"]),
        (["a[1]", "a[2]"], {"a[1]": "passed"}, ["kept", "gone"]),
        (["a"], {"b[1]": "passed"}, ["gone"]),
    ],
)
def test_a_test_that_has_cases_now_or_has_none_any_more_is_the_same_one(
    before: list[str], after: dict[str, str], status: list[str]
) -> None:
    def places(names: Iterable[str]) -> dict[str, Place]:
        return {f"t.py::{name.partition('[')[0]}": Place(1, *[str(names)] * 3) for name in names}

    old, now = run(**dict.fromkeys(before, "passed")), run(**after)
    four = TwoByTwo(old, old, now, SuiteRun({}, "ended"), places(before), places(["other", *after]))
    assert [change.status for change in four.changes()][: len(status)] == status


@pytest.mark.parametrize(
    ("other", "why"), [("skipped", "it is skipped now, or a failure is expected"), ("passed", "")]
)
def test_cases_are_skipped_where_all_that_are_left_are(other: str, why: str) -> None:
    place = {"t.py::test_a": Place(1, *["def test_a(text): pass"] * 3)}
    old, now = run(**{"test_a[1]": "passed"}), run(**{"test_a[NOTSET]": "skipped", "test_a[2]": other})
    change = next(TwoByTwo(old, old, now, now, place, place).changes())
    assert (change.status, change.why) == ("gone", why)


def test_many_cases_that_all_expect_otherwise_are_ruled_in_time() -> None:
    def side(more: int, outcome: str) -> tuple[SuiteRun, dict[str, Place]]:
        rows = [f"('{n}', {n + more})" for n in range(800)]
        ended = SuiteRun({f"t.py::test_a[{row}]": Ended(outcome) for row in rows}, "ended")
        told = ",\n".join(rows)
        text = f"@pytest.mark.parametrize('text, number', [\n{told}])\ndef test_a(text, number):\n    pass"
        return ended, {"t.py::test_a": Place(1, text, "", text)}

    (base, old), (contract, _), (now, new) = side(0, "passed"), side(0, "failed"), side(1, "passed")
    began = time.monotonic()
    changes = [*TwoByTwo(base, contract, now, side(1, "failed")[0], old, new).changes()]
    assert ({each.status for each in changes[:800]}, changes[0].diff[-1]) == ({"expects otherwise"}, "...")
    assert time.monotonic() - began < 20


def test_a_class_that_inherits_from_the_name_that_it_stands_in_is_read() -> None:
    text = (
        "class Model(models.Model):\n    class Inner(models.Model):\n        def test_a(self):\n            pass\n"
    )
    assert "test_a.py::Model::Inner::test_a" in places_of(Tree(Path(), {"test_a.py": text.encode()}))


def test_a_test_of_any_name_has_a_place() -> None:
    """`python_functions` may say so."""
    assert [*places_of(Tree(Path(), {"test_a.py": b"def it_works(): pass"}))] == ["test_a.py::it_works"]


def test_the_numbers_of_objects_in_ids_are_left_out() -> None:
    assert normal_id("t.py::test_a1[1-expected3-%Y2]") == "t.py::test_a1[1-expected-%Y2]"
    assert normal_id("t.py::test_a1[first0]") == normal_id("t.py::test_a1[first12]")
    assert normal_id("t.py::test_a1[10]") != normal_id("t.py::test_a1[11]")
    one, two, three, four = (SuiteRun({f"t.py::test_a[it{n}]": Ended("passed")}, "ended") for n in range(4))
    assert [change.status for change in TwoByTwo(one, two, three, four, {}, {}).changes()] == ["kept"]


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ("('7', 700), ('1', 200)", "expects otherwise"),
        ("('7', 700), ('', 0)", "gone"),
        ("('7', 700)", "gone"),
    ],
)
def test_a_case_that_is_gone_and_fails_has_to_have_a_case_with_its_arguments_in_its_place(
    rows: str, status: str
) -> None:
    def side(cases: str, *outcomes: str) -> tuple[SuiteRun, dict[str, Place]]:
        text = f"@pytest.mark.parametrize('text, cents', [{cases}])\ndef test_a(text, cents):\n    pass"
        ids = [f"t.py::test_a[{each}]" for each in re.findall(r"'(\d*', \d+)", cases)]
        return SuiteRun(dict(zip(ids, map(Ended, outcomes), strict=True)), "ended"), {
            "t.py::test_a": Place(1, text, "", text)
        }

    base, old = side("('7', 700), ('1', 100)", "passed", "passed")
    contract, _ = side("('7', 700), ('1', 100)", "passed", "failed")
    now, new = side(rows, *["passed"] * rows.count("("))
    shown, _ = side(rows, *["passed", "failed"][: rows.count("(")])
    assert [change.status for change in TwoByTwo(base, contract, now, shown, old, new).changes()][:2] == [
        "kept",
        status,
    ]


@pytest.mark.parametrize(("shown", "status"), [("100", "gone"), ("200", "expects otherwise")])
def test_a_case_that_follows_the_code_is_no_other_expectation(shown: str, status: str) -> None:
    def side(cents: str, outcome: str) -> tuple[SuiteRun, dict[str, Place]]:
        text = f"@pytest.mark.parametrize('text, cents', [('1', {cents})])\ndef test_a(text, cents):\n    pass"
        ended = SuiteRun({f"t.py::test_a[1-{cents}]": Ended(outcome)}, "ended")
        return ended, {"t.py::test_a": Place(1, text, "", text)}

    (base, old), (contract, _) = side("100", "passed"), side("100", "failed")
    (now, new), (on_old, _) = side("200", "passed"), side(shown, "passed" if shown == "100" else "failed")
    first, *_ = TwoByTwo(base, contract, now, on_old, old, new).changes()
    assert first.status == status
    assert ("their cases come from it" in first.why) == (status == "gone")


@pytest.mark.parametrize(("now", "status"), [("cows", "expects otherwise"), ("cats", "gone")])
def test_a_case_of_one_value_may_have_the_one_that_others_expect_now(now: str, status: str) -> None:
    def ended(plural: str, *outcomes: str) -> SuiteRun:
        same = plural if plural == "kine" else now
        names = [f"t.py::test_plural[cow-{plural}]", f"t.py::test_same[{same}]", f"t.py::test_back[cow-{same}]"]
        return SuiteRun(dict(zip(names, map(Ended, outcomes), strict=True)), "ended")

    places = {f"t.py::test_{name}": Place(1, "", "", "") for name in ("plural", "same", "back")}
    runs = (
        ended("kine", *["passed"] * 3), ended("kine", *["failed"] * 3),
        ended("cows", *["passed"] * 3), ended("cows", "failed", "passed", "passed"),
    )  # fmt: skip
    found = {change.id: change.status for change in TwoByTwo(*runs, places, places).changes()}
    assert found["t.py::test_plural[cow-kine]"] == "expects otherwise"
    assert (found["t.py::test_same[kine]"], found["t.py::test_back[cow-kine]"]) == (status, status)


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("", "class TestB(Case):\n    def test_b(self):\n        pass\n", False),
        ("class TestB(Case):\n    def test_b(self):\n        pass\n", "", False),
        ("", "class TestB(Case):\n    def setUp(self):\n        pass\n", True),
        ("class TestB(Case):\n    pass\n", "class TestB(Other):\n    pass\n", True),
        ("", "a.b = 1\n", True),
        ("", "import a\n", False),
        ("from a import b, c\n", "import d\nfrom a import c, b\n", False),
        ("from a import b\n", "from d import b\n", True),
        ("import a as b\n", "import d as b\n", True),
        ("from a import b\n", "from a import b\nfrom d import *\n", True),
        ("def test_b():\n    pass\n", "def test_b():\n    return\n", False),
        ("def test_c():\n    pass\n", "def test_c():\n    return\n", True),
    ],
)
def test_what_stands_around_tests_are_no_tests_that_come_or_go_and_names_that_come_from_elsewhere(
    old: str, new: str, differs: bool
) -> None:
    path = "tests/test_a.py"
    before, now = (Tree(Path(), {path: text.encode()}) for text in (old, new))
    assert (around(now, Base(before, {}, (path,)), {"test_b"}) == (path,)) is differs


def test_a_failure_is_told_by_the_error_that_ended_it_and_not_by_one_that_this_came_from() -> None:
    text = "E   KeyError: 'a'\n\nDuring handling of it, another one:\nE   ValueError: no a\nE   and more\n\na.py:3"
    assert reason(Ended("failed", text)) == "ValueError: no a"
    text = 'E     File "a.py", line 7\nE       <<<<<<< HEAD\nE   SyntaxError: invalid syntax'
    assert reason(Ended("failed", text)) == 'File "a.py", line 7: SyntaxError: invalid syntax'
    assert [reason(Ended("failed", "it ended")), reason(Ended("missing"))] == ["it ended", "missing"]
    assert reason(Ended("failed", "async functions need a plugin:\n  - anyio\n  - twisted")).startswith(
        "async fun"
    )
    assert reason(Ended("failed", "001 >>> f()\nExpected:\n    1\n\na.py:1: DocTestFailure")).startswith("a.py:1")


def test_a_test_that_fails_at_times_on_the_new_code_alone_is_broken() -> None:
    side = SuiteRun({"t.py::test_a": Ended("passed", called=("a.py::1",))}, "ended")
    four, name = TwoByTwo(side, side, side, side, {}, {}), "t.py::test_a"
    assert (four.calling({"a.py"}, {name}), four.calling({"b.py"}, {name})) == ([name], [])
    [change] = four.failing([name]).changes()
    assert (change.status, "fails at times" in change.why) == ("broken", True)
