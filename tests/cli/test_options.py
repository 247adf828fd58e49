"""Each command has the options that count for it, and refuses others with a sentence that names who has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cyclopts import CycloptsError, UnknownOptionError

from agents.cli.main import RUN, app, commands, elsewhere, main
from agents.errors import UsageError
from agents.settings import Output, Settings, uses

REQUIRED = {
    RUN: ("Sort a list.",), "audit": (), "debug": ("x",), "heal": ("x.py",), "verify": ("x", "x"),
    "verify-pairs": ("x",), "batch status": ("x",), "batch merge": ("x",), "show": ("x",), "help": (),
    **dict.fromkeys((name for name in commands() if name.startswith("bench ")), ("--data", "x")),
}  # fmt: skip
OPTIONS = {name: {each for one in found for each in one.names} for name, found in commands().items()}
EVERY = sorted({name for names in OPTIONS.values() for name in names if name.startswith("--")})
COUNTING = {
    "run debug heal batch ui mcp": "model api_base weights record cache frozen sandbox python max_rounds"
    " max_seconds max_tokens max_cost seed require",
    "run debug batch ui mcp": "code_writer_model test_writer_model critic_model effort drafts temperature mutation"
    " packages",
    "run batch ui mcp": "strategy",
    "heal batch mcp": "healer_model",
    "run debug heal ui mcp show": "work_dir",
    "run heal": "answers",
    "run debug": "approve",
    "run debug ui": "approve_seconds",
    "run debug heal batch verify audit status merge": "json",
    "run debug heal batch": "quiet",
    "run debug heal batch show": "color",
    "verify verify-pairs audit check": "sandbox python",
    "verify verify-pairs": "packages",
    "models": "weights",
    "merge": "require",
    "build": "packages",
}
"""Commands by their last word, and the settings that count for all of them."""


def test_a_command_has_the_settings_that_count_for_it() -> None:
    wanted: dict[str, set[str]] = {}
    for those, names in COUNTING.items():
        for command in those.split():
            wanted.setdefault(command, set()).update(f"--{name.replace('_', '-')}" for name in names.split())
    settings = {f"--{name.replace('_', '-')}" for name in (*uses(), *uses(Output))}
    found = {name: names & settings for name, names in OPTIONS.items() if not name.startswith("bench")}
    found["run"] = found.pop(RUN)
    assert {name.split()[-1]: names for name, names in found.items() if names} == wanted


def refusal(command: str, option: str) -> str:
    """What a command says of an option; nothing where it has it."""
    words = () if command == RUN else command.split()
    try:
        app.parse_args([*words, *REQUIRED.get(command, ()), option, "1"], exit_on_error=False, print_error=False)
    except UnknownOptionError as error:
        return elsewhere(error)
    except (CycloptsError, UsageError):  # what it is given is wrong
        return ""
    return ""


def check(command: str, option: str) -> None:
    """Fail unless the command accepts its option, or refuses another's by naming every command that has it."""
    said = refusal(command, option)
    if option in OPTIONS[command]:
        assert said == "", option
        return
    having = {name for name, names in OPTIONS.items() if option in names}
    begin, _, told = said.partition("; ")
    assert begin == f"{command} has no {option}"
    assert set(told.rpartition(" ha")[0].replace(" and ", ", ").split(", ")) == having


@pytest.mark.thorough
@pytest.mark.parametrize("command", sorted(OPTIONS))
def test_every_pair_of_command_and_option_is_accepted_or_refused_by_name(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for option in EVERY:
        check(command, option)


@pytest.mark.parametrize("command", sorted(OPTIONS))
def test_a_command_accepts_an_option_of_its_own_and_refuses_one_that_it_lacks(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick part of the test above."""
    monkeypatch.chdir(tmp_path)
    own = OPTIONS[command]
    for option in [*sorted(own & set(EVERY))[:1], next(each for each in EVERY if each not in own)]:
        check(command, option)


def test_a_refusal_is_one_sentence_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["heal", "x.py", "--effort=high"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said == (
        "greenloop: heal has no --effort; a run of a spec, batch, bench humaneval+, bench mbpp+, debug, mcp and ui"
        " have it."
    )
    assert main(["heal", "x.py", "--no-such"]) == 2
    assert "Unknown option: --no-such" in capsys.readouterr().err


def test_a_variable_of_a_setting_that_a_command_lacks_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GREENLOOP_EFFORT", "heroic")
    with pytest.raises(CycloptsError):
        app.parse_args(["Sort a list."], exit_on_error=False, print_error=False)
    _, bound, _ = app.parse_args(["heal", "x.py"], exit_on_error=False, print_error=False)
    assert "own" not in bound.arguments


def test_a_record_of_settings_is_whole_with_defaults() -> None:
    assert Settings.of(Settings(max_rounds=2, model="m")) == Settings(model="m", max_rounds=2)


def test_an_empty_variable_counts_as_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MODEL", "MAX_TOKENS", "DRAFTS"):
        monkeypatch.setenv(f"GREENLOOP_{name}", "")
    assert Settings.from_environment(dotenv=False) == Settings()
