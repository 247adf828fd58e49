"""The Python API, as a program uses it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import agents
from agents import Cancellation, Interrupted, RunResult, Settings, UsageError, generate, verify

from .support.commands import QUICKSORT, REPLAYS, ROOT

RIGHT = "def double(x: int) -> int:\n    return 2 * x\n"
TESTS = "from user_code import double\n\ndef test_double() -> None:\n    assert double(2) == 4\n"
SETTINGS = Settings(model=f"recorded:{REPLAYS}", mutation=False)


def test_a_spec_becomes_a_module_and_its_events_are_heard(tmp_path: Path) -> None:
    events: list[object] = []
    result = generate(QUICKSORT, settings=SETTINGS, work_dir=tmp_path, on_event=events.append)
    assert isinstance(result, RunResult)
    assert (result.grade, result.exit_code, result.error) == ("consensus", 0, None)
    assert result.code is not None
    assert "def quicksort" in result.code
    assert {type(event).__name__ for event in events} >= {"RunStarted", "Answered", "Ruled"}


def test_tests_of_the_caller_are_trusted(tmp_path: Path) -> None:
    mine = "from user_code import quicksort\n\ndef test_mine() -> None:\n    assert quicksort([2, 1]) == [1, 2]\n"
    assert generate(QUICKSORT, settings=SETTINGS, work_dir=tmp_path, tests=mine).grade == "verified"


def test_a_cancelled_run_never_begins(tmp_path: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Interrupted):
        generate(QUICKSORT, settings=SETTINGS, work_dir=tmp_path, cancellation=cancellation)
    assert not list(tmp_path.iterdir())


def test_bad_input_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        generate("", settings=SETTINGS, work_dir=tmp_path)


@pytest.mark.parametrize(("code", "kind"), [(RIGHT, "passed"), (RIGHT.replace("2", "3"), "failed")])
def test_a_module_is_verified_against_tests(code: str, kind: str) -> None:
    assert verify(code, TESTS).kind == kind


def test_importing_the_package_imports_nothing_of_it() -> None:
    program = "import sys, agents; print(sorted(name for name in sys.modules if name.startswith('agents.')))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other() -> None:
    for name in dir(agents):
        getattr(agents, name)
    with pytest.raises(AttributeError, match="no attribute 'generat'"):
        agents.generat  # noqa: B018 - reading it is the test
