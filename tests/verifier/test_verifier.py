"""The public face: boards and a user's own files, run in a plain process (the sandbox has tests of its own)."""

from __future__ import annotations

import importlib.util
import math
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from agents.errors import Interrupted, SandboxBroken, UsageError
from agents.records import Candidate, Test, TestOrigin
from agents.sandbox import Job, Running, Sandbox, SandboxLimits, open_sandbox
from agents.verifier import Verifier
from agents.verifier.inside.proxy.frames import HELLO, frame

from ..support.scripted_sandbox import ScriptedSandbox

DOUBLE = "def double(x):\n    return x * 2\n"


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier(open_sandbox("none"), SandboxLimits(), jobs=2, call_seconds=1.5) as opened:
        yield opened


def candidate(code: str, name: str = "c") -> Candidate:
    return Candidate(name, code, "draft", 0)


def doubling(*numbers: int, origin: TestOrigin = "generated") -> list[Test]:
    return [
        Test(
            f"test_{n}",
            f"def test_{n}():\n    assert double({n}) == {2 * n}\n",
            origin,
            "from user_code import double",
        )
        for n in numbers
    ]


def test_right_code_passes_with_an_outcome_for_each_test(verifier: Verifier) -> None:
    board = verifier.board([candidate(DOUBLE)], doubling(0, 1, 2))
    (verdict,) = board.verdicts
    assert verdict.kind == "passed"
    assert [(outcome.test_id, outcome.status) for outcome in verdict.outcomes] == [
        ("test_0", "passed"), ("test_1", "passed"), ("test_2", "passed")
    ]  # fmt: skip


def test_wrong_code_fails_with_both_values(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("def double(x):\n    return x\n")], doubling(3)).verdicts
    assert verdict.kind == "failed"
    outcome = verdict.outcome("test_3")
    assert (outcome.actual, outcome.expected) == ("3", "6")
    assert outcome.detail == "assert double(3) == 6: got 3, expected 6"


def test_what_is_compared_by_identity_is_told_as_a_value(verifier: Verifier) -> None:
    tests = "from user_code import first\n\ndef test_none():\n    assert first(['a']) is None\n"
    outcome = verifier.verify("def first(items):\n    return items[0]\n", tests).outcomes[0]
    assert (outcome.actual, outcome.expected) == ("'a'", "None")
    assert outcome.detail == "assert first(['a']) is None: got 'a', expected None"


@pytest.mark.parametrize(
    "returned", [list(range(40)), tuple(range(40)), {n: n for n in range(20)}, [[[[[[[[1]]]]]]]]]
)
def test_what_was_returned_is_told_whole_however_many_items_it_has(verifier: Verifier, returned: object) -> None:
    (verdict,) = verifier.board([candidate(f"def double(x):\n    return {returned!r}\n")], doubling(3)).verdicts
    assert verdict.outcome("test_3").actual == repr(returned)


def test_an_exception_is_reported_with_its_line(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("def double(x):\n    return x / 0\n")], doubling(3)).verdicts
    detail = verdict.outcome("test_3").detail
    assert "ZeroDivisionError: division by zero" in detail
    assert "user_code.py line 2: return x / 0" in detail


@pytest.mark.parametrize(
    "hang", ["while x == 2: pass", "if x == 2 and __import__('os').fork(): __import__('time').sleep(60)"]
)
def test_a_hanging_test_is_stopped_and_the_others_keep_their_outcomes(hang: str, verifier: Verifier) -> None:
    """A fork of what hangs answers for nobody."""
    code = f"def double(x):\n    {hang}\n    return x * 2\n"
    (verdict,) = verifier.board([candidate(code)], doubling(1, 2, 3)).verdicts
    assert verdict.kind == "stopped"
    assert verdict.stopped is not None
    assert verdict.stopped.limit == "wall"
    assert [outcome.status for outcome in verdict.outcomes] == ["passed", "stopped", "passed"]
    assert "did not return within 1.5 s" in verdict.outcome("test_2").detail


A_TEST = "from user_code import f\ndef test_a():\n    assert f(1) == 1\n"


def test_code_that_cannot_be_imported_fails_every_test(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("import nowhere_to_be_found\n")], doubling(1, 2)).verdicts
    assert verdict.kind == "failed"
    assert all("ModuleNotFoundError" in outcome.detail for outcome in verdict.outcomes)


def test_code_that_ends_the_program_when_it_is_imported_is_named_as_that(verifier: Verifier) -> None:
    verdict = verifier.verify("import sys\ndef f(x):\n    return x\nsys.exit(0)\n", A_TEST)
    assert (verdict.kind, verdict.outcomes) == ("incomplete", ())
    assert "ends the program when it is imported" in verdict.reason


def test_equal_code_is_verified_once_and_reported_for_each_candidate(verifier: Verifier) -> None:
    board = verifier.board([candidate(DOUBLE, "a"), candidate(DOUBLE, "b")], doubling(1))
    assert board.verdicts[0] is board.verdicts[1]


def test_no_test_at_all_is_not_a_pass(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate(DOUBLE)], []).verdicts
    assert verdict.kind == "refused"


def test_a_users_own_file_runs_as_it_stands_with_an_outcome_for_each_case(verifier: Verifier) -> None:
    tests = (
        "import pytest\nfrom user_code import double\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n):\n    assert double(n) == n + n\n"
    )
    verdict = verifier.verify(DOUBLE, tests)
    assert verdict.kind == "passed"
    assert [outcome.test_id for outcome in verdict.outcomes] == ["test_it[1]", "test_it[2]"]


def test_a_class_of_tests_is_one_test_with_its_first_failure(verifier: Verifier) -> None:
    source = (
        "class TestDouble:\n    def test_one(self):\n        assert double(1) == 2\n"
        "    def test_two(self):\n        assert double(2) == 4\n"
    )
    test = Test("TestDouble", source, "generated", "from user_code import double")
    wrong = candidate("def double(x):\n    return 2 if x == 1 else 0\n", "wrong")
    right, bad = verifier.board([candidate(DOUBLE), wrong], [test]).verdicts
    assert (right.kind, right.outcome("TestDouble").status) == ("passed", "passed")
    assert bad.outcome("TestDouble").detail == "test_two: assert double(2) == 4: got 0, expected 4"


def test_a_vacuous_generated_test_is_refused_and_does_not_count(verifier: Verifier) -> None:
    vacuous = Test(
        "test_v",
        "def test_v():\n    assert double(1) == double(1)\n",
        "generated",
        "from user_code import double",
    )
    (verdict,) = verifier.board([candidate(DOUBLE)], [*doubling(1), vacuous]).verdicts
    assert verdict.kind == "passed"
    assert [(refusal.test_id, refusal.reason) for refusal in verdict.refused] == [
        ("test_v", "it notices only values of another type, and exceptions: double(1) returning 3 would pass it")
    ]
    assert [outcome.test_id for outcome in verdict.outcomes] == ["test_1"]


def test_a_vacuous_trusted_test_runs_and_is_noted(verifier: Verifier) -> None:
    vacuous = Test(
        "test_v", "def test_v():\n    assert double(1) == double(1)\n", "user", "from user_code import double"
    )
    (verdict,) = verifier.board([candidate(DOUBLE)], [*doubling(1), vacuous]).verdicts
    assert verdict.kind == "passed"
    assert verdict.refused == ()
    assert verdict.outcome("test_v").status == "passed"
    assert any("test_v does not count as passed" in note for note in verdict.notes)


def test_only_vacuous_tests_are_no_pass(verifier: Verifier) -> None:
    vacuous = Test(
        "test_v", "def test_v():\n    assert double(1) == double(1)\n", "user", "from user_code import double"
    )
    (verdict,) = verifier.board([candidate(DOUBLE)], [vacuous]).verdicts
    assert verdict.kind == "refused"


def test_a_test_of_relative_paths_runs_in_one_process_and_the_verdict_says_so(verifier: Verifier) -> None:
    code = "def size(path):\n    return len(open(path).read())\n"
    tests = (
        "from user_code import size\ndef test_size(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n"
        "    (tmp_path / 'a').write_text('abc')\n    assert size('a') == 3\n"
    )
    verdict = verifier.verify(code, tests)
    assert (verdict.kind, verdict.isolation) == ("passed", "in-process")


def test_an_object_that_cannot_be_handed_over_moves_its_test_into_one_process(verifier: Verifier) -> None:
    tests = (
        "from threading import Lock\nfrom user_code import find\n"
        "def test_find():\n    mark = Lock()\n    assert find(mark, [1, mark]) == 1\n"
        "def test_none():\n    assert find(None, []) is None\n"
    )
    code = "def find(mark, items):\n    return items.index(mark) if mark in items else None\n"
    verdict = verifier.verify(code, tests)
    assert (verdict.kind, verdict.isolation) == ("passed", "in-process")
    assert [outcome.test_id for outcome in verdict.outcomes] == ["test_find", "test_none"]


def test_code_that_kills_its_process_fails_the_test_and_not_the_others(verifier: Verifier) -> None:
    code = "import os\ndef double(x):\n    if x == 2:\n        os._exit(0)\n    return x * 2\n"
    (verdict,) = verifier.board([candidate(code)], doubling(1, 2, 3)).verdicts
    assert verdict.kind == "failed"
    assert [outcome.status for outcome in verdict.outcomes] == ["passed", "error", "passed"]
    assert verdict.outcome("test_2").detail == "the code ended its process with exit code 0"


def test_too_much_memory_is_a_stop_that_names_the_limit(verifier: Verifier) -> None:
    code = "def double(x):\n    return x * 2 if x < 2 else len('a' * (1 << 33))\n"
    (verdict,) = verifier.board([candidate(code)], doubling(1, 2)).verdicts
    assert verdict.kind == "stopped"
    assert verdict.stopped is not None
    assert verdict.stopped.limit == "memory"


def test_an_import_that_hangs_is_stopped(verifier: Verifier) -> None:
    (verdict,) = verifier.board([candidate("while True:\n    pass\n")], doubling(1)).verdicts
    assert verdict.kind == "stopped"
    assert "import of the code did not return" in verdict.outcome("test_1").detail


def test_what_the_code_prints_is_kept_and_cleaned(verifier: Verifier) -> None:
    code = "def double(x):\n    print('\\x1b[31mhello\\u202e')\n    return x * 2\n"
    (verdict,) = verifier.board([candidate(code)], doubling(1)).verdicts
    assert verdict.output == "hello\\u202e\n"


def test_a_confirmation_is_a_verdict_of_its_own(verifier: Verifier) -> None:
    assert verifier.confirm(candidate(DOUBLE), doubling(1)).kind == "passed"


class BreaksOnce(Sandbox):
    """A sandbox that fails for the first job."""

    name = "none"

    def __init__(self) -> None:
        self._sandbox = open_sandbox("none")
        self.interpreter = self._sandbox.interpreter
        self.broken = False

    def launch(self, job: Job) -> Running:
        if not self.broken:
            self.broken = True
            raise SandboxBroken("It is gone.")
        return self._sandbox.launch(job)

    def close(self) -> None:
        self._sandbox.close()


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, 1 << 64, "5", None])
def test_a_limit_that_bounds_nothing_is_refused(value: Any) -> None:
    for name in ("wall_seconds", "memory_bytes"):
        with pytest.raises(UsageError, match=f"{name} has to be a .*number above 0"):
            SandboxLimits(**{name: value})
    with pytest.raises(UsageError, match="call_seconds has to be a number above 0"):
        Verifier("none", call_seconds=value)


def test_an_error_in_one_board_ends_that_board_alone() -> None:
    with Verifier(BreaksOnce(), jobs=2) as verifier:
        with pytest.raises(SandboxBroken):
            verifier.board([candidate(DOUBLE), candidate(DOUBLE + "# other\n")], doubling(1))
        (verdict,) = verifier.board([candidate(DOUBLE)], doubling(1)).verdicts
        assert verdict.kind == "passed"
        verifier.cancel()
        with pytest.raises(Interrupted):
            verifier.board([candidate(DOUBLE)], doubling(2))


@pytest.mark.thorough
def test_tests_whose_import_hangs_are_stopped_by_the_limit_of_the_whole_run() -> None:
    """No call is under way and no test has begun: neither of their limits holds."""

    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(frame(HELLO, b""))
        while channel.recv(1 << 16):
            pass

    with Verifier(ScriptedSandbox(script), SandboxLimits(wall_seconds=3), call_seconds=1.0) as verifier:
        verdict = verifier.verify(
            DOUBLE, "from user_code import double\ndef test_1():\n    assert double(1) == 2\n"
        )
    assert (verdict.kind, verdict.outcomes[0].status) == ("stopped", "stopped")
    assert verdict.outcomes[0].detail == "the import of the tests did not return within 3 s"
    assert verdict.stopped is not None
    assert verdict.stopped.allowed == 3
    assert 3 <= verdict.stopped.value < 6


def test_an_interrupted_board_ends_what_is_under_way_at_once() -> None:
    hanging = candidate("def double(x):\n    while True:\n        pass\n", "hanging")
    begun = time.monotonic()
    limits = SandboxLimits(wall_seconds=60, cpu_seconds=60)
    interrupt = [threading.get_ident(), signal.SIGINT]
    threading.Timer(1.0, signal.pthread_kill, interrupt).start()
    verifier = Verifier(open_sandbox("none"), limits, jobs=2, call_seconds=60)
    with verifier, pytest.raises(KeyboardInterrupt):
        verifier.board([hanging, candidate(DOUBLE)], doubling(1))
    assert time.monotonic() - begun < 20


def test_in_haste_a_candidate_is_given_up_at_the_first_test_that_hangs(verifier: Verifier) -> None:
    code = "def double(x):\n    while x > 1:\n        pass\n    return x * 2\n"
    right, hanging = verifier.hasty_board([candidate(DOUBLE), candidate(code)], doubling(*range(9)), 0.4).verdicts
    assert (right.kind, hanging.kind) == ("passed", "stopped")
    assert [outcome.status for outcome in hanging.outcomes] == ["passed"] * 2 + ["stopped"] + ["missing"] * 6


def test_in_haste_code_that_ends_its_process_never_passes(verifier: Verifier) -> None:
    code = "import os\ndef double(x):\n    if x == 2:\n        os._exit(0)\n    return x * 2\n"
    (verdict,) = verifier.hasty_board([candidate(code)], doubling(1, 2, 3), 1.0).verdicts
    assert verdict.kind == "failed"
    assert verdict.outcome("test_3").status == "missing"


ASYNC = (
    "import pytest\nfrom user_code import f\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n"
    "@pytest.mark.anyio\nasync def test_a():\n    assert await f(1) == 2\n"
)


@pytest.mark.skipif(importlib.util.find_spec("anyio") is None, reason="anyio is not installed")
def test_an_async_test_runs_by_the_plugin_that_it_asks_for(verifier: Verifier) -> None:
    code = "async def f(x):\n    return x + 1\n"
    assert verifier.verify(code, ASYNC).kind == "passed"
    assert verifier.verify(code.replace("x + 1", "x - 1"), ASYNC).kind == "failed"
    verdict = verifier.verify(code, ASYNC.replace("@pytest.mark.anyio\n", ""))
    assert "plain pytest does not run" in verdict.reason


def test_a_test_that_its_condition_skips_is_said_and_does_not_count(verifier: Verifier) -> None:
    marked = "@pytest.mark.skipif(sys.platform != 'win32', reason='x')\n"
    skipped = f"import sys\nimport pytest\nfrom user_code import f\n{marked}"
    verdict = verifier.verify("def f():\n    return 1\n", f"{skipped}def test_a():\n    assert f() == 1\n")
    assert (verdict.kind, verdict.reason) == ("refused", "test_a: it is skipped here: x")
    both = f"{skipped}def test_a():\n    assert f() == 2\ndef test_b():\n    assert f() == 1\n"
    verdict = verifier.verify("def f():\n    return 1\n", both)
    assert verdict.kind == "passed"
    assert [outcome.test_id for outcome in verdict.outcomes] == ["test_b"]
