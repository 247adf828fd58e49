"""Code and tests in two processes behave as they do in one: a file of tests in many styles, and planted bugs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.records import Candidate, Verdict
from agents.sandbox import open_sandbox
from agents.suite import split
from agents.verifier import Verifier

CODE = Path(__file__).with_name("behaviour_code.txt").read_text("utf-8")
TESTS = Path(__file__).with_name("behaviour_tests.txt").read_text("utf-8")

BUGS = {
    "test_mutable_default": ("acc.append(x); return acc", "return acc + [x]"),
    "test_box": ("def __len__(self): return len(self._items)", "def __len__(self): return 1 + len(self._items)"),
    "test_leak": (
        "def copy_of_items(self): return list(self._items)",
        "def copy_of_items(self): return self._items",
    ),
    "test_abc": ('return f"{self.name} says {self.sound()}"', 'return f"{self.name} says nothing"'),
    "test_namedtuple": ("[Point(1, 2), Point(3, 4)]", "[Point(1, 2), Point(4, 3)]"),
    "test_enum": ("HIGH = 3", "HIGH = 4"),
    "test_dataclass": ("@dataclass(frozen=True)", "@dataclass"),
    "test_stdlib_values": ('Decimal("1.10")', 'Decimal("1.11")'),
    "test_in_place": ("    m.reverse()", "    m = m[::-1]"),
    "test_aliasing": ("[[0]*n for _ in range(n)]", "[[0]*n]*n"),
    "test_context": ('log.append("out")', "pass"),
    "test_decorator": ("w.calls += 1", "w.calls += 2"),
    "test_callbacks": ("sorted(map(f, xs), key=key)", "sorted(map(f, xs))"),
    "test_errors": ('raise Other("outer") from e', 'raise Other("outer") from None'),
    "test_generators": ("got.append(x)", "pass"),
    "test_async": ("return x * 2", "return x * 3"),
    "test_output": ("def show(*xs, **kw): print(*xs, **kw)", "def show(*xs, **kw): print(*xs)"),
    "test_nodes": ("for x in reversed(list(xs))", "for x in list(xs)"),
    "test_registry": ("return f\n        return deco", "return None\n        return deco"),
    "test_history": ("HISTORY.append(x)", "HISTORY.insert(0, x); HISTORY.append(x)"),
    "test_methods_of_the_tests": ("if args not in kept: kept[args]", "if args[1:] not in kept: kept[args]"),
    "test_iterators_of_the_tests": ("def listed(xs): return list(xs)", "def listed(xs): return [*xs, None]"),
    "test_inherited_comparison": ("k.lower(): v for", "k: v for"),
    "test_misc": ("stream.read().upper()", "stream.read().lower()"),
    "TestUnit": (
        "def __getitem__(self, i): return self._items[i]",
        "def __getitem__(self, i): return self._items[0]",
    ),
}


GROUPS = 3
"""Bugs are planted in groups: each is in code that no other test of its group looks at."""


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    """The verdict on the right code (under "") and, for each bug, on code that has it."""
    codes = [CODE] * GROUPS
    group_of = {test: number % GROUPS for number, test in enumerate(BUGS)}
    for test, (good, bad) in BUGS.items():
        assert good in CODE
        codes[group_of[test]] = codes[group_of[test]].replace(good, bad, 1)
    candidates = [Candidate(str(number), code, "draft", 0) for number, code in enumerate([CODE, *codes])]
    with Verifier(open_sandbox("none"), jobs=2) as verifier:
        right, *buggy = verifier.board(candidates, split(TESTS, "user")).verdicts
    return {"": right, **{test: buggy[group] for test, group in group_of.items()}}


def test_right_code_passes_every_test_in_isolated_mode(verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[""]
    assert [outcome for outcome in verdict.outcomes if outcome.status != "passed"] == []
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated")


@pytest.mark.parametrize("test", BUGS)
def test_a_planted_bug_fails_the_test_that_looks_at_it(test: str, verdicts: dict[str, Verdict]) -> None:
    assert verdicts[test].outcome(test).status in ("failed", "error")
