"""What is held out of prompts is in none, and counts only where it says more than what the model has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.healing.case import Case
from agents.healing.heal import heal_case
from agents.healing.request import open_case
from agents.healing.voices import held_out, shown_in_prompt, summary_of, voices_needed
from agents.records import Reply, Request
from agents.records.heal import Answer, Call, HealRequest, Item, Observation, Symptom, SymptomKind
from agents.roles.ask import LARGE_MODEL
from agents.roles.healer import Healer
from agents.sandbox import Sandbox

OLD = "def f(x):\n    return 0\n"
EXPECTED = Item("--expect", "the output is '0'", "SEEN")
CALL, OTHER = (Item("--expect-call", f"`{text}` is expected", text) for text in ("f(2) == HELD", "g(2) == HELD"))
ONE, TWO = (
    Item(f"t.py::test_{name}", f"assert 0 == {name}", f"def test_{name}():\n    assert f({name})")
    for name in ("A", "HELD")
)


@dataclass
class Written(Case):
    """A case that fails as is written down for the text of its file, and makes the calls that are written down."""

    symptoms: Mapping[str, Symptom | None] = field(default_factory=dict)
    made: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files = {"s.py": OLD}  # noqa: RUF012 - a property of the class
    task = "It fails."

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        return Observation(self.symptoms[changed.get("s.py", OLD)])

    def calls(self, changed: Mapping[str, str]) -> Sequence[Call]:
        return ()

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> Sequence[Answer | None]:
        return [None] * len(calls)

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        sources = [source for item in items for source in self.made.get(item.name, ())]
        return [Call("s.py", source.partition("(")[0], source) for source in sources], ()


def prompts(first: Symptom, *then: Symptom | None) -> list[str]:
    """Heal a case that fails as `first`, and with the patches as `then`; return what the model was asked."""
    texts = [OLD.replace("0", str(number)) for number in range(1, len(then) + 1)]
    case = Written({OLD: first, **dict(zip(texts, then, strict=True))})
    asked: list[Request] = []

    def ask(request: Request) -> Reply:
        asked.append(request)
        return Reply(f"```python\n{texts[len(asked) - 1]}\n```", "stop")

    heal_case(case, Healer(ask, LARGE_MODEL, seed=0), max_rounds=len(then), patches=1)
    assert len(asked) == len(then)
    return [each.messages[-1].content for each in asked]


@pytest.mark.parametrize(
    ("kind", "items", "then"),
    [
        ("output", (EXPECTED, CALL), [(EXPECTED, CALL), (CALL,)]),
        ("output", (CALL, OTHER), [(CALL, OTHER), (OTHER,)]),
        ("tests", (ONE, TWO), [(ONE, TWO), (TWO,)]),
        ("exception", (CALL,), [(CALL,)]),
        ("limit", (CALL,), [(CALL,)]),
    ],
)
def test_no_prompt_has_what_is_held_out(
    kind: SymptomKind, items: tuple[Item, ...], then: list[tuple[Item, ...]]
) -> None:
    def symptom(items: tuple[Item, ...]) -> Symptom:
        said = "; ".join(f"{each.name}: {each.detail} {each.source}" for each in items)
        summaries = {"output": said, "tests": summary_of(items)}
        return Symptom(kind, summaries.get(kind, "ValueError"), items=items)

    held = held_out(symptom(items), holds_out=True)
    asked = prompts(symptom(items), *map(symptom, then), None)
    assert held
    assert not any(text in prompt for each in held for text in (each.source, each.detail) for prompt in asked)


def test_an_answer_to_a_question_changes_no_prompt_whatever_fails() -> None:
    for kind in ("exception", "syntax", "limit"):
        symptom = Symptom(kind, "ValueError")
        answered = Symptom(kind, "ValueError", items=(CALL,))
        assert shown_in_prompt(answered) == symptom
        assert held_out(answered, holds_out=False) == (CALL,)
    assert shown_in_prompt(Symptom("output", "it fails", items=(CALL,))).items == (CALL,)
    assert held_out(Symptom("output", "it fails", items=(CALL, OTHER)), holds_out=False) == (OTHER,)


@pytest.mark.parametrize(
    ("made", "needed"),
    [
        (["g(3)", "f(1)"], 3),
        (["g(3)", "f(2)"], 1),
        (["g(3)"], 1),
        ([], 2),
    ],
)
def test_a_held_out_test_makes_another_call_of_what_is_mended(made: list[str], needed: int) -> None:
    case = Written(made={ONE.name: ["f(1)"], TWO.name: made})
    changed = {"s.py": OLD.replace("0", "1")}
    assert voices_needed(case, [ONE], [TWO], changed) == needed


@dataclass
class Flaky(Written):
    """A case whose patches print in other calls, and of which the one that imports gc fails by other seeds."""

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        fails = not changed or (seed > 0 and "gc" in changed["s.py"])
        return Observation(Symptom("output", "it fails") if fails else None, calls=(Call("s.py", "f", "f(1)"),))

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> Sequence[Answer | None]:
        return [Answer("1", output="seen" if changed else "")] * len(calls)


def test_a_patch_that_leads_for_the_suspicions_of_another_is_run_again_too() -> None:
    replies = iter(
        ["def f(x):\n    import gc; return gc\n", "def f(x):\n    y = x + 1\n    return [y, y, y, y, y]\n"]
    )

    def ask(request: Request) -> Reply:
        return Reply(f"```python\n{next(replies)}\n```", "stop")

    result = heal_case(Flaky(), Healer(ask, LARGE_MODEL, seed=0), max_rounds=1, patches=2)
    assert [trial.plausible for trial in result.trials] == [False, True]
    assert (result.grade, result.leader) == ("contested", "patch2")


TESTS = """\
from s import f


def test_one():
    given = 1
    assert f(given) == 1


def test_two():
    given = 12345
    assert f(given) == 12345
"""


def test_values_of_a_held_out_test_are_in_no_prompt(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(OLD)
    (tmp_path / "test_s.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    request = HealRequest(path=str(tmp_path / "s.py"), name="f", tests=(str(tmp_path / "test_s.py"),), seconds=60)
    symptom = open_case(request, sandbox, {}, lambda: False).observe({}).symptom
    assert symptom is not None
    assert len(symptom.items) == 2
    assert "given" in str(symptom.frames)
    assert "12345" not in str(shown_in_prompt(symptom))


BROKEN = "def half(x):\n    return x / 3\n\n\ndef main():\n    while True:\n        pass\n\n\n{}\n"


@pytest.mark.parametrize("ending", ["main()", "import os; os.kill(os.getpid(), 9)", "main(", "print(halff(1))"])
def test_a_call_is_expected_of_a_script_that_fails_in_any_way(
    sandbox: Sandbox, tmp_path: Path, ending: str
) -> None:
    (tmp_path / "s.py").write_text(BROKEN.format(ending))
    request = HealRequest(path=str(tmp_path / "s.py"), expect_call=("half(4) == 2",), seconds=2)
    symptom = open_case(request, sandbox, {}, lambda: False).observe({}).symptom
    assert symptom is not None
    assert [item.source for item in held_out(symptom, holds_out=False)] == ["half(4) == 2"]


def test_a_script_is_run_on_words_that_are_no_numbers_of_a_program(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import sys\n")
    (tmp_path / "in.txt").write_text("-inf\n1e999\n")
    request = HealRequest(path=str(tmp_path / "s.py"), arguments=("nan", "3"), stdin=str(tmp_path / "in.txt"))
    assert open_case(request, sandbox, {}, lambda: False).other_runs
