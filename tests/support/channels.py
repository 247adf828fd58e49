"""The inner ends of the verifier's channels, played by this process: the truth, and what differs from it."""

from __future__ import annotations

import ast
import json
import socket
from collections.abc import Callable
from typing import Any

from agents.records import Verdict
from agents.sandbox import Job, SandboxLimits
from agents.verifier import Verifier
from agents.verifier.inside.proxy.frames import HEADER, HELLO, RECORD, frame

from .scripted_sandbox import Script, ScriptedSandbox

CODE = "def add(a, b):\n    return a + b\n"
TESTS = (
    "from user_code import add\ndef test_a():\n    assert add(1, 2) == 3\n"
    "def test_b():\n    assert add(2, 2) == 4\n"
)

Record = dict[str, Any]
VALUES = [None, False, True, 0, 7, "", "x", [], ["x"], "failed", "passed", "skipped", "call", "start", "end"]


def verdict_on(script: Script, seconds: float = 0.3) -> Verdict:
    """The verdict on a script, which ends by itself within `seconds` on a busy machine, too, or is ended then."""
    limits = SandboxLimits(wall_seconds=seconds)
    with Verifier(ScriptedSandbox(script), limits, call_seconds=seconds) as verifier:
        return verifier.verify(CODE, TESTS)


def received(channel: socket.socket) -> Record:
    """The task, as the test process gets it."""
    data = b""
    while len(data) < HEADER.size or len(data) < HEADER.size + HEADER.unpack_from(data)[1]:
        if not (more := channel.recv(1 << 16)):
            raise OSError("the host has closed its end")
        data += more
    task: Record = json.loads(data[HEADER.size :])
    return task


def truthful(task: Record, job: Job) -> list[Record]:
    """The records of a run in which every test passes, as the real test process would write them."""
    records: list[Record] = []
    ids = [f"{file}::{node.name}" for file in task["files"] for node in _functions(job.files[file])]
    records.append({"is": "collected", "ids": ids})
    failing = 0
    for node_id in ids:
        file, _, name = node_id.partition("::")
        source = job.files[file].decode()
        fails = file != task["tests_file"] and not _holds(source, name)
        failing += fails
        outcome = "failed" if fails else "passed"
        facts = {"type": "AssertionError", "message": "", "line": 0, "where": ""} if fails else {}
        common = {"xfail": False, "seconds": 0.0, "output": "", "id": node_id}
        records += [
            {"is": "start", "id": node_id},
            {"is": "report", "when": "setup", "outcome": "passed", "facts": {}, **common},
            {"is": "raw", "id": node_id, "outcome": outcome},
            {"is": "report", "when": "call", "outcome": outcome, "facts": facts, **common},
            {"is": "report", "when": "teardown", "outcome": "passed", "facts": {}, **common},
        ]
    records.append({"is": "finish", "collected": len(ids), "failed": failing, "exit": 1})
    records.append({"is": "answers", "digest": "d", "never": []})
    counts = {"noticed": 1, "tried": 1, "weak": 0, "asked": 1, "left": 0, "unmeasured": False, "caught": False}
    for node_id in ids:
        if node_id.startswith(task["tests_file"]):
            records.append({"is": "noticed", "id": node_id, **counts, "missed": []})
    records.append({"is": "end", "exit": 1})
    return [{"nonce": task["nonce"], "n": number, **record} for number, record in enumerate(records, 1)]


def _functions(source: bytes) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def _holds(source: str, name: str) -> bool:
    """Return True if a canary passes: its numbers are equal."""
    (function,) = [
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    statement = function.body[0]
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return False
    left, right = statement.test.left, statement.test.comparators[0]
    assert isinstance(left, ast.BinOp)
    assert isinstance(left.left, ast.Constant)
    assert isinstance(right, ast.Constant)
    return int(str(left.left.value)) + 1 == right.value


def telling(change: Callable[[list[Record]], list[Record]], then: bytes = b"", stays: bool = True) -> Script:
    """A test process that tells a changed truth, and `then` anything; it ends by itself unless it `stays`."""

    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(frame(HELLO, b""))
        if part == "test_process":
            for record in change(truthful(received(channel), job)):
                channel.sendall(frame(RECORD, json.dumps(record).encode()))
            channel.sendall(then)
        if stays:
            channel.recv(1)

    return script


def renumbered(records: list[Record]) -> list[Record]:
    """A forger counts right."""
    return [{**record, "n": number} for number, record in enumerate(records, 1)]


def differing(records: list[Record], below: Callable[[int], int]) -> list[Record]:
    """The records with one dropped, repeated, moved or changed, as `below(n)` (0 to n - 1) chooses; a forger
    numbers them right."""
    index = below(len(records))
    how = ("drop", "repeat", "swap", "change")[below(4)]
    if how == "drop":
        return renumbered(records[:index] + records[index + 1 :])
    if how == "repeat":
        index = min(index, len(records) - 2)  # nothing is read after the end
        return renumbered(records[: index + 1] + records[index:])
    if how == "swap":
        other = (index + 1 + below(len(records) - 1)) % len(records)
        records[index], records[other] = records[other], records[index]
        return renumbered(records)
    fields = [
        key for key in ("is", "id", "ids", "when", "outcome", "xfail", "nonce", "n") if key in records[index]
    ]
    field = fields[below(len(fields))]
    before = records[index][field]
    others = [value for value in VALUES if bool(value) != bool(before)]
    records[index][field] = others[below(len(others))]
    return records
