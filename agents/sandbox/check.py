"""Tries every attack on a sandbox, after a proof that it works without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ..errors import SandboxBroken, UsageError
from .conformance import ATTACKS, Attack, Bare, Trial
from .conformance.attack import CHECK_LIMITS, Ground
from .interface import Sandbox

CheckStatus = Literal["stopped", "got through", "known residual", "unprovable", "broken"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one attack. Only `stopped` is good; `unprovable` is no result."""

    number: int
    title: str
    status: CheckStatus
    detail: str = ""


def checks(sandbox: Sandbox, attacks: Sequence[Attack] = ATTACKS) -> Iterator[CheckResult]:
    """Yield the results of `attacks` on `sandbox`, in order; all take half a minute. Raises UsageError for the
    sandbox `none`, where attacks would hit this process."""
    if sandbox.name == "none":
        raise UsageError("The sandbox `none` stops no attack; check `bubblewrap`, `native` or `auto`.")
    for attack in attacks:
        yield CheckResult(attack.number, attack.title, *_check(sandbox, attack))


def _check(sandbox: Sandbox, attack: Attack) -> tuple[CheckStatus, str]:
    if not works_without_sandbox(attack):
        return "unprovable", f"it does not work without a sandbox either: {attack.depends_on or 'unknown why'}"
    try:
        if not attempt(sandbox, attack):
            return "stopped", ""
    except SandboxBroken as error:
        return "broken", str(error)
    residuals: frozenset[int] = getattr(sandbox, "residuals", frozenset())
    return "known residual" if attack.number in residuals else "got through", ""


def attempt(sandbox: Sandbox, attack: Attack) -> bool:
    """Return True if the attack succeeds in `sandbox`. Raises SandboxBroken."""
    limits = replace(CHECK_LIMITS, wall_seconds=attack.wall_seconds)
    with closing(Ground()) as ground:
        return attack.succeeds(Trial(attack.program, sandbox, ground, limits))


@cache
def works_without_sandbox(attack: Attack) -> bool:
    """Return True if the attack succeeds on this machine without a sandbox (the positive control)."""
    return attempt(Bare(), attack)
