"""One verification runs cold; from the second on a warm worker serves where the sandbox can hold one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.backends.warm import WarmSandbox
from agents.verifier import Verifier
from agents.verifier.worker_choice import Warmth


@pytest.fixture
def sandbox() -> Sandbox:
    try:
        sandbox = open_sandbox()
        WarmSandbox(sandbox).close()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no warm worker here: {unavailable}")
    return sandbox


@pytest.fixture
def warmth(sandbox: Sandbox) -> Iterator[Warmth]:
    warmth = Warmth(sandbox)
    yield warmth
    warmth.close()


def test_the_first_verification_is_cold_and_the_second_warm(warmth: Warmth) -> None:
    assert warmth.sandbox(1) is warmth.cold
    assert isinstance(warmth.sandbox(1), WarmSandbox)


def test_a_board_is_warm_from_the_start(warmth: Warmth) -> None:
    assert isinstance(warmth.sandbox(2), WarmSandbox)


def test_a_broken_worker_is_given_up(warmth: Warmth) -> None:
    warmth.give_up(warmth.sandbox(2))
    assert warmth.sandbox(2) is warmth.cold


def test_a_lasting_worker_that_broke_is_replaced_once_for_all_who_say_so(sandbox: Sandbox) -> None:
    warmth = Warmth(sandbox, lasting=True)
    first = warmth.sandbox(2)
    warmth.give_up(first)
    second = warmth.sandbox(1)
    warmth.give_up(first)
    assert warmth.sandbox(1) is second
    assert isinstance(second, WarmSandbox)
    warmth.close()


def test_a_sandbox_without_workers_serves_cold() -> None:
    warmth = Warmth(open_sandbox("none"))
    assert warmth.sandbox(5) is warmth.cold


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
