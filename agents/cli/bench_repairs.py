"""Measurements of healing: programs with a bug, repaired, and judged by tests that the repair has not seen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from .bench import MeasureOptions, Opened, measure, settings_of, write_results

if TYPE_CHECKING:
    from ..bench.proof import Proof
    from ..bench.repair_runner import RepairStrategy
    from ..bench.repair_tasks import RepairTask
    from ..bench.results import Hidden
    from ..sandbox import Sandbox
    from ..verifier import Verifier

    _Judge = Callable[[str, str], Hidden]
    _Prove = Callable[[], Proof]


_Strategies = Annotated[
    list[Literal["greenloop", "single"]] | None,
    Parameter(negative="", help="The strategies to measure, both by default: `single` asks for one patch."),
]


_OneItem = Annotated[
    bool,
    Parameter(negative="", help="Show one failing item of each program, and hold none out: what people have."),
]


def quixbugs(
    *,
    strategy: _Strategies = None,
    strip_docstring: Annotated[bool, Parameter(negative="")] = False,
    one_item: _OneItem = False,
    options: MeasureOptions,
) -> int:
    """Measure repairs of QuixBugs' 40 programs: half of the items are shown, the others and the reference judge.

    Parameters
    ----------
    strip_docstring
        Take the text that says what a program does out of it.
    """
    return measure_quixbugs(options, _chosen(strategy), strip=strip_docstring, one_item=one_item)


def seeded_bugs(*, strategy: _Strategies = None, one_item: _OneItem = False, options: MeasureOptions) -> int:
    """Measure repairs of mutants planted in HumanEval+'s references: examples are shown, hidden tests judge."""
    from ..bench.hidden_tests import HiddenTests
    from ..bench.proof import prove
    from ..bench.repair_tasks import seeded_tasks
    from ..bench.tasks import read_tasks

    tasks = read_tasks(options.data)[: options.limit]

    def opened(sandbox: Sandbox, verifier: Verifier) -> tuple[Sequence[RepairTask], _Judge, _Prove]:
        hidden = HiddenTests(tasks, sandbox)
        return seeded_tasks(tasks, verifier), hidden.judge, lambda: prove(tasks, sandbox)

    plan = {"data_sha256": _digest(options.data.read_text(encoding="utf-8"))}
    title = "Repairs of mutants in HumanEval+"
    return _measure(title, plan, options, _chosen(strategy), opened, one_item=one_item)


def measure_quixbugs(
    options: MeasureOptions,
    strategies: Mapping[str, RepairStrategy],
    *,
    strip: bool = False,
    one_item: bool = False,
) -> int:
    """Measure strategies on a checkout of QuixBugs. Raises UsageError."""
    from ..bench.proof import prove_quixbugs
    from ..bench.quixbugs import read_programs
    from ..bench.quixbugs_tests import QuixBugsTests
    from ..bench.repair_tasks import quixbugs_tasks

    programs = read_programs(options.data)
    chosen = programs[: options.limit]

    def opened(sandbox: Sandbox, verifier: Verifier) -> tuple[Sequence[RepairTask], _Judge, _Prove]:
        tests = QuixBugsTests(chosen, sandbox, verifier)
        splits = tests.splits()
        return (
            quixbugs_tasks(chosen, splits, strip=strip),
            lambda name, code: tests.judge(name, code, splits[name].held_out),
            lambda: prove_quixbugs(chosen, splits, tests),
        )

    plan = {"programs": _digest("\0".join(one.buggy for one in programs)), "strip_docstring": strip}
    title = f"Repairs of QuixBugs, {'without' if strip else 'with'} docstrings"
    return _measure(title, plan, options, strategies, opened, one_item=one_item)


def _chosen(names: _Strategies) -> dict[str, RepairStrategy]:
    from ..bench.repair_runner import REPAIR_STRATEGIES

    return {name: way for name, way in REPAIR_STRATEGIES.items() if name in (names or REPAIR_STRATEGIES)}


def _measure(
    title: str,
    plan: Mapping[str, object],
    options: MeasureOptions,
    strategies: Mapping[str, RepairStrategy],
    open_tasks: Callable[[Sandbox, Verifier], tuple[Sequence[RepairTask], _Judge, _Prove]],
    *,
    one_item: bool,
) -> int:
    from ..bench.repair_runner import repair_runner
    from ..bench.repair_tasks import of_one_item

    if one_item:
        title, plan = f"{title}, one failing item", {**plan, "one_item": True}

    settings = settings_of(options)

    def opened(sandbox: Sandbox, verifier: Verifier) -> Opened:
        tasks, judge, prove = open_tasks(sandbox, verifier)
        tasks = of_one_item(tasks, verifier) if one_item else tasks
        return Opened(judge, prove, partial(repair_runner, tasks, strategies))

    write = partial(write_results, repairs=True)
    return measure(title, plan, settings, options, opened, roles=("healer",), write=write)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
