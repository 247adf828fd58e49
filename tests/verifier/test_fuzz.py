"""The host's ends of the channels, fed with anything: never a pass, never an exception, nothing left open."""

from __future__ import annotations

import ast
import json
import random
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.records import Verdict
from agents.sandbox import Job, SandboxLimits
from agents.verifier import Verifier
from agents.verifier.inside.frames import ASK, HEADER, HELLO, RECORD, frame

from .scripted import Script, ScriptedSandbox

CODE = "def add(a, b):\n    return a + b\n"
TESTS = (
    "from user_code import add\ndef test_a():\n    assert add(1, 2) == 3\n"
    "def test_b():\n    assert add(2, 2) == 4\n"
)
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Record = dict[str, Any]


def verdict_on(script: Script) -> Verdict:
    limits = SandboxLimits(wall_seconds=0.3)
    with Verifier(ScriptedSandbox(script), limits, call_seconds=0.2) as verifier:
        return verifier.verify(CODE, TESTS)


def received(channel: socket.socket) -> Record:
    """The task, as a judge gets it."""
    data = b""
    while len(data) < HEADER.size or len(data) < HEADER.size + HEADER.unpack_from(data)[1]:
        if not (more := channel.recv(1 << 16)):
            raise OSError("the host has closed its end")
        data += more
    task: Record = json.loads(data[HEADER.size :])
    return task


def truthful(task: Record, job: Job) -> list[Record]:
    """The records of a run in which every test passes, as the real judge would write them."""
    records: list[Record] = []
    ids = [f"{file}::{node.name}" for file in task["files"] for node in _functions(job.files[file])]
    records.append({"is": "collected", "ids": ids})
    failing = 0
    for node_id in ids:
        file, _, name = node_id.partition("::")
        source = job.files[file].decode()
        fails = file in task["stub_files"] or (file != task["tests_file"] and not _holds(source, name))
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
    records.append({"is": "end", "exit": 1})
    return [{"nonce": task["nonce"], "n": number, **record} for number, record in enumerate(records, 1)]


def _functions(source: bytes) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def _holds(source: str, name: str) -> bool:
    """Whether a canary passes: its numbers are equal."""
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


def telling(change: Callable[[list[Record]], list[Record]]) -> Script:
    """A judge that tells a changed truth."""

    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(frame(HELLO, b""))
        if part == "judge":
            for record in change(truthful(received(channel), job)):
                channel.sendall(frame(RECORD, json.dumps(record).encode()))
        channel.recv(1)

    return script


def test_the_truth_passes() -> None:
    assert verdict_on(telling(lambda records: records)).kind == "passed"


VALUES = [None, False, True, 0, 7, "", "x", [], ["x"], "failed", "passed", "skipped", "call", "start", "end"]


def differing(records: list[Record], seed: int) -> list[Record]:
    """The records with one dropped, repeated, moved or changed; a forger numbers them right."""
    chance = random.Random(seed)
    index = chance.randrange(len(records))
    how = chance.choice(["drop", "repeat", "swap", "change"])
    if how == "drop":
        return renumbered(records[:index] + records[index + 1 :])
    if how == "repeat":
        index = min(index, len(records) - 2)  # nothing is read after the end
        return renumbered(records[: index + 1] + records[index:])
    if how == "swap":
        other = chance.choice([other for other in range(len(records)) if other != index])
        records[index], records[other] = records[other], records[index]
        return renumbered(records)
    fields = [
        key for key in ("is", "id", "ids", "when", "outcome", "xfail", "nonce", "n") if key in records[index]
    ]
    field = chance.choice(fields)
    before = records[index][field]
    records[index][field] = chance.choice([value for value in VALUES if bool(value) != bool(before)])
    return records


@FUZZ
@given(seed=st.integers(0, 1 << 32))
def test_a_run_that_differs_from_the_truth_in_one_thing_does_not_pass(seed: int) -> None:
    assert verdict_on(telling(lambda records: differing(records, seed))).kind != "passed"


def renumbered(records: list[Record]) -> list[Record]:
    """A forger counts right."""
    return [{**record, "n": number} for number, record in enumerate(records, 1)]


@FUZZ
@given(judge=st.binary(max_size=300), subject=st.binary(max_size=300), hello=st.booleans())
def test_bytes_of_any_kind_end_in_a_verdict_that_is_no_pass(judge: bytes, subject: bytes, hello: bool) -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall((frame(HELLO, b"") if hello else b"") + (judge if part == "judge" else subject))

    assert verdict_on(script).kind != "passed"


FRAMES = st.lists(
    st.tuples(st.sampled_from([b"H", b"R", b"Q", b"A", b"x"]), st.one_of(st.binary(max_size=40), st.just(b"{}"))),
    max_size=8,
)


@FUZZ
@given(judge=FRAMES, subject=FRAMES)
def test_frames_in_any_order_end_in_a_verdict_that_is_no_pass(
    judge: list[tuple[bytes, bytes]], subject: list[tuple[bytes, bytes]]
) -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        for kind, payload in judge if part == "judge" else subject:
            channel.sendall(frame(kind, payload))

    assert verdict_on(script).kind != "passed"


def test_a_flood_is_cut_off() -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        while True:
            channel.sendall(frame(ASK, b"x" * 1000))

    assert verdict_on(script).kind == "forged"


def test_silence_ends_at_the_time_limit() -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(frame(HELLO, b""))
        channel.recv(1 << 16)
        channel.recv(1)

    assert verdict_on(script).kind == "stopped"


def test_nothing_stays_open() -> None:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(b"\x00" * 50)

    verdict_on(script)
    before = (len(list(Path("/proc/self/fd").iterdir())), threading.active_count())
    for _ in range(20):
        verdict_on(script)
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
