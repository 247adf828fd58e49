"""One verification runs cold; from the second on a warm worker serves where the sandbox can hold one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.backends.warm import WarmSandbox
from agents.verifier import Verifier
from agents.verifier.workers import EARNED_AFTER, MOST_WORKERS, Workers


@pytest.fixture
def sandbox() -> Sandbox:
    try:
        sandbox = open_sandbox()
        sandbox.warm(["pytest"]).close()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no warm worker here: {unavailable}")
    return sandbox


@pytest.fixture
def workers(sandbox: Sandbox) -> Iterator[Workers]:
    workers = Workers(sandbox, 1)
    yield workers
    workers.close()


def test_the_first_verification_is_cold_and_the_second_warm(workers: Workers) -> None:
    assert workers.sandbox(1) is workers.cold
    assert isinstance(workers.sandbox(1), WarmSandbox)


def test_a_board_is_warm_from_the_start(workers: Workers) -> None:
    assert isinstance(workers.sandbox(2), WarmSandbox)


def test_a_broken_worker_is_discarded(workers: Workers) -> None:
    workers.discard(workers.sandbox(2))
    assert workers.sandbox(2) is workers.cold


def test_a_lasting_worker_that_broke_is_replaced_once_for_all_who_say_so(sandbox: Sandbox) -> None:
    workers = Workers(sandbox, 1, lasting=True)
    first = workers.sandbox(2)
    workers.discard(first)
    second = workers.sandbox(1)
    workers.discard(first)
    assert workers.sandbox(1) is second
    assert isinstance(second, WarmSandbox)
    workers.close()


@pytest.mark.thorough
def test_a_worker_that_served_long_is_replaced_however_often_that_happens(sandbox: Sandbox) -> None:
    workers = Workers(sandbox, 1, lasting=True)
    for _ in range(MOST_WORKERS + 1):
        worker = workers.sandbox(EARNED_AFTER + 1)
        assert isinstance(worker, WarmSandbox)
        workers.sandbox(EARNED_AFTER + 1)
        workers.discard(worker)
    for _ in range(MOST_WORKERS):
        workers.discard(workers.sandbox(1))
    assert workers.sandbox(1) is workers.cold


def test_a_sandbox_without_workers_serves_cold() -> None:
    workers = Workers(open_sandbox("none"), 1)
    assert workers.sandbox(5) is workers.cold


def test_warm_and_cold_verdicts_agree(sandbox: Sandbox) -> None:
    tests = (
        "import pytest\nfrom user_code import half\ndef test_half():\n    assert half(3) == 1.5\n"
        "def test_bad():\n    with pytest.raises(TypeError):\n        half('x')\n"
        "def test_file(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n"
        "    (tmp_path / 'a').write_text('4')\n"
        "    assert half(int((tmp_path / 'a').read_text())) == 2\n"
    )
    right, wrong = "def half(x):\n    return x / 2\n", "def half(x):\n    return x // 2\n"
    with Verifier(sandbox) as verifier:
        kinds = [verifier.verify(code, tests).kind for code in (right, right, wrong, wrong)]
    assert kinds == ["passed", "passed", "failed", "failed"]
