"""Measurements of healing: programs with a bug, repaired, and judged by tests that the repair has not seen."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ..errors import SandboxBroken
from ..settings import Settings
from ..terminal.console import Console
from .bench import MeasureOptions, progress_line

if TYPE_CHECKING:
    from ..bench.proof import ProofReport, QuixBugsProof
    from ..bench.repair_runner import RepairStrategy
    from ..bench.repair_tasks import RepairTask
    from ..bench.results import Hidden
    from ..sandbox import Sandbox
    from ..verifier import Verifier


_Strategies = Annotated[
    list[Literal["greenloop", "single"]] | None,
    Parameter(negative="", help="The strategies to measure, both by default: `single` asks for one patch."),
]


@dataclass(frozen=True, slots=True)
class _Opened:
    """Tasks, their judge (of a task's id and a repair), and the proof that it can be relied on."""

    tasks: Sequence[RepairTask]
    judge: Callable[[str, str], Hidden]
    prove: Callable[[], ProofReport | QuixBugsProof]


@dataclass(frozen=True, slots=True)
class RepairBench:
    """A benchmark: `plan` is what its results depend on; `open` makes its tasks in a sandbox."""

    title: str
    plan: Mapping[str, object]
    open: Callable[[Sandbox, Verifier], _Opened]


def quixbugs(
    *,
    strategy: _Strategies = None,
    strip_docstring: Annotated[bool, Parameter(negative="")] = False,
    options: MeasureOptions,
) -> int:
    """Measure repairs of QuixBugs' 40 programs: half of the items are shown, the others and the reference judge.

    Parameters
    ----------
    strip_docstring
        Take the text that says what a program does out of it.
    """
    return measure(quixbugs_bench(options, strip=strip_docstring), _chosen(strategy), options)


def seeded_bugs(*, strategy: _Strategies = None, options: MeasureOptions) -> int:
    """Measure repairs of mutants planted in HumanEval+'s references: examples are shown, hidden tests judge."""
    return measure(_seeded_bench(options), _chosen(strategy), options)


def quixbugs_bench(options: MeasureOptions, *, strip: bool = False) -> RepairBench:
    """The benchmark of a checkout of QuixBugs. Raises UsageError."""
    from ..bench.proof import prove_quixbugs
    from ..bench.quixbugs import read_programs
    from ..bench.quixbugs_tests import QuixBugsTests
    from ..bench.repair_tasks import quixbugs_tasks

    programs = read_programs(options.data)

    def opened(sandbox: Sandbox, verifier: Verifier) -> _Opened:
        chosen = programs[: options.limit]
        tests = QuixBugsTests(chosen, sandbox, verifier)
        splits = tests.splits()
        return _Opened(
            quixbugs_tasks(chosen, splits, strip=strip),
            lambda name, code: tests.judge(name, code, splits[name].held_out),
            lambda: prove_quixbugs(chosen, splits, tests),
        )

    plan = {"programs": _digest("\0".join(one.buggy for one in programs)), "strip_docstring": strip}
    return RepairBench(f"Repairs of QuixBugs, {'without' if strip else 'with'} docstrings", plan, opened)


def _seeded_bench(options: MeasureOptions) -> RepairBench:
    from ..bench.hidden_tests import HiddenTests
    from ..bench.proof import prove
    from ..bench.repair_tasks import seeded_tasks
    from ..bench.tasks import read_tasks

    tasks = read_tasks(options.data)

    def opened(sandbox: Sandbox, verifier: Verifier) -> _Opened:
        chosen = tasks[: options.limit]
        hidden = HiddenTests(chosen, sandbox)
        return _Opened(seeded_tasks(chosen, verifier), hidden.judge, lambda: prove(chosen, sandbox))

    plan = {"data_sha256": _digest(options.data.read_text(encoding="utf-8"))}
    return RepairBench("Repairs of mutants in HumanEval+", plan, opened)


def _chosen(names: _Strategies) -> dict[str, RepairStrategy]:
    from ..bench.repair_runner import REPAIR_STRATEGIES

    return {name: way for name, way in REPAIR_STRATEGIES.items() if name in (names or REPAIR_STRATEGIES)}


def measure(bench: RepairBench, strategies: Mapping[str, RepairStrategy], options: MeasureOptions) -> int:
    """Run strategies on the tasks of a benchmark, print its tables and write its report."""
    from ..bench.figures import tables
    from ..bench.journal import Journal
    from ..bench.layout import printed
    from ..bench.repair_runner import RepairRunner
    from ..bench.report import write_report
    from ..bench.verified_case import open_verifier
    from ..run.resources import models_by_role
    from ..run.role_models import SharedModels
    from ..sandbox import open_sandbox

    console = Console()
    settings = Settings(
        model=options.model, api_base=options.api_base, weights=options.weights, sandbox=options.sandbox
    )
    with ExitStack() as held:
        sandbox = open_sandbox(settings.sandbox)
        held.callback(sandbox.close)
        choices = models_by_role(settings, os.environ, ("healer",))
        model = choices["healer"].model_id or choices["healer"].api_base
        journal = Journal(options.out, {**bench.plan, "model": model}, again=options.again)
        opened = bench.open(sandbox, held.enter_context(closing(open_verifier(sandbox))))
        said = journal.proof
        if said is None:
            proof = opened.prove()
            said = str(proof)
            if not proof.holds:
                raise SandboxBroken(said)
            journal.proof = said
        console.lines([said])
        backends = held.enter_context(SharedModels(choices, settings.weights, console.emit))
        runner = RepairRunner(
            opened.tasks, strategies, settings, options.seeds, backends, sandbox, opened.judge, journal
        )
        with console.counting(runner.size, "results") as count:
            results = runner.run(options.jobs or backends.parallel, lambda result: count(progress_line(result)))
    report = tables(results, bench.title, repairs=True)
    for each in printed(report):
        console.table(each.title, each.head, each.rows, each.labels)
    console.lines([f"Written: {', '.join(str(path) for path in write_report(report, results, options.out))}"])
    return 0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
