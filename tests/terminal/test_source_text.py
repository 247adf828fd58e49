from __future__ import annotations

import io

import pytest
from rich.console import Console

from agents.terminal.safe_console import source_text

CODE = f"def f(x: int) -> str:\n    return '{'longer than any line ' * 9}'\n\n\n"


@pytest.mark.parametrize("language", ["python", "diff"])
def test_in_a_pipe_a_long_line_is_whole(language: str) -> None:
    printed = io.StringIO()
    Console(file=printed, width=80, soft_wrap=True).print(source_text(CODE, language))
    assert printed.getvalue() == CODE.rstrip() + "\n"


def test_at_a_terminal_a_long_line_is_wrapped() -> None:
    printed = io.StringIO()
    Console(file=printed, width=80).print(source_text(CODE))
    lines = printed.getvalue().splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 80
