"""Text from records, names and models that would control the terminal, wherever it is printed."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console as RichConsole
from rich.console import RenderableType
from rich.rule import Rule
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agents.judge.judge import Situation, judge
from agents.records import RoundRecord
from agents.storage import run_directory as runs
from agents.terminal.safe_console import SafeConsole, source_text

from ..storage.test_run_directory import ROUND_BOARD, record
from ..support.commands import greenloop

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m a\u202eb\u200bc [red]d[/red] [link=http://x]e[/link] :boom:"
TITLE, CLEAR = "\x1b]0;", "\x1b[2J"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _table(text: str) -> Table:
    table = Table(text, title=text)
    table.add_row(text)
    return table


DRAWN: dict[str, Callable[[str], RenderableType]] = {"text": str, "Text": Text, "rule": Rule, "table": _table}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_what_is_drawn_is_text_and_controls_nothing(draw: Callable[[str], RenderableType]) -> None:
    """The control: rich alone lets a terminal's sequences through, and interprets markup."""
    file, plain = _Terminal(), _Terminal()
    SafeConsole(file, color=False).print(draw(HOSTILE))
    RichConsole(file=plain, width=200, force_terminal=True, highlight=False).print(draw(HOSTILE))
    assert "\x9b31m" in plain.getvalue()
    assert "\u202e" in plain.getvalue()
    printed = file.getvalue()
    assert not [each for each in (TITLE, CLEAR, "\x9b", "\u202e", "\u200b", "\x1b]8") if each in printed]
    assert "\\u202e" in printed


def test_markup_is_printed_as_it_stands() -> None:
    file = _Terminal()
    SafeConsole(file, color=True).print("[red]d[/red] [link=http://x]e[/link] :boom:")
    assert file.getvalue() == "[red]d[/red] [link=http://x]e[/link] :boom:\n"


def test_styles_of_our_own_stay() -> None:
    first, *_ = SafeConsole(_Terminal(), color=True).render(Text("verified", style="bold green"))
    assert (first.text, first.style) == ("verified", Style.parse("bold green"))


def test_a_hostile_run_is_shown_as_text(tmp_path: Path) -> None:
    """Every text of the record that a stranger may write: id, time, model, names of candidates and tests."""
    work_dir = tmp_path / "work_dir"
    kept = replace(
        record(),
        created=HOSTILE,
        model_reason=HOSTILE,
        sandbox=HOSTILE,
        notes=(HOSTILE,),
        models={"code_writer": HOSTILE},
    )
    run = runs.create(work_dir, replace(kept, greenloop_version=HOSTILE))
    candidate = replace(ROUND_BOARD.candidates[0], mended=(HOSTILE,), code=f"x = 1  # {HOSTILE}\n")
    board = replace(ROUND_BOARD, candidates=(candidate, *ROUND_BOARD.candidates[1:]))
    ruling = replace(judge(board, Situation()).ruling, why=HOSTILE)
    run.append(RoundRecord(1, board, None, ruling, 0.5))
    shown = greenloop(tmp_path, "show", "latest")
    printed = shown.stdout + shown.stderr
    assert shown.returncode == 0, printed
    assert not [each for each in ("\x1b", "\x9b", "\u202e", "\u200b") if each in printed]
    assert printed.count("\\u202e") >= 7
    assert "[red]d[/red]" in printed


def test_an_error_that_quotes_a_name_is_text(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "show", HOSTILE)
    assert ended.returncode == 2
    assert not [each for each in ("\x1b", "\x9b", "\u202e") if each in ended.stderr]


def test_in_ci_no_text_is_a_command_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Text("::error::a\n  ::stop-commands::b\na ##[add-mask]c ##vso[task]d") + Text("e\n") + Text("f::g")
    for ci, kept in (("", True), ("true", False)):
        monkeypatch.setenv("CI", ci)
        shown = io.StringIO()
        SafeConsole(shown, color=False).print(text)
        commands = re.findall(r"^[ \t]*::|##(?:vso)?\[", shown.getvalue(), re.MULTILINE)
        assert bool(commands) is kept
        assert shown.getvalue().endswith("e\nf::g\n")


@pytest.mark.parametrize("variable", ["CI", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL", "CODEBUILD_BUILD_ID"])
@pytest.mark.parametrize(
    "drawn",
    [
        "\xa0::add-mask::a",
        "a\n\u3000 \u2003::error::b",
        source_text("x = y[\n::warning [0::1]\n]\n"),
        Text(":", "bold") + Text(":debug::c", "red"),
        "##teamcity[testFailed name='d']",
        _table("\xa0##vso[task.complete]"),
    ],
    ids=["no-break", "wide", "code", "pieces", "teamcity", "table"],
)
def test_no_blank_no_piece_and_no_system_makes_a_command_of_a_text(
    monkeypatch: pytest.MonkeyPatch, variable: str, drawn: RenderableType
) -> None:
    """GitHub's runner takes white space of every kind away; highlighted code is a piece for each colon."""
    monkeypatch.setenv(variable, "1")
    shown = io.StringIO()
    SafeConsole(shown, color=False).print(drawn)
    assert not re.findall(r"^\s*::|##\w*\[", shown.getvalue(), re.MULTILINE)
    assert "\\" in shown.getvalue()
