"""Measures drafts alone: how often one is right on the hidden tests, and how often a choice among several is.

    python -m docs.measure.drafts humaneval+ --data humaneval_plus_dev.jsonl --drafts 5 --out bench_dir/drafts
    python -m docs.measure.drafts mbpp+ --data mbpp_plus_dev.jsonl --drafts 2 --out DIR --against OTHER

A measurement of the whole loop varies by five points from one task to the next, this one, with several drafts of
each task, by half of that. Prompts and samplers are chosen by it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from agents.bench.hidden_tests import HiddenTests
from agents.bench.report import Table, markdown_table, points_cell, share_cell, write_files
from agents.bench.results import Hidden
from agents.bench.runner import Means
from agents.bench.statistics import Difference, Share, difference_of, share_of
from agents.bench.tasks import BenchTask, Dataset, read_tasks
from agents.cli.bench import MeasureOptions, measure
from agents.errors import GreenloopError, ReplyError, UsageError
from agents.events import ignore_event
from agents.judge.agreement import Agreement
from agents.judge.probes import LONGEST_INPUT, probe
from agents.llm_backends.budget import Budget
from agents.records import Candidate, Test
from agents.run.role_models import SEEDS_OF_A_RUN, RoleModels
from agents.sandbox import Sandbox
from agents.storage.json_form import dumped, loaded
from agents.suite import example_tests
from agents.syntax.literals import is_literal
from agents.verifier import Verifier
from agents.verifier.cached_verifier import CachedVerifier

PLURALITIES = (3, 5, 8)
_COMPARED = 24
"""Hidden inputs on which the drafts of a task are compared: the base tests' first."""
_FILE = "drafts.json"
_Drafted = tuple[Candidate | None, int]
"""The candidate of a reply (None: it was no module) and the reply's tokens."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Draft `number` of a task, `solution` as the hidden tests take it (empty: the reply was no module).

    `examples` is how many trusted tests it passes; drafts of one `behaviour` return the same on hidden inputs."""

    number: int
    solution: str
    tokens: int
    hidden: Hidden
    examples: int = 0
    behaviour: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskDrafts:
    """The drafts of one task with one seed, in the order of their requests."""

    task_id: str
    seed: int
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Drafting:
    """Drafts every task of a measurement `count` times, and judges the drafts once no model decodes any more."""

    tasks: Sequence[BenchTask]
    hidden: HiddenTests
    strip_examples: bool
    count: int
    """Drafts of each task."""
    means: Means

    @property
    def size(self) -> int:
        """The number of lines that `emit` gets."""
        return 2 * len(self.tasks) * self.means.seeds

    def run(self, at_once: int, emit: Callable[[str], None]) -> list[TaskDrafts]:
        """Make and judge the drafts of all tasks and seeds; `emit` gets two lines a task, from any thread.

        Raises ModelError where the model can't be reached, SandboxBroken, and OSError; replies are kept.
        """
        cells = [(task, seed) for seed in range(self.means.seeds) for task in self.tasks]
        with ThreadPoolExecutor(at_once, thread_name_prefix="drafts") as pool:
            drafting = [pool.submit(self._draft, task, seed, emit) for task, seed in cells]
            drafted = [each.result() for each in drafting]
        with ThreadPoolExecutor(self.hidden.jobs, thread_name_prefix="judging") as pool:
            judging = [
                pool.submit(self._judge, task, seed, made, emit)
                for (task, seed), made in zip(cells, drafted, strict=True)
            ]
            return [each.result() for each in judging]

    def _draft(self, task: BenchTask, seed: int, emit: Callable[[str], None]) -> list[_Drafted]:
        """Draft a task; each candidate comes with the tokens that it took."""
        spec = task.spec(self.strip_examples)
        settings = replace(self.means.settings, seed=seed)
        made: list[_Drafted] = []
        for number in range(self.count):
            budget = Budget()
            candidate = None
            with (
                RoleModels(
                    self.means.models, settings, budget, self.means.journal.replies, ignore_event
                ) as models,
                closing(CachedVerifier(self.means.sandbox)) as verifier,
                suppress(ReplyError),
            ):
                candidate = models.roles(verifier).code_writer.draft(spec, number, 1)
            made.append((candidate, budget.usage.completion_tokens))
        emit(f"{task.task_id} drafted")
        return made

    def _judge(
        self, task: BenchTask, seed: int, made: Sequence[_Drafted], emit: Callable[[str], None]
    ) -> TaskDrafts:
        spec = task.spec(self.strip_examples)
        candidates = [candidate for candidate, _ in made if candidate is not None]
        probes = tuple(_probes(task))
        with closing(CachedVerifier(self.means.sandbox)) as verifier:
            seen = Agreement(verifier.board(candidates, example_tests(spec)), verifier.board(candidates, probes))
        drafts = []
        for number, (candidate, tokens) in enumerate(made):
            if candidate is None:
                drafts.append(Draft(number, "", tokens, Hidden(base=False, plus=False)))
                continue
            solution = task.solution(candidate.code)
            hidden = self.hidden.judge(task.task_id, solution)
            returned = tuple(seen.returned(candidate, each) for each in probes)
            drafts.append(Draft(number, solution, tokens, hidden, seen.by_the_spec(candidate)[0], returned))
        emit(f"{task.task_id}: {sum(draft.hidden.plus for draft in drafts)} of {len(drafts)} right")
        return TaskDrafts(task.task_id, seed, tuple(drafts))


def _probes(task: BenchTask) -> Iterator[Test]:
    """Yield calls on hidden inputs that can be written as text."""
    preamble = f"from user_code import {task.entry_point}"
    calls = (_call(task.entry_point, arguments) for arguments in (*task.base_input, *task.plus_input))
    written = [call for call in calls if call is not None][:_COMPARED]
    return (probe(number, call, preamble) for number, call in enumerate(written, 1))


def _call(name: str, arguments: Sequence[Any]) -> str | None:
    call = f"{name}({', '.join(map(repr, arguments))})"
    return call if len(call) <= LONGEST_INPUT and is_literal(repr(tuple(arguments))) else None


# --- figures ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftFigures:
    """The figures of a measurement of drafts. Shares are of drafts or of tasks; intervals go by tasks."""

    tasks: int
    drafts: int
    first: Share
    """Right at temperature 0."""
    warm: Share
    """Right at the sampling temperature."""
    any_right: Share
    """Tasks of which one draft is right."""
    pluralities: Mapping[int, Share]
    """By the number of drafts: the first of the most frequent behaviour of those that pass the most examples is
    right."""
    tokens: float
    """Generated, mean of a draft."""
    unusable: int


def draft_figures(found: Sequence[TaskDrafts]) -> DraftFigures:
    """Compute the figures of `found`, which is not empty."""
    drafts = [(task.task_id, draft) for task in found for draft in task.drafts]
    count = min(len(task.drafts) for task in found)

    def chosen_right(number: int) -> Share:
        return share_of([(task.task_id, chosen(task.drafts[:number]).hidden.plus) for task in found])

    return DraftFigures(
        tasks=len({task.task_id for task in found}),
        drafts=len(drafts),
        first=share_of([(task_id, draft.hidden.plus) for task_id, draft in drafts if draft.number == 0]),
        warm=share_of([(task_id, draft.hidden.plus) for task_id, draft in drafts if draft.number > 0]),
        any_right=share_of([(task.task_id, any(draft.hidden.plus for draft in task.drafts)) for task in found]),
        pluralities={number: chosen_right(number) for number in PLURALITIES if number <= count},
        tokens=fmean(draft.tokens for _, draft in drafts),
        unusable=sum(not draft.solution for _, draft in drafts),
    )


def chosen(drafts: Sequence[Draft]) -> Draft:
    """Choose the first draft of the most frequent behaviour among those that pass the most examples."""
    most = max(draft.examples for draft in drafts)
    voters = [draft for draft in drafts if draft.examples == most]
    votes = Counter(draft.behaviour for draft in voters)
    return max(voters, key=lambda draft: votes[draft.behaviour])  # the first of several


def draft_difference(found: Sequence[TaskDrafts], other: Sequence[TaskDrafts]) -> Difference | None:
    """Compute how much more often a draft of `found` is right than that of `other`; None without a pair."""
    return difference_of(_rights(found), _rights(other))


def _rights(found: Sequence[TaskDrafts]) -> dict[tuple[str, int], bool]:
    return {
        (task.task_id, task.seed * SEEDS_OF_A_RUN + draft.number): draft.hidden.plus
        for task in found
        for draft in task.drafts
    }


# --- on disk ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftReport:
    """A measurement of drafts, as `drafts.json` has it."""

    title: str
    tasks: tuple[TaskDrafts, ...]


def read_report(directory: Path) -> DraftReport:
    """Read the report in `directory`. Raises UsageError where there is none."""
    path = directory / _FILE
    try:
        report: DraftReport = loaded(DraftReport, path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} can't be read; --against takes the --out of a measurement of drafts.") from error
    return report


def write_drafts(
    title: str, found: Sequence[TaskDrafts], out: Path, *, against: DraftReport | None = None
) -> tuple[Sequence[Table], Sequence[Path]]:
    """Write the report of a measurement and its table into `out`, as `write_files` does; return both."""
    report = DraftReport(title, tuple(found))
    table = draft_table(report, against)
    page = f"# {title}\n\n{markdown_table(table)}\n"
    return (table,), write_files({_FILE: dumped(report, indent=1) + "\n", "drafts.md": page}, out)


def draft_table(report: DraftReport, against: DraftReport | None = None) -> Table:
    """Lay out the figures of `report`, and the gain of its drafts over the same drafts of `against`."""
    figures = draft_figures(report.tasks)
    rows = [
        ("right at temperature 0 (pass@1)", share_cell(figures.first)),
        ("right at the sampling temperature", share_cell(figures.warm)),
        ("tasks of which any draft is right", share_cell(figures.any_right)),
        *((f"plurality of {n}, after the examples", share_cell(it)) for n, it in figures.pluralities.items()),
        ("tokens a draft", f"{figures.tokens:.0f}"),
        ("replies that are no module", str(figures.unusable)),
    ]
    difference = draft_difference(report.tasks, against.tasks) if against else None
    if against and difference:
        rows.append((f"against {against.title}, draft by draft", points_cell(difference)))
    return Table(f"{figures.drafts} drafts of {figures.tasks} tasks", ("", report.title), tuple(rows))


def main() -> int:
    """Measure drafts, print the table and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("humaneval+", "mbpp+"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--drafts", type=int, required=True)
    parser.add_argument("--against", type=Path, help="the --out of another such measurement")
    parser.add_argument("--strip-examples", action="store_true")
    parser.add_argument("--temperature", type=float, default=0.8, help="of every draft but the first")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--again", action="store_true", help="do everything anew on the recorded replies")
    for name, kind in (("limit", int), ("seeds", int), ("jobs", int), ("model", str), ("api-base", str)):
        parser.add_argument(f"--{name}", type=kind)
    args = parser.parse_args()
    options = MeasureOptions(
        data=args.data, limit=args.limit, seeds=args.seeds or 1, out=args.out, again=args.again, jobs=args.jobs,
        model=args.model, api_base=args.api_base,
    )  # fmt: skip
    try:
        return _measure("MBPP+" if args.set == "mbpp+" else "HumanEval+", options, args)
    except GreenloopError as error:
        print(error, file=sys.stderr)
        return 2


def _measure(dataset: Dataset, options: MeasureOptions, args: argparse.Namespace) -> int:
    against = read_report(args.against) if args.against else None
    settings = replace(options.settings, temperature=args.temperature)
    tasks = read_tasks(options.data, dataset)
    chosen, strip = tasks[: options.limit], args.strip_examples

    def opened(sandbox: Sandbox, _: Verifier) -> tuple[HiddenTests, Any]:
        hidden = HiddenTests(tasks, sandbox)
        runner: Any = partial(Drafting, chosen, hidden, strip, args.drafts)
        return hidden, runner

    title = f"{dataset} {'without' if args.strip_examples else 'with'} examples"
    plan = {
        "data_sha256": sha256(options.data.read_bytes()).hexdigest(),
        "strip_examples": args.strip_examples,
        "temperature": args.temperature,
    }
    return measure(title, plan, settings, options, opened, write=partial(write_drafts, against=against))


if __name__ == "__main__":
    raise SystemExit(main())
