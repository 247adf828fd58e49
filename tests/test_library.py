"""greenloop in another program: installed from a wheel, and the examples of docs/library.md."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .support.commands import QUICKSORT, REPLAYS, ROOT
from .support.installed import install
from .support.proposers import three
from .support.provider import Streams, serving

EXAMPLES = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text(encoding="utf-8"), re.DOTALL
)
HEAVY = {"smolagents", "litellm", "jinja2", "httpx", "pytest", "_pytest"}
NAMES = "generate, agenerate, heal, aheal, verify, averify, Verifier, Settings, HealRequest, RunResult, Verdict"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("installed")
    for each in (directory, *directory.parents[:2]):
        each.chmod(0o755)  # jobs of root run as another user
    return install(directory)


def run(python: Path, program: str, directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], "HOME": str(directory), "GREENLOOP_MODEL": f"recorded:{REPLAYS}"}
    return subprocess.run(
        [python, "-c", program],
        cwd=directory,
        env={**own, "GREENLOOP_MUTATION": "false", **variables},
        capture_output=True,
        text=True,
        timeout=150,
    )


MENDED = """def total(amounts):
    result = 0
    for index in range(len(amounts)):
        result += amounts[index]
    return result
"""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split("\n\n")[-1][:20])
def test_the_examples_of_the_page_run_and_say_nothing_of_their_own(
    python: Path, example: str, tmp_path: Path
) -> None:
    variables, healing = {}, "HealRequest" in example
    with serving() as provider:
        if healing:  # no recorded reply has its request
            provider.script(*(Streams([f"```python\n{code}```\n"]) for code in three(MENDED)))
            named = {"GREENLOOP_MODEL": "openai/m", "GREENLOOP_API_BASE": provider.api_base}
            variables = {**named, "OPENAI_API_KEY": "k"}
        ended = run(python, example, tmp_path, **variables)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} <= {"work_dir", *(["report.py"] if healing else [])}
    if healing:
        assert ended.stdout.startswith("healed ")
        assert "+    for index in range(len(amounts)):\n" in ended.stdout


@pytest.mark.thorough
def test_the_examples_are_typed(python: Path, tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"example{number}.py").write_text(example)
    command = [sys.executable, "-m", "mypy", "--strict", f"--python-executable={python}", "."]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


def test_the_import_is_quick_and_light_and_so_are_the_names(python: Path, tmp_path: Path) -> None:
    program = (
        "import sys, time\nbegun = time.process_time()\nimport greenloop\ntaken = time.process_time() - begun\n"
        "first = {name.split('.')[0] for name in sys.modules}\n"
        f"from greenloop import {NAMES}\n"
        "print([taken, sorted(first), sorted({name.split('.')[0] for name in sys.modules}), greenloop.__file__])\n"
    )
    ended = run(python, program, tmp_path)
    taken, first, later, file = ast.literal_eval(ended.stdout)
    assert taken < 0.2
    assert not HEAVY & set(first)
    assert not HEAVY & set(later)
    assert str(python.parents[1]) in file


@pytest.mark.thorough
def test_two_runs_in_threads_do_not_disturb_each_other(python: Path, tmp_path: Path) -> None:
    program = f"""
from concurrent.futures import ThreadPoolExecutor
from greenloop import Settings, generate

with ThreadPoolExecutor(2) as pool:
    runs = [pool.submit(generate, {QUICKSORT!r}, settings=Settings.from_environment()) for _ in range(2)]
results = [run.result() for run in runs]
print([result.grade for result in results], len({{result.run_dir for result in results}}))
"""
    ended = run(python, program, tmp_path)
    assert (ended.stdout, ended.stderr) == ("['consensus', 'consensus'] 2\n", "")


CANCELLED = """
import asyncio, os, sys
from pathlib import Path
from greenloop import Settings, agenerate
from greenloop.events import BoardStarted

async def main():
    testing, loop = asyncio.Event(), asyncio.get_running_loop()
    def heard(event):
        if isinstance(event, BoardStarted):
            loop.call_soon_threadsafe(testing.set)
    settings = Settings(model="openai/m", api_base=sys.argv[1], mutation=False)
    task = asyncio.create_task(agenerate("f(x: int) -> int. f(1) == 2", settings=settings, on_event=heard))
    await testing.wait()
    await asyncio.sleep(1)
    print(len(children()) > 0, end=" ")
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled(), children())

def children():
    return [path.read_text() for path in Path("/proc/self/task").glob("*/children") if path.read_text()]

asyncio.run(main())
"""


@pytest.mark.thorough
def test_a_cancelled_run_leaves_no_process_and_a_record(python: Path, tmp_path: Path) -> None:
    hanging = "```python\ndef f(x: int) -> int:\n    while True:\n        x += 1\n```"
    with serving() as provider:
        provider.script(Streams([hanging]))
        program = f"import sys\nsys.argv.append({provider.api_base!r})\n{CANCELLED}"
        ended = run(python, program, tmp_path, OPENAI_API_KEY="k")
    assert (ended.stdout, ended.stderr) == ("True True []\n", "")
    (record,) = (tmp_path / "work_dir" / "runs").glob("*/run.json")
    assert json.loads(record.read_text())["status"] == "interrupted"


@pytest.mark.thorough
def test_a_hosted_model_prints_nothing_and_dotenv_is_read_when_it_is_asked_for(
    python: Path, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("GREENLOOP_MAX_ROUNDS=3\nGREENLOOP_DRAFTS=1\nFROM_DOTENV=yes\n")
    program = """
import os, sys
from greenloop import Settings, generate

settings = Settings(model="openai/m", api_base=sys.argv[1], mutation=False, drafts=1, max_rounds=1)
result = generate("f(x: int) -> int. f(1) == 2", settings=settings, environ={})
asked = Settings.from_environment()
print(result.grade, settings.max_rounds, asked.max_rounds, asked.drafts)
"""
    program = program.replace("asked =", "print('FROM_DOTENV' in os.environ, end=' ')\nasked =", 1)
    with serving() as provider:
        provider.script(Streams(["```python\ndef f(x: int) -> int:\n    return x + 2\n```"]))
        program = f"import sys\nsys.argv.append({provider.api_base!r})\n{program}"
        ended = run(python, program, tmp_path, OPENAI_API_KEY="k", GREENLOOP_DRAFTS="2")
    assert (ended.stdout, ended.stderr) == ("False failed 1 3 2\n", "")
