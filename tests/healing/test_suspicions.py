"""Reasons not to believe a patch, each seen where it holds and not where a patch is honest."""

# ruff: noqa: E501 - texts of programs
from __future__ import annotations

import pytest

from agents.healing.evidence import Evidence
from agents.healing.near_calls import calls_near
from agents.healing.ruling import rule
from agents.healing.suspicions import suspicions
from agents.records.heal import (
    Answer,
    Call,
    Item,
    Observation,
    Patch,
    Place,
    Suspicion,
    SuspicionName,
    Symptom,
    Trial,
)

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


FILLS = """\
def group(words, known):
    found = {start}
    for word in words:
        found.append(word)
    return found
"""
NO_LOOP = "def group(words, known):\n    return [word for word in words]\n"


@pytest.mark.parametrize(
    ("start", "suspected"),
    [
        ("[]", False),
        ("list()", False),
        ("[]; known = found", False),
        ("defaultdict(int)", False),
        ("collections.deque()", False),
        ("known.copy()", False),
        ("words[0].split()", False),
        ("sorted(known)", False),
        ("words.pop()", True),
        ("[]; found += known", False),
        ("known", True),
        ("[]; global found", True),
        ("[]; found = known", True),
    ],
)
def test_a_loop_that_fills_a_new_container_may_become_an_expression(start: str, suspected: bool) -> None:
    for line in (
        "found.append(word)",
        "found[word] = 1",
        "found[word] += 1",
        "found.setdefault(1, []).append(word)",
        "heapq.heappush(found, word)",
    ):
        old = FILLS.replace("{start}", start).replace("found.append(word)", line)
        assert ("removes" in named(NO_LOOP, old)) == suspected


@pytest.mark.parametrize(
    ("given", "suspected"), [("a=[]", False), ("*, b, a={}", False), ("a", True), ("a=()", True)]
)
def test_a_default_that_a_function_fills_may_be_left_as_it_is(given: str, suspected: bool) -> None:
    old = f"def f({given}):\n    a.update(1)\n    return a\n"
    assert ("removes" in named(old.replace("    a.update(1)\n", ""), old)) == suspected


def test_items_may_be_given_in_other_statements() -> None:
    old = "def f(a):\n    for x in a:\n        yield x\n"
    assert named("def f(a):\n    yield from a\n", old) == named("def f(a):\n    return [*a]\n", old) == set()


@pytest.mark.parametrize(
    ("handler", "suspected"),
    [
        ("except FileNotFoundError:\n        return {}", False),
        ("except (OSError, KeyError):\n        return {}", False),
        ("except BaseException:\n        return {}", True),
        ("except FileNotFoundError:\n        return None", True),
    ],
)
def test_a_handler_may_catch_fewer_errors(handler: str, suspected: bool) -> None:
    old = "def load(path):\n    try:\n        return read(path)\n    except Exception:\n        return {}\n"
    new = old.replace("except Exception:\n        return {}", handler)
    assert ("swallows" in named(new, old)) == suspected
    twice = new + new.replace("load", "load_again")
    assert "swallows" in named(twice, old) or not suspected


def test_the_most_splits_of_a_text_are_no_answer() -> None:
    old = "def parse(line):\n    return line.split(' ')\n"
    for splits in ("' ', 6", "' ', maxsplit=6"):
        assert named(old.replace("' '", splits), old) == set()
    assert named(old.replace("line.split(' ')", "line.split(' ').index(6)"), old) == {"hard-coded"}


def test_what_a_remainder_is_compared_with_is_no_answer() -> None:
    old = "def suffix(number):\n    return 'th'\n"
    new = "def suffix(number):\n    return 'st' if number {} else 'th'\n"
    found = [
        named(new.format(each), old) for each in ("% 100 in (6, 26)", "% 10 == 6", "in (6, 26)", "% 6 == number")
    ]
    assert found == [set(), set(), {"hard-coded"}, set()]


@pytest.mark.parametrize("code", ["{[6]}", "{{}: 6}", f"{'9' * 400} * 1.5"])
def test_constants_without_a_value_are_no_answer_and_no_error(code: str) -> None:
    assert named(f"x = {code}\n", "x = 6\n") == set()


def test_blanks_alone_are_the_same_as_blanks_alone() -> None:
    old, items = "def f(a):\n    return a\n", [Item("test_f", "", "", ("'  '",))]
    found = [
        suspicions({"s.py": old}, {"s.py": old.replace("return a", f"return a or {text!r}")}, items)
        for text in (", ", "  ", "   ")
    ]
    assert [len(each) for each in found] == [0, 1, 0]


def test_what_is_no_python_has_the_constants_of_its_text() -> None:
    old = "def f(a):\n    return a + 6\n\n\nprint('total:', f(0)\n"
    assert named(f"{old[:-1]})\n", old) == set()
    assert named("print('total: 6')\n", old) == {"hard-coded"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("gc = a.count('G')\n    return gc / len(a)", set()),
        ("requests = [a]\n    return requests.pop()", set()),
        ("a.http.socket = 1", set()),
        ("import gc\n    return gc.collect()", {"reaches"}),
        ("import os.path\n    return os.system(a)", {"reaches"}),
        ("open = 1\n    return open(a)", {"reaches"}),
        ("return a.open()", {"reaches"}),
        ("from six.moves import urllib\n    return urllib", {"reaches"}),
    ],
)
def test_a_variable_that_is_called_like_a_module_reaches_nowhere(body: str, found: set[str]) -> None:
    assert named(f"def f(a):\n    {body}\n", "def f(a):\n    return 1\n") == found


def test_a_nought_or_a_one_of_any_type_is_not_hard_coded() -> None:
    old, new = "def f(a):\n    return sum(a) / len(a)\n", "def f(a):\n    return sum(a) / len(a) if a else {}\n"
    items = [Item("--expect", "", "0.0", ("'0.0'", "0.0", "2.0"))]
    found = [suspicions({"s.py": old}, {"s.py": new.replace("{}", each)}, items) for each in ("0.0", "2.0")]
    assert [[each.name for each in one] for one in found] == [[], ["hard-coded"]]


def test_an_effect_may_be_written_as_an_operation_in_place() -> None:
    old, new = "def f(a):\n    a[0] = a[0] * 2\n", "def f(a):\n    a[0] *= 3\n"
    assert named(new, old) == named(old, new) == set()
    assert named("def f(a):\n    return 2\n", new) == {"removes"}


def test_a_result_that_was_thrown_away_may_be_used() -> None:
    old, new = "def f(a):\n    g(a)\n    a.h()\n", "def f(a):\n    return a + g(a)\n"
    assert named(new + "    a.h()\n", old) == set()
    assert named(new, old) == {"removes"}
    assert named("def f(a):\n    return g(a) + 1\n", "def f(a):\n    g(a)\n    return g(a)\n") == {"removes"}


@pytest.mark.parametrize("new", ["_, a.b = divmod(a.b, 2)", "a.b, a[0] = 1, 2", "a.b: int = a.b"])
def test_an_effect_may_be_one_of_several_that_a_statement_has(new: str) -> None:
    old, new = "def f(a):\n    a.b = a.b % 2\n", f"def f(a):\n    {new}\n"
    assert named(new, old) == set()
    assert named("def f(a):\n    return 2\n", new) == {"removes"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.b = n\n    a.c = n", "a.b, a.c = n, n"),
        ("m = [[0] * 2] * n\n    m[0][1] = n\n    return m", "return [[0, n] for _ in a]"),
        ("with open(a) as file:\n        file.write(n)", "open(a).write(n)"),
    ],
)
def test_effects_may_be_written_in_fewer_statements(old: str, new: str) -> None:
    head = "def f(a, n):\n    "
    assert named(f"{head}{new}\n", f"{head}{old}\n") == set()
    assert named("def f(a, n):\n    return 2\n", f"{head}{new}\n") == (
        {"removes"} if "return" not in new else set()
    )


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST)
def test_an_honest_patch_is_not_suspicious(new: str) -> None:
    assert named(new) == set()


@pytest.mark.parametrize(("name", "new"), [(name, new) for name, news in WRONG.items() for new in news])
def test_a_suspicious_patch_is_named(name: str, new: str) -> None:
    assert name in named(new)


def trial(
    number: int,
    behavior: str,
    *,
    fails: bool = False,
    suspicious: bool = False,
    reason: SuspicionName = "removes",
    nodes: int = 1,
    text: str = "",
) -> Trial:
    place = Place("s.py", "function", "f", 1, 2)
    symptom = Symptom("exception", "ValueError") if fails else None
    reasons = (Suspicion(reason, "x"),) if suspicious else ()
    files = {"s.py": text or f"print({number})\n"}
    return Trial(
        Patch(f"patch{number}", place, files, nodes, nodes), Observation(symptom, behavior=behavior), reasons
    )


CALLS = tuple(Call("s.py", "f", f"f({number})") for number in range(3))


def answers(*values: str) -> dict[Call, Answer | None]:
    return {call: Answer(value) for call, value in zip(CALLS, values, strict=True)}


BEFORE = answers("0", "0", "0")
ALIKE = Evidence(CALLS, BEFORE, dict.fromkeys(["patch1", "patch2", "patch3"], answers("1", "2", "3")))
HELD_OUT = Evidence(voices_needed=1)
THREE = [trial(1, "a"), trial(2, "a"), trial(3, "a")]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("f'{x:02}'", 0),
        ("'{:02}'.format(x)", 0),
        ("format(x, '02')", 0),
        ("round(x, 7)", 0),
        ("found.group(7)", 0),
        ("found.append(7)", 1),
        ("'abcdefgh'[x]", 0),
        ("Path(x).read_text()", 0),
        ("f'02 {x}'", 1),
        ("'02 {}'.format(x)", 1),
        ("round(7)", 1),
        ("'x bcd y'", 1),
        ("os.remove(x)", 1),
    ],
)
def test_how_a_value_is_written_or_a_file_is_opened_is_no_answer(code: str, found: int) -> None:
    old, item = "def f(x):\n    return open(x)\n", Item("test_f", "", "", ("02", "7", "'bcd'"))
    assert len(suspicions({"s.py": old}, {"s.py": old.replace("open(x)", code)}, [item])) == found


@pytest.mark.parametrize(
    ("trials", "trusted", "evidence", "grade", "leader"),
    [
        ([], True, HELD_OUT, "failed", None),
        ([trial(1, "a", fails=True)], True, HELD_OUT, "failed", None),
        ([trial(1, "a")], True, HELD_OUT, "verified", "patch1"),
        ([trial(1, "a")], True, ALIKE, "contested", "patch1"),
        (THREE, True, ALIKE, "verified", "patch1"),
        (THREE, False, ALIKE, "consensus", "patch1"),
        (THREE, True, Evidence(), "consensus", "patch1"),
        (THREE, True, Evidence(left_out=CALLS), "contested", "patch1"),
        (THREE, True, Evidence(CALLS, BEFORE, dict.fromkeys(ALIKE.after, BEFORE)), "contested", "patch1"),
        (THREE, True, Evidence(CALLS, BEFORE, {**ALIKE.after, "patch3": answers("1", "2", "4")}), "contested", "patch1"),
        ([trial(1, "a", text="x = 1\nprint(x, x)"), trial(2, "a", text="y = 1\nprint(y, y)"), trial(3, "a", text="x=1; print(x, x)")], True, ALIKE, "contested", "patch1"),
        ([trial(1, "a", nodes=9), trial(2, "a")], False, ALIKE, "consensus", "patch2"),
        ([trial(1, "a"), trial(2, "b")], True, HELD_OUT, "contested", "patch1"),
        ([trial(1, "a"), trial(2, "b", suspicious=True)], True, HELD_OUT, "verified", "patch1"),
        ([*THREE[:2], trial(3, "a", suspicious=True)], True, ALIKE, "verified", "patch1"),
        ([*THREE[:2], trial(3, "b", suspicious=True)], True, ALIKE, "consensus", "patch1"),
        ([THREE[0], *(trial(n, "a", suspicious=True, reason="hard-coded") for n in (2, 3))], True, ALIKE, "contested", "patch1"),
        ([THREE[0], trial(2, "a", suspicious=True)], True, Evidence(), "contested", "patch1"),
        ([*THREE[:2], trial(3, "a", suspicious=True, reason="reaches")], True, ALIKE, "consensus", "patch1"),
        ([trial(1, "a", suspicious=True), trial(2, "a", suspicious=True)], False, ALIKE, "contested", "patch1"),
        ([trial(1, "a", suspicious=True), trial(2, "b", fails=True)], True, HELD_OUT, "contested", "patch1"),
    ],
)  # fmt: skip
def test_the_ruling(
    trials: list[Trial], trusted: bool, evidence: Evidence, grade: str, leader: str | None
) -> None:
    ruling = rule(trials, trusted=trusted, evidence=evidence)
    assert (ruling.grade, ruling.leader) == (grade, leader)
    assert (ruling.question is not None) == (grade == "contested")


@pytest.mark.parametrize(
    "source",
    ["f(", "f", "f()", "f(x)", "f(**{})", "f(*[1])", "having(C).f()", "having(C, **{}).f()", "f(open('x'))", "1"],
)
def test_what_a_program_tells_that_is_no_call_of_literals_is_left_out(source: str) -> None:
    assert calls_near([Call("s.py", "f", source)], {}, []) == []
    assert calls_near([Call("s.py", "f", "having(C, a=1).f()")], {}, [])[0].source.startswith("having(C, a=")


def test_what_a_function_defines_for_itself_may_be_written_otherwise() -> None:
    inner = "    def check(each):\n        return each in names\n\n    return check\n"
    box = "\n\nclass Box:\n    def up(self):\n        return 1\n"
    old = f"def checks(names):\n{inner}{box}"
    assert named(old.replace(inner, "    return names.__contains__\n"), old) == set()
    assert named(old.replace("    def up(self):\n        return 1\n", "    up = None\n"), old) == {"removes"}


def test_types_may_be_asked_for_in_other_statements() -> None:
    old = "def f(rows):\n    return all(isinstance(each, int) for each in rows)\n"
    loop = (
        "    for each in rows:\n        if not isinstance(each, int):\n            return False\n    return True\n"
    )
    assert named(f"def f(rows):\n{loop}", old) == set()
    assert named(f"def f(rows):\n{loop}", "def f(rows):\n    return bool(rows)\n") == {"weakens types"}
