"""Reading Python source."""

from __future__ import annotations

import ast
import copy
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agents.syntax.source import compiled, names_unbound, parse, parse_expression, unparse, with_values

TABLE = "table = [" + ", ".join(f"({n}, [{n}, 'a'])" for n in range(400)) + "]\n"


class _Slow:
    """An object in a cycle: the collector runs its `__del__`, in which another thread can take over."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(20))


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads and the collector of cycles that take their turn as often as they can."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("eager_threads")
def test_threads_parse_at_once() -> None:
    def statements(_turn: int) -> int:
        _Slow()
        return len(parse(TABLE).body)

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(statements, range(60))) == {1}


def test_an_expression_is_parsed_as_one() -> None:
    assert isinstance(parse_expression("f(1)"), ast.Call)


@pytest.mark.parametrize("text", ["x = 1", "f(", "(" * 500 + ")" * 500])
def test_what_is_no_expression_is_told_with_its_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r"line 1: |nests too deeply"):
        parse_expression(text)


@pytest.mark.parametrize(
    ("begin", "end"), [("1+", "1"), ("x", "[0]"), ("f", "()"), ("x", ".a"), ("-", "1"), ("if x: y\nel", "")]
)
def test_a_tree_that_no_walk_comes_through_is_refused(begin: str, end: str) -> None:
    for count in (150, 250, 900):
        text = (
            begin * count + end if begin[-1] in "+-" else begin + end * count if end else f"{begin * count}se: y"
        )
        if count == 150:
            copy.deepcopy(parse(text))
            assert ast.unparse(parse(text))
        else:
            with pytest.raises(ValueError, match="nests too deeply"):
                parse(text)


@pytest.mark.parametrize("text", ["0x" + "f" * 5000, "-0o" + "7" * 6000, "[{1: 0b" + "1" * 20_000 + "}]"])
def test_a_number_that_cannot_be_written_out_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        ast.unparse(ast.parse(text))  # what any walk would end in
    with pytest.raises(ValueError, match="line 1: the number is too long"):
        parse_expression(text)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert ast.dump(parse("\ufeffx = y")) == ast.dump(parse("x = y"))
    assert names_unbound("\ufeffx = y") == {"y"}


@pytest.mark.timeout(20)
def test_no_file_of_the_working_directory_is_opened_for_a_faulty_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("<unknown>")
    with pytest.raises(ValueError, match="line 1"):
        parse("def f(:\n")
    with pytest.raises(ValueError, match="outside function"):
        compiled("return 1\n")
    waits = [sys.executable, "-c", "import ast; ast.parse('def f(:')"]
    with pytest.raises(subprocess.TimeoutExpired):  # as it is by default
        subprocess.run(waits, timeout=3, capture_output=True, cwd=tmp_path)


@pytest.mark.parametrize("text", [r"f'{x}-{y}\n'", r"f'a{x!r:>{y}}b{{}}{x}'", r"f'{x:.1f}{x + y:{y}}'"])
def test_an_f_string_with_a_backslash_in_its_braces_is_written_out(text: str) -> None:
    backslash = with_values(parse(f"{text} + f'{{mark}}'"), {"mark": ast.Constant("\\")})
    names = {"x": 7, "y": 9}
    assert eval(unparse(backslash), dict(names)) == eval(text, dict(names)) + "\\"
