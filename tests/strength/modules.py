"""A small module, and a suite that leaves gaps."""

from __future__ import annotations

from collections.abc import Sequence

from agents.records import Test

CLAMP = '''def clamp(x: int, low: int, high: int) -> int:
    """`x`, moved between `low` and `high`."""
    if x < low:
        return low
    while x > high:
        x -= 1
    return x


if __name__ == "__main__":
    print(clamp(1, 2, 3))
'''
INSIDE, BELOW, ABOVE, AT_TOP = ((5, 0, 10), 5), ((-3, 0, 10), 0), ((13, 0, 10), 10), ((10, 0, 10), 10)


def suite(*cases: tuple[Sequence[int], int]) -> tuple[Test, ...]:
    return tuple(
        Test(
            f"test_{number}",
            f"def test_{number}():\n    assert clamp({', '.join(map(str, given))}) == {expected}\n",
            "generated",
            "from user_code import clamp",
        )
        for number, (given, expected) in enumerate(cases, 1)
    )
