"""Evidence that the model did not see, and voices that are several: cases in which either was counted and was not
there."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.healing.expectations import rounded
from agents.sandbox import Sandbox

from ..support.heals import healed

LABEL = "def label(name, amount):\n    return name + ': ' + str(amount)\n\n\nprint(label('tea', 3.5))\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[0.30000000000000004, -1e-300]", "[0.3, -1e-300]"),
        ("{'a': 0.1 + 0j, 'b': 2.5}", "{'a': 0.1 + 0j, 'b': 2.5}"),
        ("'tea: 3.50'", "'tea: 3.50'"),
        ("Money: 3.50 €", "Money: 3.50 €"),
    ],
)
def test_fractions_are_rounded_and_texts_are_not(text: str, shown: str) -> None:
    assert rounded(text) == shown


def test_a_text_with_another_number_of_decimals_is_another_text(sandbox: Sandbox, tmp_path: Path) -> None:
    right = LABEL.replace("str(amount)", "format(amount, '.2f')")
    overfit = LABEL.replace("str(amount)", "str(amount) + '0'")
    result = healed(
        sandbox, tmp_path, LABEL, [right, overfit, right], expect_call=("label('tea', 3.5) == 'tea: 3.50'",)
    )
    assert result.outcome == "unhealed", "it failed"
    assert result.grade == "contested", result.why
    assert result.question is not None
