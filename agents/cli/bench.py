"""Measurements of greenloop itself."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import SandboxBroken, UsageError
from ..settings import STRATEGIES, Count, Effort, Positive, SandboxName, Settings, Strategy
from ..terminal.console import Console

if TYPE_CHECKING:
    from ..bench.journal import Journal
    from ..bench.layout import Table
    from ..bench.results import TaskResult
    from ..bench.runner import Measurement
    from ..bench.tasks import BenchTask, Dataset
    from ..sandbox import Sandbox


def verifier(
    *,
    rounds: Annotated[int, Parameter(validator=Number(gte=1))] = 9,
    data: Path | None = None,
    pairs: Count = 1000,
    jobs: Count | None = None,
    sandbox: SandboxName = "auto",
) -> int:
    """Measure what a verification costs against pytest as a cold subprocess, and print the table.

    Parameters
    ----------
    rounds
        How often each way is run; medians are printed.
    data
        HumanEval+ in EvalPlus's form: measure how many pairs of its solutions and mutants, with tests of the base
        inputs, are verified in a second, in place of one verification. The other ways run them without isolation.
    pairs
        With --data, so many pairs.
    jobs
        With --data, pairs at once; by default one for each core.
    sandbox
        With --data, where the verifier's pairs run.
    """
    from ..bench.speed import measure_one

    if data is not None:
        return _throughput(data, pairs, jobs or os.cpu_count() or 1, sandbox)
    timings, missing = measure_one(rounds)
    lines = ["| ten tests | median ms | fastest ms | ratio |", "|---|---|---|---|"]
    for each in timings:
        lines.append(f"| {each.way} | {each.median * 1000:.0f} | {each.fastest * 1000:.0f} | {each.ratio:.2f} |")
    Console().lines([*lines, *(f"Not measured: {reason}" for reason in missing)])
    return 0


def _throughput(data: Path, count: int, jobs: int, name: SandboxName) -> int:
    from ..bench.speed import SLICES, measure_many, pairs_of
    from ..bench.tasks import read_tasks
    from ..sandbox import open_sandbox

    console = Console()
    tasks = read_tasks(data)
    with closing(open_sandbox(name)) as sandbox:
        pairs = pairs_of(tasks, sandbox, count)
        with console.counting(None, f"slices, of {SLICES} each way") as progress:
            timings = measure_many(tasks, pairs, sandbox, jobs, progress)
    lines = [f"| {len(pairs)} pairs, {jobs} at once | pairs a second | ratio | passed |", "|---|---|---|---|"]
    lines += [f"| {each.way} | {each.rate:.1f} | {each.ratio:.1f} | {each.passed} |" for each in timings]
    console.lines(lines)
    return 0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """The options that every benchmark of a model has."""

    data: Path
    """The benchmark's file in EvalPlus's form (JSON Lines), or a checkout of QuixBugs."""
    limit: Count | None = None
    """Only the first so many tasks."""
    seeds: Count = 1
    """How often each task is done, with other seeds."""
    out: Path = Path("bench_dir")
    """Where results, tables, samples and recorded replies are kept."""
    again: Annotated[bool, Parameter(negative="")] = False
    """Do everything anew on the recorded replies: after a change of the judge."""
    jobs: Count | None = None
    """Tasks at once; by default as many as the model answers at once."""
    model: str | None = None
    """A LiteLLM id, `embedded`, or `recorded:DIR`."""
    api_base: str | None = None
    """Base URL of an OpenAI-compatible server."""
    weights: Path | None = None
    """A GGUF file for the embedded model."""
    sandbox: SandboxName = "auto"
    """Where untrusted code runs."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Options(MeasureOptions):
    """The options of a benchmark of specs."""

    strategy: Annotated[list[Strategy] | None, Parameter(negative="")] = None
    """The strategies to measure; may be given several times. All four by default."""
    drafts: Count | None = None
    """Run no strategy: so many drafts of each task, each judged by the hidden tests."""
    against: Path | None = None
    """With --drafts: the --out of another such measurement, to compare with draft by draft."""
    strip_examples: Annotated[bool, Parameter(negative="")] = False
    """Take the examples out of the specs, so that own tests are all there is."""
    effort: Effort = "medium"
    """How much greenloop drafts and votes."""
    temperature: Positive = 0.8
    """Sampling temperature of every draft but the first."""


def humaneval(*, options: Options) -> int:
    """Measure strategies on HumanEval+ tasks against EvalPlus's hidden tests; stopped, it goes on where it was."""
    return _measure("HumanEval+", options)


def mbpp(*, options: Options) -> int:
    """Measure strategies on MBPP+ tasks against EvalPlus's hidden tests; stopped, it goes on where it was."""
    return _measure("MBPP+", options)


def _measure(dataset: Dataset, options: Options) -> int:
    from ..bench.runner import Measurement
    from ..bench.tasks import read_tasks

    settings = Settings(
        model=options.model,
        api_base=options.api_base,
        weights=options.weights,
        effort=options.effort,
        temperature=options.temperature,
        sandbox=options.sandbox,
    )
    tasks = read_tasks(options.data, dataset)
    strategies = tuple(name for name in STRATEGIES if name in (options.strategy or STRATEGIES))
    measurement = Measurement(tasks[: options.limit], strategies, settings, options.seeds, options.strip_examples)
    title = f"{dataset} {'without' if options.strip_examples else 'with'} examples"
    return _report(measurement, tasks, options, title)


def _report(measurement: Measurement, tasks: Sequence[BenchTask], options: Options, title: str) -> int:
    from ..bench import drafts
    from ..bench.figures import tables
    from ..bench.hidden_tests import HiddenTests
    from ..bench.journal import Journal
    from ..bench.layout import printed
    from ..bench.report import write_report
    from ..bench.runner import Runner
    from ..run.resources import models_by_role
    from ..run.role_models import SharedModels
    from ..sandbox import open_sandbox

    console = Console()
    settings = measurement.settings
    if options.against and not options.drafts:
        raise UsageError("--against compares drafts with drafts; say how many of each task with --drafts.")
    against = drafts.read_report(options.against) if options.against else None
    with ExitStack() as held:
        sandbox = open_sandbox(settings.sandbox)
        held.callback(sandbox.close)
        choices = models_by_role(settings, os.environ)
        hidden = HiddenTests(tasks, sandbox)
        models = sorted({choice.model_id or choice.api_base or "" for choice in choices.values()})
        plan = {**_plan(measurement, options.data), "models": models}
        journal = Journal(options.out, plan, again=options.again)
        console.lines([journal.proof or _prove(journal, tasks, sandbox)])
        backends = held.enter_context(SharedModels(choices, settings.weights, console.emit))
        at_once = options.jobs or backends.parallel
        if options.drafts:
            drafting = drafts.Drafting(measurement, options.drafts, backends, sandbox, hidden, journal)
            with console.counting(2 * len(list(measurement.cells())), "steps") as count:
                found = drafts.DraftReport(title, tuple(drafting.run(at_once, count)))
            shown: tuple[Table, ...] = (drafts.draft_table(found, against),)
            written = drafts.write_report(found, shown[0], options.out)
        else:
            runner = Runner(measurement, backends, sandbox, hidden, journal)
            with console.counting(measurement.size, "results") as count:
                results = runner.run(at_once, lambda result: count(progress_line(result)))
            report = tables(results, title)
            shown, written = printed(report), write_report(report, results, options.out)
    for each in shown:
        console.table(each.title, each.head, each.rows, each.labels)
    console.lines([f"Written: {', '.join(str(path) for path in written)}"])
    return 0


def _prove(journal: Journal, tasks: Sequence[BenchTask], sandbox: Sandbox) -> str:
    """Prove the hidden tests reliable, and return the proof's sentence. Raises SandboxBroken where they aren't."""
    from ..bench.proof import prove

    proof = prove(tasks, sandbox)
    if not proof.holds:
        raise SandboxBroken(str(proof))
    journal.proof = str(proof)
    return str(proof)


def _plan(measurement: Measurement, data: Path) -> dict[str, object]:
    """Describe all that a result depends on; strategies, seeds and tasks may be added later."""
    return {
        "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
        "strip_examples": measurement.strip_examples,
        "effort": measurement.settings.effort,
        "temperature": measurement.settings.temperature,
    }


def progress_line(result: TaskResult) -> str:
    """Say what came of one cell."""
    right = "not judged" if result.hidden is None else "right" if result.hidden.plus else "wrong"
    return f"{result.task_id} by {result.strategy}: {result.grade or result.error}, {right}"
