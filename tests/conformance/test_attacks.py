"""The attacks on every backend, as the user who runs the tests and, when that is root, as an ordinary user too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.check import CheckResult, checks
from agents.sandbox.conformance import ATTACKS, Attack, Bare

from ..support.ordinary_user import told_by_ordinary_user
from ..support.sandboxes import CONTAINERS, ISOLATING, BackendName, open_or_skip

pytestmark = pytest.mark.thorough

LIST = Path(__file__).parents[3] / "shared" / "conformance" / "attacks.md"

RUN_AS_USER = """
import json, sys
from agents.errors import SandboxUnavailable
from agents.sandbox import open_sandbox
from agents.sandbox.check import checks
from agents.sandbox.backends.native import Native
results = {}
for name in sys.argv[1:]:
    try:
        if name.startswith("warm "):
            sandbox = open_sandbox(name.removeprefix("warm ")).warm(["unittest"])
        else:
            sandbox = Native(namespaces=False) if name.endswith("without namespaces") else open_sandbox(name)
    except SandboxUnavailable as error:
        results[name] = str(error)
    else:
        results[name] = [[r.number, r.title, r.status, r.detail] for r in checks(sandbox)]
        sandbox.close()
json.dump(results, sys.stdout)
"""


def accept(result: CheckResult) -> None:
    """Fail unless the attack was stopped; skip where this machine lets nobody prove it."""
    attack = next(attack for attack in ATTACKS if attack.number == result.number)
    if result.status == "unprovable" and attack.depends_on:
        pytest.skip(result.detail)
    assert result.status in ("stopped", "known residual"), result


@pytest.fixture(scope="module", params=(*ISOLATING, *CONTAINERS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Every backend; a warm worker serves all attacks, as it would serve all jobs of a run."""
    opened = open_or_skip(request.param)
    yield opened
    opened.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.number:02}")
def test_the_attack_works_without_a_sandbox_and_is_stopped_with_it(sandbox: Sandbox, attack: Attack) -> None:
    accept(next(checks(sandbox, [attack])))


@pytest.fixture(scope="module")
def as_user() -> dict[str, str | list[CheckResult]]:
    """For each backend the results of an ordinary user, or why there are none."""
    results = told_by_ordinary_user(RUN_AS_USER, ISOLATING)
    return {
        name: found if isinstance(found, str) else [CheckResult(*row) for row in found]
        for name, found in results.items()
    }


@pytest.mark.parametrize("backend", ISOLATING)
def test_every_attack_of_an_ordinary_user_is_stopped(
    backend: BackendName, as_user: dict[str, str | list[CheckResult]]
) -> None:
    results = as_user[backend]
    if isinstance(results, str):
        pytest.skip(results)
    assert len(results) == len(ATTACKS)
    residual = [result.number for result in results if result.status == "known residual"]
    assert residual == ([2, 40] if backend == "native without namespaces" else [])
    got_through = [
        result
        for result in results
        if result.status not in ("stopped", "known residual")
        and not (result.status == "unprovable" and "(" in result.detail)
    ]
    assert got_through == []


def test_an_attack_that_proves_nothing_is_not_called_stopped() -> None:
    idle = Attack(99, "do nothing", "", lambda trial: b"done" in trial.run().stdout)
    [result] = checks(open_or_skip("bubblewrap"), [idle])
    assert result.status == "unprovable"


def test_an_attack_that_gets_through_is_told() -> None:
    attack = next(attack for attack in ATTACKS if attack.number == 1)
    [result] = checks(Bare(), [attack])
    assert result.status == "got through"


def test_the_attacks_are_not_let_loose_on_no_sandbox() -> None:
    with pytest.raises(UsageError, match="none"):
        next(checks(open_sandbox("none")))


def test_every_attack_of_the_list_is_there() -> None:
    if not LIST.exists():
        pytest.skip(f"{LIST} is not here")
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", LIST.read_text(), re.MULTILINE)]
    assert [attack.number for attack in ATTACKS][: len(numbers)] == numbers
