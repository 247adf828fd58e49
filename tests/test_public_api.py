"""The Python API, as a program uses it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import agents
from agents import (
    Cancellation,
    Interrupted,
    ModelError,
    RunResult,
    Settings,
    UsageError,
    agenerate,
    generate,
    verify,
)
from agents.events import BoardStarted, Event
from agents.records import Failure
from agents.storage.run_directory import find

from .support import event_loops
from .support.commands import QUICKSORT, REPLAYS, ROOT
from .support.provider import Fails, serving

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


def test_a_model_that_refuses_is_an_error_and_the_run_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving() as provider:
        provider.script(Fails(401, "No such key.", code="invalid_api_key"))
        settings = Settings(model="openai/m", api_base=provider.api_base, mutation=False)
        with pytest.raises(ModelError) as raised:
            generate(QUICKSORT, settings=settings, work_dir=tmp_path)
    assert raised.value.kind == "bad_key"
    record = find(tmp_path, "latest").read()
    assert (record.status, record.error) == ("stopped", Failure("bad_key", str(raised.value)))


def test_an_interruption_is_the_callers_and_the_run_is_kept(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, BoardStarted):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(QUICKSORT, settings=SETTINGS, work_dir=tmp_path, on_event=interrupt)
    assert find(tmp_path, "latest").read().status == "interrupted"


def test_settings_of_the_environment_that_do_not_fit_are_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_EFFORT", "high")
    monkeypatch.setenv("GREENLOOP_FILE", "a variable of the command line alone")
    assert Settings.from_environment() == Settings(effort="high")
    monkeypatch.setenv("GREENLOOP_EFFORT", "gigantic")
    with pytest.raises(UsageError, match=r"(?i)gigantic"):
        Settings.from_environment()


def test_tasks_that_share_a_cancellation_end_together_and_one_alone_ends_alone(tmp_path: Path) -> None:
    async def generate_three() -> list[RunResult | BaseException]:
        all_of_them = Cancellation()
        tasks = [
            asyncio.create_task(
                agenerate(QUICKSORT, settings=SETTINGS, work_dir=tmp_path / str(number), cancellation=all_of_them)
            )
            for number in range(3)
        ]
        await asyncio.sleep(0.1)
        tasks[0].cancel()
        await asyncio.wait([tasks[0]])
        await asyncio.wait(tasks[1:2])
        all_of_them.cancel()
        with pytest.raises(Interrupted):
            await agenerate(QUICKSORT, settings=SETTINGS, work_dir=tmp_path, cancellation=all_of_them)
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, _ = event_loops.run(generate_three())
    assert isinstance(first, asyncio.CancelledError)
    assert isinstance(second, RunResult)
    assert second.grade == "consensus"


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
