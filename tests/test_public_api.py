"""The Python API, as a program uses it."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import agents
from agents import (
    Cancellation,
    Decision,
    HealOptions,
    HealRequest,
    HealResult,
    Interrupted,
    ModelError,
    RunResult,
    Settings,
    UsageError,
    agenerate,
    aheal,
    generate,
    heal,
    verify,
)
from agents.events import BoardStarted, Event
from agents.records import Failure
from agents.storage.run_directory import find

from .support.commands import QUICKSORT, REPLAYS, ROOT, processes_with
from .support.proposers import three
from .support.provider import Fails, Streams, serving

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


@pytest.mark.parametrize(
    ("call", "given", "sentence"),
    [
        (generate, {"spec": None}, "spec can't be of type NoneType; give a text, or a Spec from read_spec."),
        (generate, {"spec": b"x"}, "spec can't be of type bytes; give a text"),
        (generate, {"spec": "x", "settings": {"seed": 1}}, "settings can't be of type dict; give Settings(...)."),
        (generate, {"spec": "x", "tests": Path("x.py")}, "give the text of a pytest file, such as Path.read"),
        (heal, {"request": 5}, "request can't be of type int; give the path of a script as a text"),
        (heal, {"request": "x.py", "settings": {"seed": 1}}, "settings can't be of type dict"),
        (verify, {"code": RIGHT, "tests": Path("x.py")}, "tests can't be of type PosixPath; give the text of"),
        (heal, {"request": HealRequest(path="x.py", arguments=("\0",))}, "arguments can't be"),
        (verify, {"code": RIGHT, "tests": TESTS, "sandbox": "jail"}, "sandbox can't be 'jail'; give one of auto,"),
        (verify, {"code": RIGHT, "tests": TESTS, "python": 3}, "python can't be 3; give a path."),
        (Decision, {"answer": "maybe"}, "answer can't be 'maybe'; give one of yes, no, edit, note, always, stop."),
    ],
)
def test_what_is_of_another_type_is_a_usage_error_that_says_what_to_give(
    call: Callable[..., object], given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        call(**given)


def test_a_cancellation_of_another_type_and_odd_variables_are_usage_errors(tmp_path: Path) -> None:
    odd: Any = "x"
    with pytest.raises(UsageError, match="cancellation can't be of type str"):
        asyncio.run(agenerate(QUICKSORT, settings=SETTINGS, cancellation=odd))
    script = tmp_path / "script.py"
    script.write_text("print(1 / 0)\n")
    values: list[dict[str, Any]] = [{"NAME": 5}, {"NAME": "a\0b"}]
    for variables in values:
        with pytest.raises(UsageError, match="The variable NAME can't be"):
            heal(str(script), settings=SETTINGS, variables=variables, work_dir=tmp_path / "work_dir")


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

    first, second, _ = asyncio.run(generate_three())
    assert isinstance(first, asyncio.CancelledError)
    assert isinstance(second, RunResult)
    assert second.grade == "consensus"


@pytest.mark.parametrize(("code", "kind"), [(RIGHT, "passed"), (RIGHT.replace("2", "3"), "failed")])
def test_a_module_is_verified_against_tests(code: str, kind: str) -> None:
    assert verify(code, TESTS).kind == kind


SCRIPT = "def f(x):\n    return x / 0\n\n\nprint(f(4))\n"


@contextmanager
def models(*codes: str) -> Iterator[Settings]:
    """Settings of a model that answers with `codes`."""
    with serving() as provider:
        provider.script(*(Streams([f"```python\n{code}```\n"]) for code in codes))
        yield Settings(model="openai/m", api_base=provider.api_base)


def test_a_failing_script_becomes_a_patch_and_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SCRIPT)
    events: list[object] = []
    with models(*three("def f(x):\n    return x / 2\n")) as settings:
        result = heal(
            str(tmp_path / "s.py"), settings=settings, environ={"OPENAI_API_KEY": "k"},
            work_dir=tmp_path / "kept", on_event=events.append,
        )  # fmt: skip
    assert isinstance(result, HealResult)
    assert result.outcome == "healed"
    assert "+    return x / 2\n" in result.diff
    assert (tmp_path / "s.py").read_text() == SCRIPT
    assert {type(event).__name__ for event in events} >= {"RunStarted", "Answered"}
    assert find(tmp_path / "kept", "latest").read_heal().result == result


def test_a_heal_writes_where_its_options_say_so_and_gives_variables(tmp_path: Path) -> None:
    script = SCRIPT.replace("f(4)", "f(int(os.environ['NUMBER']))").replace("def f", "import os\n\n\ndef f", 1)
    (tmp_path / "s.py").write_text(script)
    with models(*three("def f(x):\n    return x / 2\n")) as settings:
        result = heal(
            HealRequest(path=str(tmp_path / "s.py"), expect="6.0", expect_call=("f(10) == 5",)),
            settings=settings, options=HealOptions(apply=True), variables={"NUMBER": "12"},
            environ={"OPENAI_API_KEY": "k"}, work_dir=tmp_path / "kept",
        )  # fmt: skip
    assert (result.grade, len(result.written)) == ("verified", 1)
    assert "return x / 2\n" in (tmp_path / "s.py").read_text()


def test_what_cannot_be_healed_is_raised(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no script"):
        heal(str(tmp_path / "none.py"), settings=SETTINGS, work_dir=tmp_path)
    with pytest.raises(UsageError, match="Say which test"):
        heal("s.py::f", settings=SETTINGS, work_dir=tmp_path)
    (tmp_path / "s.py").write_text(SCRIPT)
    with pytest.raises(ModelError) as raised:
        heal(str(tmp_path / "s.py"), settings=SETTINGS, work_dir=tmp_path)
    assert raised.value.kind == "not_recorded"
    with pytest.raises(ModelError, match="check the path, or make one with a real --model and --record"):
        heal(str(tmp_path / "s.py"), settings=Settings(model=f"recorded:{tmp_path}/none"), work_dir=tmp_path)


def test_a_cancelled_heal_has_ended_when_its_task_has(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import time\ntime.sleep(60)\n")

    async def cancelled() -> tuple[bool, float]:
        everything = Cancellation()
        request = HealRequest(path=str(tmp_path / "s.py"), seconds=60.0)
        one, other = (
            asyncio.create_task(aheal(request, settings=SETTINGS, work_dir=tmp_path / name, cancellation=given))
            for name, given in (("one", None), ("other", everything))
        )
        async with asyncio.timeout(60):
            while len(list(tmp_path.glob("*/runs/*/run.json"))) < 2:
                await asyncio.sleep(0.05)
        began = time.monotonic()
        one.cancel()
        await asyncio.wait([one])
        everything.cancel()
        result = await other
        assert result.error is not None
        assert (result.exit_code, result.error.kind) == (130, "interrupted")
        return one.cancelled(), time.monotonic() - began

    was_cancelled, seconds = asyncio.run(cancelled())
    assert was_cancelled
    assert seconds < 20
    assert not processes_with(str(tmp_path))


def test_importing_the_package_imports_nothing_of_it() -> None:
    program = "import sys, agents; print(sorted(name for name in sys.modules if name.startswith('agents.')))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other() -> None:
    for name in dir(agents):
        getattr(agents, name)
    with pytest.raises(AttributeError, match="no attribute 'generat'"):
        agents.generat  # noqa: B018 - reading it is the test
    assert set(agents.__all__) <= set(dir(agents))
    program = "from agents import *; print(sorted(name for name in dir() if name[:2] != '__'))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout.strip() == str(sorted(agents.__all__))


@pytest.mark.parametrize("name", agents.__all__)
def test_no_part_of_the_package_has_the_name_of_a_public_one(name: str) -> None:
    """An imported part is an attribute of the package, in place of what stood there."""
    assert importlib.util.find_spec(f"agents.{name}") is None
