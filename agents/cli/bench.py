"""Measurements of greenloop itself."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..console import Console
from ..errors import SandboxBroken
from ..settings import STRATEGIES, Count, Effort, Positive, SandboxName, Settings, Strategy

if TYPE_CHECKING:
    from ..bench.journal import Journal
    from ..bench.results import TaskResult
    from ..bench.runner import Measurement
    from ..sandbox import Sandbox


def verifier(*, rounds: Annotated[int, Parameter(validator=Number(gte=1))] = 9) -> int:
    """Measure what a verification costs against pytest as a cold subprocess, and print the table.

    Parameters
    ----------
    rounds
        How often each way is run; medians are printed.
    """
    from ..bench.verifier_speed import measure

    timings, missing = measure(rounds)
    rows = [
        f"| {timing.way} | {timing.median * 1000:.0f} | {timing.fastest * 1000:.0f} | {timing.ratio:.2f} |"
        for timing in timings
    ]
    head = ["| ten tests | median ms | fastest ms | ratio |", "|---|---|---|---|"]
    Console().lines([*head, *rows, *(f"Not measured: {reason}" for reason in missing)])
    return 0


def humaneval(
    *,
    data: Path,
    limit: Count | None = None,
    strategy: Annotated[list[Strategy] | None, Parameter(negative="")] = None,
    seeds: Count = 1,
    strip_examples: Annotated[bool, Parameter(negative="")] = False,
    out: Path = Path("bench_dir"),
    again: Annotated[bool, Parameter(negative="")] = False,
    jobs: Count | None = None,
    model: str | None = None,
    api_base: str | None = None,
    weights: Path | None = None,
    effort: Effort = "medium",
    temperature: Positive = 0.8,
    sandbox: SandboxName = "auto",
) -> int:
    """Measure strategies on HumanEval+ tasks against EvalPlus's hidden tests; stopped, it goes on where it was.

    Parameters
    ----------
    data
        A HumanEval+ file in EvalPlus's form, JSON Lines.
    limit
        Only the first so many tasks.
    strategy
        What is measured; may be given several times. All four by default.
    seeds
        How often each task is done, with other seeds.
    strip_examples
        Take the examples out of the specs, so that own tests are all there is.
    out
        Where results, tables, samples and recorded replies are kept.
    again
        Do everything anew on the recorded replies: after a change of the judge.
    jobs
        Tasks at once; by default as many as the model answers at once.
    model
        A LiteLLM id, `embedded`, or `recorded:DIR`.
    api_base
        Base URL of an OpenAI-compatible server.
    weights
        A GGUF file for the embedded model.
    effort
        How much greenloop drafts and votes.
    temperature
        Sampling temperature of every draft but the first.
    sandbox
        Where untrusted code runs.
    """
    from ..bench.runner import Measurement
    from ..bench.tasks import read_tasks

    settings = Settings(
        model=model, api_base=api_base, weights=weights, effort=effort, temperature=temperature, sandbox=sandbox
    )
    chosen = tuple(name for name in STRATEGIES if name in (strategy or STRATEGIES))
    measurement = Measurement(read_tasks(data)[:limit], chosen, settings, seeds, strip_examples)
    return _measured(measurement, data, out, again=again, jobs=jobs)


def _measured(measurement: Measurement, data: Path, out: Path, *, again: bool, jobs: int | None) -> int:
    from ..bench.figures import tables
    from ..bench.hidden_tests import HiddenTests
    from ..bench.journal import Journal
    from ..bench.report import printed, write_report
    from ..bench.runner import Runner
    from ..crew import ROLES, Backends
    from ..llm_backends.choice import choose, probe_ollama
    from ..sandbox import open_sandbox

    console = Console()
    settings = measurement.settings
    with ExitStack() as held:
        sandbox = open_sandbox(settings.sandbox)
        held.callback(sandbox.close)
        choices = {role: choose(settings, os.environ, probe_ollama, role) for role in ROLES}
        hidden = HiddenTests(data, sandbox)
        models = sorted({choice.model_id or choice.api_base or "" for choice in choices.values()})
        journal = Journal(out, {**_plan(measurement, data), "models": models}, again=again)
        console.lines([journal.proof or _proved(journal, data, sandbox)])
        backends = held.enter_context(Backends(choices, settings.weights, console.tell))
        runner = Runner(measurement, backends, sandbox, hidden, journal)
        with console.counting(measurement.size, "results") as count:
            results = runner.run(jobs or backends.parallel, lambda result: count(_told(result)))
    report = tables(results, _title(measurement))
    written = write_report(report, results, out)
    for table in printed(report):
        console.table(table.title, table.head, table.rows, table.labels)
    console.lines([f"Written: {', '.join(str(path) for path in written)}"])
    return 0


def _proved(journal: Journal, data: Path, sandbox: Sandbox) -> str:
    """The sentence that says that the hidden tests can be relied on; raises SandboxBroken where they can't."""
    from ..bench.proof import prove

    proof = prove(data, sandbox)
    if not proof.holds:
        raise SandboxBroken(str(proof))
    journal.proof = str(proof)
    return str(proof)


def _plan(measurement: Measurement, data: Path) -> dict[str, object]:
    """What a measurement's results depend on; strategies, seeds and tasks may be added to it later."""
    settings = measurement.settings
    return {
        "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
        "strip_examples": measurement.strip_examples,
        "effort": settings.effort,
        "temperature": settings.temperature,
    }


def _told(result: TaskResult) -> str:
    right = "not judged" if result.hidden is None else "right" if result.hidden.plus else "wrong"
    return f"{result.task_id} by {result.strategy}: {result.grade or result.error}, {right}"


def _title(measurement: Measurement) -> str:
    return "HumanEval+ without examples" if measurement.strip_examples else "HumanEval+ with examples"
