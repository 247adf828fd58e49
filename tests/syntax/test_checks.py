"""Checks: what asks the same in other words, and what can't both hold."""

from __future__ import annotations

import pytest

from agents.syntax.checks import checks_in, same_check

PREAMBLE = "from user_code import f, S\nDATA = [1, 2]"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert f([1,2]) == 3", "def test_a():\n    data = [1, 2]\n    assert f(data) == 3"),
        ("assert f([1, 2]) == 3", "def test_a():\n    '''Sums.'''\n    result = f(DATA)\n    assert result == 3"),
        ("assert f(1, b=2, a=1) == 3", "assert 3 == f(1, a=1, b=2)"),
        (
            "s = S()\ns.add(1)\nassert s.low() == 1",
            "def test_a():\n    x: S = S()\n    x.add(1)\n    y = x.low()\n    assert y == 1",
        ),
        ("with pytest.raises(ValueError):\n    f(0)", "with raises(ValueError, match='x'):\n    result = f(0)"),
        ("assert f(1)", "x = f(1)\nassert x"),
        ("assert not f(1) == 2", "assert f(1) != 2"),
    ],
)  # fmt: skip
def test_the_same_check_in_other_words(one: str, other: str) -> None:
    assert checks_in(one) == checks_in(other, PREAMBLE)
    assert len(checks_in(one)) == 1
    assert same_check(one, other, PREAMBLE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert f(1) == 2", "assert f(1) == 3"),
        ("assert f(1) == 2", "with pytest.raises(ValueError):\n    f(1)"),
        ("assert f(1) == 2", "assert f(1) != 2"),
        ("assert f(1) == []", "assert f(1)"),
        ("assert f(1) == [0]", "assert not f(1)"),
        ("assert f(1)", "assert not f(1)"),
        ("assert f(1) == 0.5", "assert f(1) == pytest.approx(0.6)"),
        ("assert f(1) == Decimal('1')", "assert f(1) == Decimal('2')"),
        ("with pytest.raises(KeyError):\n    f(1)", "with pytest.raises(ValueError):\n    f(1)"),
        (
            "s = S()\ns.push(1)\nassert s.min() == 2",
            "def test_a():\n    t = S()\n    t.push(1)\n    assert t.min() == 1\n    t.pop()\n    assert t.a == 1",
        ),
    ],
)  # fmt: skip
def test_what_can_not_both_hold(one: str, other: str) -> None:
    pairs = [(mine, its) for mine in checks_in(one) for its in checks_in(other)]
    assert any(mine.contradicts(its) for mine, its in pairs)
    assert any(its.contradicts(mine) for mine, its in pairs)
    assert not same_check(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert f(1) == 2", "assert f(1) == 2.0"),
        ("assert f(1) == 2", "assert f(2) == 3"),
        ("assert f(1) == 0.3", "assert f(1) == pytest.approx(0.1 + 0.2)"),
        ("assert f(1) == pytest.approx(3.14, abs=0.01)", "assert f(1) == 3.1416"),
        ("assert f(1) == 3", "assert f(1) != 2"),
        ("assert f(1) == 3", "assert f(1)"),
        ("assert f(1) == g(3)", "assert f(1) == 4"),
        ("with pytest.raises(LookupError):\n    f(1)", "with pytest.raises(KeyError):\n    f(1)"),
        ("with pytest.raises(StackError):\n    f(1)", "with pytest.raises(ValueError):\n    f(1)"),
        ("a = [1]\nf(a)\nassert a == [1]", "f([1])\nassert f([1]) == [2]"),
        ("s = S()\ns.push(1)\nassert s.min() == 1", "s = S()\nassert s.min() == 2"),
        ("@pytest.mark.parametrize('x', [1])\ndef test_a(x):\n    assert f(x) == 2", "assert f(1) == 3"),
        ("not python", "assert f(1) == 3"),
    ],
)
def test_what_may_both_hold(one: str, other: str) -> None:
    assert not any(mine.contradicts(its) for mine in checks_in(one) for its in checks_in(other))
