"""A patch is verified by what the model did not see."""

from __future__ import annotations

import pytest

from .conftest import Heals

REPORT = """\
def total(amounts):
    result = 0
    for index in range(len(amounts) - 1):
        result += amounts[index]
    return result


def main():
    amounts = [1, 2, 3]


main()
"""
HONEST = (
    REPORT.replace(" - 1", ""),
    REPORT.replace("for index in range(len(amounts) - 1)", "for amount in amounts").replace(
        "amounts[index]", "amount"
    ),
    REPORT.replace("    return result", "    return sum(amounts)"),
)
EMPTIES = REPORT.replace(" - 1", "").replace("return result", "amounts.clear()\n    return result")
OVERFITTING = {
    "length": REPORT.replace("return result", "return len(amounts) * 2"),
    "greatest": REPORT.replace("return result", "return max(amounts) * 2"),
    "start": REPORT.replace("result = 0", "result = 3"),
    "step": REPORT.replace("+= amounts[index]", "+= amounts[index] * 2"),
    "spelled": REPORT.replace("return result", 'return int("".join(map(chr, [54])))'),
    "empties": EMPTIES,
}


@pytest.mark.parametrize("name", OVERFITTING)
def test_what_satisfies_the_one_expectation_alone_is_not_verified(heals: Heals, name: str) -> None:
    heals.script(REPORT, "report.py")
    heals.replies(OVERFITTING[name], HONEST[0])
    assert heals.run("report.py", "--expect", "total: 6") == 1, heals.error
    assert heals.document["grade"] == "contested"
    heals.replies(OVERFITTING[name])
    assert heals.run("report.py", "--expect", "total: 6") == 1, heals.error
    assert heals.document["grade"] == "contested"


def test_three_honest_patches_that_answer_alike_are_verified(heals: Heals) -> None:
    heals.script(REPORT, "report.py")
    heals.replies(*HONEST)
    code = heals.run("report.py", "--expect", "total: 6")
    assert code == 0
    assert heals.document["grade"] == "verified"
