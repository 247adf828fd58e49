from __future__ import annotations

import pytest

from agents.spec.bounds import bounds_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Orders of 100 or more ship free", ["100"]),
        ("A parcel of up to 1 kg costs 4.50", ["1"]),
        ("The price is at most $25.00.", ["25.00"]),
        ("so does one of more than 30 kg", ["30"]),
        ("a temperature below -273.15 raises", ["-273.15"]),
        ("It keeps at most three entries", ["3"]),
        ("ages from 18 to 64, both inclusive", ["18", "64"]),
        ("between 1 and 5", ["1", "5"]),
        ('from 90 points, from 75, from 60 on "C"', ["90", "75", "60"]),
        ("65 and over", ["65"]),
        ("If the total is >= 100", ["100"]),
        ("rounded to at most two decimal places", []),
        ("0 <= n <= 9", []),
        ("the digits from 0 to 9", []),
        ("over 50% of them", []),
        ("from 9:00 to 17:30", []),
        ("those that differ by less than 0.01", []),
        ("3 of them, and one more", []),
        ("it adds 1.20", []),
    ],
)
def test_numbers_at_which_a_text_lets_something_change(text: str, expected: list[str]) -> None:
    assert list(bounds_in(text)) == expected
