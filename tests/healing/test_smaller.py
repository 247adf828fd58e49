"""A patch that changes more than a smaller change, which meets the same expectations, is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.healing.evidence import Evidence
from agents.healing.ruling import rule
from agents.records.heal import Answer, Call, Observation, Patch, Place, Symptom, Trial
from agents.sandbox import Sandbox

from ..support.heals import healed
from .test_held_out import Written

PRICE = "def price(count):\n    if count > 10:\n        return count * 9\n    return count * 10\n"
PLACE = Place("s.py", "function", "price", 1, 4)


def answers_of(text: str, calls: Iterable[Call]) -> list[Answer]:
    scope: dict[str, Any] = {}
    exec(text, scope)
    return [Answer(repr(eval(call.source, scope))) for call in calls]


@dataclass
class Held(Written):
    """A case of the file `PRICE`, in which ten pieces cost 90; `observed` are the texts that were run."""

    files = {"s.py": PRICE}  # noqa: RUF012 - a property of the class

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        answer = answers_of(changed["s.py"], [Call("s.py", "price", "price(10)")])[0]
        return Observation(None if answer.value == "90" else Symptom("output", "it fails"))

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> Sequence[Answer | None]:
        return answers_of(changed["s.py"], calls)


@pytest.mark.parametrize(
    ("condition", "question"),
    [
        ("count >= 10", None),
        ("not count < 10", None),
        ("count > 9", None),
        ("count > 5", "price(6) is 54 or 60?"),
        ("count == 10", "price(11) is 110 or 99?"),
        ("count >= 10 or count == 3", "price(3) is 27 or 30?"),
        ("True", "price(1) is 9 or 10?"),
    ],
)
def test_a_patch_that_changes_more_than_a_smaller_change_is_asked_about(
    condition: str, question: str | None
) -> None:
    calls = [Call("s.py", "price", f"price({count})") for count in range(14)]
    patch = Patch("patch1", PLACE, {"s.py": PRICE.replace("count > 10", condition)}, 1, 1)
    trial = Trial(patch, Observation())
    evidence = Evidence(calls, dict(zip(calls, answers_of(PRICE, calls), strict=True)), voices_needed=1)
    evidence.after["patch1"] = dict(zip(calls, answers_of(patch.files["s.py"], calls), strict=True))
    evidence.smaller["patch1"] = evidence.smaller_change(Held(symptoms={}), trial)
    ruling = rule([trial], trusted=True, evidence=evidence)
    assert ruling.grade == ("verified" if question is None else "contested"), ruling.why
    assert (ruling.question or "").startswith(question or "")


def test_no_change_is_tried_after_one_without_an_end() -> None:
    class Endless(Held):
        observed = 0

        def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
            self.observed += 1
            return Observation(Symptom("limit", "the wall limit was reached"))

    calls = [Call("s.py", "price", "price(10)")]
    patch = Patch("patch1", PLACE, {"s.py": PRICE.replace("> 10", ">= 10")}, 1, 1)
    evidence = Evidence(calls, dict(zip(calls, answers_of(PRICE, calls), strict=True)))
    evidence.after["patch1"] = dict(zip(calls, answers_of(patch.files["s.py"], calls), strict=True))
    case = Endless(symptoms={})
    assert evidence.smaller_change(case, Trial(patch, Observation())) is None
    assert case.observed == 1


DISCOUNT = f"{PRICE}\n\nprint('sum', price(10))\n"


@pytest.mark.parametrize(("condition", "grade"), [("count >= 10", "verified"), ("count > 5", "contested")])
def test_an_answer_that_a_wrong_boundary_fits_too(
    sandbox: Sandbox, tmp_path: Path, condition: str, grade: str
) -> None:
    text = DISCOUNT.replace("count)", "count, each=10)").replace("count * 10", "count * each")
    patches = [text.replace("count > 10", condition).replace("count * 9", "count * each * 9 // 10")] * 3
    text = text.replace("count * 9", "count * each * 9 // 10")
    expected = ("price(10, 20) == 180",)
    result = healed(sandbox, tmp_path, text, patches, expect="/sum 90$/", expect_call=expected)
    assert result.grade == grade, (result.why, result.question)
