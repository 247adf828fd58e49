"""The MCP server in a process of its own, used by the package's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.errors import UsageError
from agents.spec import read_spec

from ..audit.test_project import git
from ..run.test_approvals import MENDED, answering, fenced
from ..support.commands import QUICKSORT, REPLAYS, ROOT, SLUGIFY, command, environment, processes_with
from ..support.held import wait_until
from ..support.provider import Handler, Provider, serving
from ..support.shares import half_of

pytest.importorskip("mcp", reason="the package mcp is not installed (extra mcp)")

import anyio
from mcp import Client, StdioServerParameters, stdio_client

RIGHT = "def f(x):\n    return x + 1\n"
TESTS = "from user_code import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
SPEC = "Implement double(x: int) -> int: twice the number. double(2) == 4"
RECORDED = ("--model", f"recorded:{REPLAYS}")


def using(
    folder: Path,
    work: Callable[[Client], Awaitable[None]],
    *options: str,
    mode: str = "auto",
    extra: dict[str, str] | None = None,
) -> None:
    """Start a server in `folder`, do `work` with a client of it, and end it."""
    program, *arguments = command("mcp", *(options or RECORDED), "--no-mutation")
    parameters = StdioServerParameters(
        command=program, args=arguments, env=environment(folder, extra), cwd=str(folder)
    )

    async def main() -> None:
        with anyio.fail_after(100):
            async with Client(stdio_client(parameters), mode=mode) as client:
                await work(client)

    asyncio.run(main())


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a tool that must not fail."""
    began = time.monotonic()
    result = await client.call_tool(tool, arguments)
    assert time.monotonic() - began < 60
    assert not result.is_error, result.content
    found: dict[str, Any] | None = result.structured_content
    assert found is not None
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The text of an error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    text: str = result.content[0].text  # type: ignore[union-attr]
    assert "Traceback" not in text
    return text


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        server.script(answering(lambda _: MENDED))
        yield server


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_lists_verifies_starts_and_follows(tmp_path: Path, mode: str) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {
            "verify",
            "generate",
            "heal",
            "run_status",
            "answer",
            "stop_run",
        }
        for tool in tools:
            assert tool.input_schema["additionalProperties"] is False
            assert not {"sandbox", "api_base", "model", "path", "work_dir"} & set(tool.input_schema["properties"])
        assert (await called(client, "verify", code=RIGHT, tests=TESTS))["verdict"] == "passed"
        forged = await called(client, "verify", code="import os\nos._exit(0)\n", tests=TESTS)
        assert forged["verdict"] != "passed"
        begun = await called(client, "generate", spec=QUICKSORT, wait_seconds=1)
        assert begun["state"] in ("waiting", "running", "finished")
        ended = await called(client, "run_status", run=begun["run"])
        assert ended["state"] == "finished"
        assert ended["result"]["grade"] == "consensus"
        assert "def quicksort" in ended["result"]["code"]
        assert ended["model"].startswith("recorded:")
        assert ended["model_reason"]

    using(tmp_path, work, mode=mode)
    runs = list((tmp_path / ".local/share/greenloop/runs").glob("*/run.json"))
    assert len(runs) == 1, "runs are in the user's data directory"
    assert not (tmp_path / "work_dir").exists()


@pytest.mark.thorough
def test_progress_rises_while_a_run_works(tmp_path: Path, provider: Provider) -> None:
    told: list[tuple[float, str]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    def slowly(handler: Handler) -> None:
        time.sleep(2)
        answering(lambda _: MENDED)(handler)

    async def work(client: Client) -> None:
        result = await client.call_tool("generate", {"spec": SPEC, "effort": "low"}, progress_callback=heard)
        assert result.structured_content is not None
        assert result.structured_content["state"] == "finished"

    provider.script(slowly)
    using(tmp_path, work, *hosted(provider), extra={"OPENAI_API_KEY": "k"})
    numbers = [number for number, _ in told]
    assert len(numbers) >= 2
    assert numbers == sorted(set(numbers))
    assert any(message for _, message in told)


def hosted(provider: Provider) -> tuple[str, ...]:
    return ("--model", "openai/gpt-4o", "--api-base", provider.api_base)


def test_what_is_not_to_be_had_is_refused_and_the_server_lives_on(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        assert "256 KB" in await refused(client, "verify", code="x = 1\n" * 60_000, tests=TESTS)
        for tool, arguments in (
            ("verify", {"code": RIGHT, "tests": TESTS, "sandbox": "none"}),
            ("generate", {"spec": SPEC, "api_base": "http://127.0.0.1:9"}),
            ("generate", {"spec": SPEC, "wait_seconds": 600}),
            ("generate", {"spec": SPEC, "effort": "utmost"}),
            ("heal", {"path": "/etc/passwd"}),
        ):
            assert await refused(client, tool, **arguments)
        for name in ("../../etc", "", "x" * 1000, str(tmp_path)):
            assert "There is no run" in await refused(client, "run_status", run=name)
            assert "There is no run" in await refused(client, "answer", run=name, lines="f(1) == 2")
        assert (await called(client, "verify", code=RIGHT, tests=TESTS))["verdict"] == "passed"

    using(tmp_path, work)


def test_a_spec_names_no_file_of_the_servers_folder(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("SECRET = 'of the folder'\n")
    (tmp_path / "tests.py").write_text(TESTS)
    spec = "---\nwith: shapes.py\n---\nImplement double(x: int) -> int. double(2) == 4"
    assert "of the folder" in str(read_spec(spec, origin=str(tmp_path / "spec.md"))), (
        "the control: a file's spec may"
    )

    async def work(client: Client) -> None:
        for front in ("with: shapes.py", "with: [./shapes.py]", "tests: tests.py", "packages: numpy", "file: x"):
            said = await refused(client, "generate", spec=f"---\n{front}\n---\n{SPEC}")
            assert front.partition(":")[0] in said
        for limits in ("max_seconds: 99999", "limits:\n  max_tokens: 99999"):
            assert "at most" in await refused(client, "generate", spec=f"---\n{limits}\n---\n{SPEC}")

    using(tmp_path, work, *RECORDED, "--max-seconds", "60", "--max-tokens", "5000")
    assert not list((tmp_path / ".local/share/greenloop/runs").glob("*"))


def test_an_example_that_cant_be_read_is_refused_as_in_front_matter(tmp_path: Path) -> None:
    unclear = "double(2) is about 4"
    with pytest.raises(UsageError) as caught:
        read_spec(f"---\nexamples: ['{unclear}']\n---\n{SPEC}", origin="argument")
    sentence = str(caught.value).partition(": ")[2]
    assert not any(
        unclear in each.source_line for each in read_spec(f"{SPEC}\n{unclear}", origin="argument").examples
    )

    async def work(client: Client) -> None:
        for examples in (unclear, f"double(1) == 2\n{unclear}", f"- {unclear}"):
            said = await refused(client, "generate", spec=SPEC, examples=examples)
            assert said.endswith(sentence), (said, sentence)

    using(tmp_path, work)


@pytest.mark.thorough
def test_a_pattern_that_takes_forever_holds_up_neither_the_server_nor_its_end(
    tmp_path: Path, provider: Provider
) -> None:
    provider.script(fenced("print('b')\n"))

    async def work(client: Client) -> None:
        begun = await called(client, "heal", code="print('a' * 40 + '!')\n", expect="/(a+)+$/", wait_seconds=1)
        for _ in range(5):
            began = time.monotonic()
            await client.list_tools()
            assert time.monotonic() - began < 10
            await anyio.sleep(0.5)
        while (found := await called(client, "run_status", run=begun["run"]))["state"] in ("running", "waiting"):
            continue
        assert "takes more than" in json.dumps(found["result"])

    using(tmp_path, work, *hosted(provider), extra={"OPENAI_API_KEY": "k"})
    assert wait_until(lambda: not processes_with(str(tmp_path)), 10)


@pytest.mark.thorough
def test_the_effort_is_the_servers_unless_a_call_says_another(tmp_path: Path, provider: Provider) -> None:
    async def work(client: Client) -> None:
        await called(client, "generate", spec=SPEC)
        await called(client, "generate", spec=SPEC, effort="high")

    provider.script(answering(lambda _: MENDED))
    using(tmp_path, work, *hosted(provider), "--effort", "low", extra={"OPENAI_API_KEY": "k"})
    runs = sorted((tmp_path / ".local/share/greenloop/runs").glob("*/run.json"))
    assert [json.loads(run.read_text())["settings"]["effort"] for run in runs] == ["low", "high"]


@pytest.mark.thorough
def test_a_dotenv_file_of_the_folder_changes_nothing(tmp_path: Path, provider: Provider) -> None:
    (tmp_path / ".env").write_text(
        f"GREENLOOP_API_BASE={provider.api_base}\nGREENLOOP_SANDBOX=none\nGREENLOOP_MODEL=openai/gpt-4o\n"
        "OPENAI_API_KEY=k\n"
    )

    async def work(client: Client) -> None:
        found = await called(client, "generate", spec=QUICKSORT)
        assert found["model"].startswith("recorded:")
        assert found["result"]["sandbox"] != "none"
        assert (await called(client, "verify", code=RIGHT, tests=TESTS))["backend"] != "none"

    using(tmp_path, work)
    assert provider.requests == []


@pytest.mark.thorough
def test_a_question_is_answered_and_the_run_goes_on(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        found = await called(client, "generate", spec=SLUGIFY)
        assert found["result"]["grade"] == "contested"
        question = found["result"]["disputes"][0]
        line = f"{question['question']} == {question['answers'][0]}"
        assert "no generated test `test_x`" in await refused(
            client, "answer", run=found["run"], lines="wrong: test_x"
        )
        answered = await called(client, "answer", run=found["run"], lines=line)
        assert answered["run"] == found["run"]
        assert answered["state"] in ("finished", "stopped")

    using(tmp_path, work)


@pytest.mark.thorough
def test_a_heal_gives_a_diff_and_a_grade_and_writes_nothing(tmp_path: Path, provider: Provider) -> None:
    def mends(handler: Handler) -> None:
        fenced("def double(x):\n    return x * 2\n")(handler)

    provider.script(mends)
    tests = "from user_code import double\n\n\ndef test_double():\n    assert double(3) == 6\n"

    async def work(client: Client) -> None:
        found = await called(client, "heal", code="def double(x):\n    return x + 1\n", tests=tests)
        assert found["state"] == "finished", found
        assert "+    return x * 2" in found["result"]["diff"]
        assert found["result"]["grade"] is not None
        assert found["result"]["written"] == []
        again = await called(client, "run_status", run=found["run"])
        assert again["result"]["diff"] == found["result"]["diff"]

    using(tmp_path, work, *hosted(provider), extra={"OPENAI_API_KEY": "k"})


class Silent:
    """A provider's answer that comes when the test ends."""

    def __init__(self) -> None:
        self.ends = threading.Event()

    def __call__(self, handler: Handler) -> None:
        self.ends.wait(60)
        handler.cut()


@pytest.mark.thorough
def test_a_cancelled_call_stops_its_run_which_can_be_resumed(tmp_path: Path, provider: Provider) -> None:
    silent = Silent()
    provider.script(silent)

    async def work(client: Client) -> None:
        with anyio.move_on_after(4):
            await client.call_tool("generate", {"spec": SPEC})
        began = time.monotonic()
        record = next((tmp_path / "runs").glob("runs/*/run.json"))
        while json.loads(record.read_text())["status"] == "running" and time.monotonic() - began < 5:
            await anyio.sleep(0.1)
        assert json.loads(record.read_text())["status"] == "interrupted"
        follow = await called(client, "run_status", run=record.parent.name, wait_seconds=1)
        assert follow["state"] == "interrupted"

    options = (*hosted(provider), "--work-dir", "runs")
    using(tmp_path, work, *options, extra={"OPENAI_API_KEY": "k"})
    silent.ends.set()


@pytest.mark.thorough
def test_stop_run_ends_a_run(tmp_path: Path, provider: Provider) -> None:
    silent = Silent()
    provider.script(silent)

    async def work(client: Client) -> None:
        begun = await called(client, "generate", spec=SPEC, wait_seconds=3)
        assert begun["state"] == "running"
        began = time.monotonic()
        assert (await called(client, "stop_run", run=begun["run"]))["state"] in ("interrupted", "stopped")
        assert time.monotonic() - began < 6

    using(tmp_path, work, *hosted(provider), extra={"OPENAI_API_KEY": "k"})
    silent.ends.set()


@pytest.mark.parametrize("how", half_of(["the client goes away", "SIGTERM", "SIGINT"]))
def test_nothing_is_left_of_a_server_whose_client_is_gone(tmp_path: Path, provider: Provider, how: str) -> None:
    silent = Silent()
    provider.script(silent)
    server = subprocess.Popen(
        command("mcp", *hosted(provider), "--work-dir", "runs", "--no-mutation"),
        cwd=tmp_path,
        env=environment(tmp_path, {"OPENAI_API_KEY": "k"}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {"name": "generate", "arguments": {"spec": SPEC}, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    assert wait_until(lambda: bool(provider.requests), 90)
    if how.startswith("SIG"):
        os.kill(server.pid, signal.Signals[how])
    else:
        server.stdin.close()
    server.wait(8)
    assert wait_until(lambda: not processes_with(str(tmp_path)), 5)
    lines = server.stdout.read().splitlines()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    server.stdout.close()
    server.stdin.close()
    silent.ends.set()
    provider.script(answering(lambda _: MENDED))
    (record,) = (tmp_path / "runs/runs").glob("*/run.json")
    ended = subprocess.run(
        command("--resume", record.parent.name, *hosted(provider), "--work-dir", "runs", "--json"),
        cwd=tmp_path,
        env=environment(tmp_path, {"OPENAI_API_KEY": "k"}),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert json.loads(ended.stdout)["code"] == MENDED, ended.stderr


def test_a_client_that_reads_no_answers_ends_the_server_quietly(tmp_path: Path) -> None:
    own, here, pipe = command("mcp", *RECORDED), environment(tmp_path), subprocess.PIPE
    with subprocess.Popen(own, cwd=tmp_path, env=here, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdout is not None
        server.stdout.close()
        server.stdout = None
        _, said = server.communicate(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n', timeout=60)
    assert (server.returncode, said) == (0, b"")


def test_without_the_package_the_command_names_it(tmp_path: Path) -> None:
    text = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.modules['mcp'] = None\n"
    text += "from agents.cli import main\nsys.exit(main(['mcp']))"
    ended = subprocess.run(
        [command()[0], "-c", text], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "pip install 'greenloop[mcp]'" in ended.stderr


@pytest.mark.thorough
def test_an_agent_is_told_what_its_change_weakens_and_audits_nothing_outside_of_the_roots(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "doubles.py").write_text("def double(x):\n    return 2 * x\n")
    tests = folder / "tests" / "test_code.py"
    tests.write_text("from doubles import double\n\n\ndef test_double():\n    assert double(3) == 6\n")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")

    async def audited(client: Client) -> None:
        (folder / "doubles.py").write_text("def double(x):\n    return 3 * x\n")
        tests.write_text(tests.read_text().replace("== 6", "> 0"))
        found = await called(client, "audit", folder=str(folder), base="HEAD", seconds=60)
        assert found["passed"] is False
        assert any("tests/test_code.py::test_double: weaker" in line for line in found["findings"])
        git(folder, "checkout", "--quiet", ".")
        (folder / "doubles.py").write_text("def double(x):\n    return x + x\n")
        found = await called(client, "audit", folder=str(folder), base="HEAD", seconds=60)
        assert (found["passed"], found["findings"]) == (True, [])
        assert "is not below" in await refused(client, "audit", folder=str(tmp_path), base="HEAD")
        assert "is not below" in await refused(client, "audit", folder="\0", base="HEAD")
        assert "There is no commit" in await refused(client, "audit", folder=str(folder), base="no-such")

    using(tmp_path, audited, *RECORDED, "--roots", str(folder))


@pytest.mark.thorough
def test_a_cancelled_audit_ends_and_leaves_the_server_answering(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_code.py").write_text("import time\n\n\ndef test_f():\n    assert time.sleep(60) is None\n")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")

    async def work(client: Client) -> None:
        with anyio.move_on_after(8):
            await client.call_tool("audit", {"folder": str(folder), "base": "HEAD"})
        with anyio.fail_after(5):
            assert "There is no run" in await refused(client, "run_status", run="none")

    using(tmp_path, work, *RECORDED, "--roots", str(folder))


def test_without_roots_there_is_no_audit(tmp_path: Path) -> None:
    async def listed(client: Client) -> None:
        assert "audit" not in {tool.name for tool in (await client.list_tools()).tools}

    using(tmp_path, listed)
