"""The commands `bench ...`: benchmarks of specs, and of repairs of programs with a bug."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import Interrupted, SandboxBroken
from ..files import read_regular
from ..settings import STRATEGIES, Count, Effort, Positive, SandboxName, Settings, Strategy
from ..terminal.console import Console

if TYPE_CHECKING:
    from ..bench.proof import Tests
    from ..bench.repairs import RepairStrategy, RepairTask
    from ..bench.report import Table
    from ..bench.results import TaskResult
    from ..bench.runner import Means, Runner
    from ..bench.tasks import Dataset
    from ..records import Role
    from ..sandbox import Sandbox
    from ..verifier import Verifier

    Opened = tuple[Tests, Callable[[Means], Runner]]
    """The tests of a benchmark, and a factory of its runner."""
    Repairs = tuple[Tests, Sequence[RepairTask]]
    """The tests, and the programs to be repaired."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """The options that every benchmark of a model has."""

    data: Path
    """The benchmark's file in EvalPlus's form (JSON Lines), a directory of everyday specs, or a checkout of
    QuixBugs."""
    limit: Count | None = None
    """Only the first so many tasks."""
    seeds: Count = 1
    """How often each task is done, with other seeds."""
    out: Path = Path("bench_dir")
    """Where results, tables, samples and recorded replies are kept."""
    again: bool = False
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

    @property
    def settings(self) -> Settings:
        """The settings that they make."""
        return Settings(model=self.model, api_base=self.api_base, weights=self.weights, sandbox=self.sandbox)


def write_results(
    title: str, found: list[TaskResult], out: Path, *, repairs: bool = False
) -> tuple[Sequence[Table], Sequence[Path]]:
    """Write the report of a measurement into `out`; return its tables and files."""
    from ..bench.figures import tables
    from ..bench.report import printed, write_report

    report = tables(found, title, repairs=repairs)
    return printed(report), write_report(report, found, out)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Options(MeasureOptions):
    """The options of a benchmark of specs."""

    strategy: list[Strategy] | None = None
    """The strategies to measure; may be given several times. All four by default."""
    strip_examples: bool = False
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


def everyday(
    *,
    strategy: list[Strategy] | None = None,
    answers_from_reference: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    options: MeasureOptions,
) -> int:
    """Measure strategies on everyday specs of several sentences (--data docs/benchmark/everyday).

    Args:
        strategy: Those to measure; may be given several times. `single`, `best-of-n` and `greenloop` by default.
        answers_from_reference: Run greenloop again, and let the reference answer so many of its questions.
    """
    from ..bench.everyday import EverydayTests, read_everyday
    from ..bench.specs import spec_runner

    tasks = read_everyday(options.data)
    chosen: Sequence[Strategy] = strategy or ("single", "best-of-n", "greenloop")
    plan = {"data_sha256": _digest("\0".join(f"{task.text}\0{task.tests}" for task in tasks).encode())}

    def opened(sandbox: Sandbox, verifier: Verifier) -> Opened:
        runner = partial(spec_runner, tasks[: options.limit], chosen, answers=answers_from_reference)
        return EverydayTests(tasks, verifier), runner

    return measure("Everyday specs", plan, options.settings, options, opened)


def _measure(dataset: Dataset, options: Options) -> int:
    from ..bench.hidden_tests import HiddenTests
    from ..bench.specs import spec_runner
    from ..bench.tasks import read_tasks

    settings = replace(options.settings, effort=options.effort, temperature=options.temperature)
    tasks = read_tasks(options.data, dataset)
    strategies = options.strategy or STRATEGIES
    plan = {
        "data_sha256": _digest(read_regular(options.data)),
        "strip_examples": options.strip_examples,
        "effort": options.effort,
        "temperature": options.temperature,
    }

    def opened(sandbox: Sandbox, _: Verifier) -> Opened:
        runner = partial(spec_runner, tasks[: options.limit], strategies, strip_examples=options.strip_examples)
        return HiddenTests(tasks, sandbox), runner

    title = f"{dataset} {'without' if options.strip_examples else 'with'} examples"
    return measure(title, plan, settings, options, opened)


def measure(
    title: str,
    plan: Mapping[str, object],
    settings: Settings,
    options: MeasureOptions,
    open_tests: Callable[[Sandbox, Verifier], Opened],
    *,
    roles: Sequence[Role] = ("code_writer", "test_writer", "critic"),
    write: Callable[[str, list[Any], Path], tuple[Sequence[Table], Sequence[Path]]] = write_results,
) -> int:
    """Prove the hidden tests, run the tasks, print the tables and write the report. Results depend on `plan` and
    the models; tasks, strategies and seeds may be added later."""
    from ..bench.repairs import open_verifier
    from ..bench.results import Journal
    from ..bench.runner import Means
    from ..run.resources import models_by_role
    from ..run.role_models import SharedModels
    from ..sandbox import open_sandbox

    console = Console()
    with ExitStack() as held:
        sandbox = held.enter_context(closing(open_sandbox(settings.sandbox)))
        choices = models_by_role(settings, os.environ, roles)
        models = sorted({choice.model_id or choice.api_base or "" for choice in choices.values()})
        journal = Journal(options.out, {**plan, "models": models}, again=options.again)
        tests, make_runner = open_tests(sandbox, held.enter_context(closing(open_verifier(sandbox))))
        if journal.proof is None:
            proof = tests.prove()
            if not proof.holds:
                raise SandboxBroken(str(proof))
            journal.proof = str(proof)
        console.lines([journal.proof or ""])
        backends = held.enter_context(SharedModels(choices, settings.weights, console.emit))
        runner = make_runner(Means(settings, backends, sandbox, tests.judge, journal, options.seeds))
        with console.counting(runner.size, "results") as count:
            try:
                found = runner.run(options.jobs or backends.parallel, lambda each: count(str(each)))
            except KeyboardInterrupt:
                message = "Interrupted; what was finished is kept, and the same command goes on."
                raise Interrupted(message) from None
    shown, written = write(title, found, options.out)
    for each in shown:
        console.table(each.title, each.head, each.rows, each.labels)
    console.lines([f"Written: {', '.join(map(str, written))}"])
    return 0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions(MeasureOptions):
    """The options of a benchmark of repairs."""

    strategy: list[Literal["greenloop", "single"]] | None = None
    """The strategies to measure, both by default: `single` asks for one patch."""
    one_item: bool = False
    """Show one failing item of each program, and hold none out: what people have."""


def quixbugs(*, strip_docstring: bool = False, options: RepairOptions) -> int:
    """Measure repairs of QuixBugs' 40 programs: half of the items are shown, the others and the reference judge.

    Args:
        strip_docstring: Take the text that says what a program does out of it.
    """
    return measure_quixbugs(options, strip=strip_docstring)


def seeded_bugs(*, options: RepairOptions) -> int:
    """Measure repairs of mutants planted in HumanEval+'s references: examples are shown, hidden tests judge."""
    from ..bench.hidden_tests import HiddenTests
    from ..bench.repairs import seeded_tasks
    from ..bench.tasks import read_tasks

    tasks = read_tasks(options.data)

    def opened(sandbox: Sandbox, verifier: Verifier) -> Repairs:
        return HiddenTests(tasks, sandbox), seeded_tasks(tasks[: options.limit], verifier)

    plan = {"data_sha256": _digest(read_regular(options.data))}
    return _measure_repairs("Repairs of mutants in HumanEval+", plan, options, opened)


def measure_quixbugs(
    options: RepairOptions, strategies: Mapping[str, RepairStrategy] | None = None, *, strip: bool = False
) -> int:
    """Measure strategies (None: those that the options name) on a checkout of QuixBugs. Raises UsageError."""
    from ..bench.quixbugs import QuixBugsTests, read_programs
    from ..bench.repairs import quixbugs_tasks

    programs = read_programs(options.data)

    def opened(sandbox: Sandbox, verifier: Verifier) -> Repairs:
        tests = QuixBugsTests(programs, sandbox, verifier)
        return tests, quixbugs_tasks(programs[: options.limit], tests.visible, strip=strip)

    plan = {"programs": _digest("\0".join(one.buggy for one in programs).encode()), "strip_docstring": strip}
    title = f"Repairs of QuixBugs, {'without' if strip else 'with'} docstrings"
    return _measure_repairs(title, plan, options, opened, strategies)


def _measure_repairs(
    title: str,
    plan: Mapping[str, object],
    options: RepairOptions,
    open_repairs: Callable[[Sandbox, Verifier], Repairs],
    strategies: Mapping[str, RepairStrategy] | None = None,
) -> int:
    from ..bench.repairs import REPAIR_STRATEGIES, of_one_item, repair_runner

    named = options.strategy or REPAIR_STRATEGIES
    strategies = strategies or {name: way for name, way in REPAIR_STRATEGIES.items() if name in named}
    if options.one_item:
        title, plan = f"{title}, one failing item", {**plan, "one_item": True}

    def opened(sandbox: Sandbox, verifier: Verifier) -> Opened:
        tests, tasks = open_repairs(sandbox, verifier)
        shown = of_one_item(tasks, verifier) if options.one_item else tasks
        return tests, partial(repair_runner, shown, strategies)

    write = partial(write_results, repairs=True)
    return measure(title, plan, options.settings, options, opened, roles=("healer",), write=write)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
