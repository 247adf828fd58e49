"""One verification runs cold; from the second on a warm worker serves where the sandbox can hold one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.backends.warm import WarmSandbox
from agents.verifier import Verifier
from agents.verifier.workers import EARNED_AFTER, MOST_WORKERS, WorkerChoice


@pytest.fixture
def sandbox() -> Sandbox:
    try:
        sandbox = open_sandbox()
        sandbox.warm(["pytest"]).close()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no warm worker here: {unavailable}")
    return sandbox


@pytest.fixture
def worker_choice(sandbox: Sandbox) -> Iterator[WorkerChoice]:
    worker_choice = WorkerChoice(sandbox)
    yield worker_choice
    worker_choice.close()


def test_the_first_verification_is_cold_and_the_second_warm(worker_choice: WorkerChoice) -> None:
    assert worker_choice.sandbox(1) is worker_choice.cold
    assert isinstance(worker_choice.sandbox(1), WarmSandbox)


def test_a_board_is_warm_from_the_start(worker_choice: WorkerChoice) -> None:
    assert isinstance(worker_choice.sandbox(2), WarmSandbox)


def test_a_broken_worker_is_discarded(worker_choice: WorkerChoice) -> None:
    worker_choice.discard(worker_choice.sandbox(2))
    assert worker_choice.sandbox(2) is worker_choice.cold


def test_a_lasting_worker_that_broke_is_replaced_once_for_all_who_say_so(sandbox: Sandbox) -> None:
    worker_choice = WorkerChoice(sandbox, lasting=True)
    first = worker_choice.sandbox(2)
    worker_choice.discard(first)
    second = worker_choice.sandbox(1)
    worker_choice.discard(first)
    assert worker_choice.sandbox(1) is second
    assert isinstance(second, WarmSandbox)
    worker_choice.close()


@pytest.mark.thorough
def test_a_worker_that_served_long_is_replaced_however_often_that_happens(sandbox: Sandbox) -> None:
    worker_choice = WorkerChoice(sandbox, lasting=True)
    for _ in range(MOST_WORKERS + 1):
        worker = worker_choice.sandbox(EARNED_AFTER + 1)
        assert isinstance(worker, WarmSandbox)
        worker_choice.sandbox(EARNED_AFTER + 1)
        worker_choice.discard(worker)
    for _ in range(MOST_WORKERS):
        worker_choice.discard(worker_choice.sandbox(1))
    assert worker_choice.sandbox(1) is worker_choice.cold


def test_a_sandbox_without_workers_serves_cold() -> None:
    worker_choice = WorkerChoice(open_sandbox("none"))
    assert worker_choice.sandbox(5) is worker_choice.cold


def test_warm_and_cold_verdicts_agree(sandbox: Sandbox) -> None:
    tests = (
        "import pytest\nfrom user_code import half\ndef test_half():\n    assert half(3) == 1.5\n"
        "def test_bad():\n    with pytest.raises(TypeError):\n        half('x')\n"
        "def test_file(tmp_path):\n    (tmp_path / 'a').write_text('4')\n"
        "    assert half(int((tmp_path / 'a').read_text())) == 2\n"
    )
    right, wrong = "def half(x):\n    return x / 2\n", "def half(x):\n    return x // 2\n"
    with Verifier(sandbox) as verifier:
        kinds = [verifier.verify(code, tests).kind for code in (right, right, wrong, wrong)]
    assert kinds == ["passed", "passed", "failed", "failed"]
