"""Claims and false claims at 0 to 3 answers, on recorded replies.

`python -m docs.measure.simulate_answers REPLIES`, where REPLIES is docs/benchmark/replies.tar.gz unpacked. What is
not recorded counts as a draft that can't be used; with `--ask` the embedded model writes it, and it is recorded.
The reference answers the first question of each ruling that has one line; with `--wrong SHARE` that share of the
answers is another draft's. Hidden tests judge what is delivered at each number of answers.

A row is printed for each task as JSON; `--table` prints the table of a file of rows, by set, half of the tasks and
number of answers. `--only with|without|mbpp` and `--limit N` take a part.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.bench.hidden_tests import HiddenTests
from agents.bench.report import share_cell
from agents.bench.specs import with_answer
from agents.bench.statistics import share_of
from agents.bench.tasks import BenchTask, read_tasks
from agents.errors import BudgetSpent, GreenloopError, ReplyError
from agents.events import ignore_event
from agents.judge.leader_view import SUCCESSES
from agents.llm_backends import get_model
from agents.llm_backends.budget import Budget
from agents.llm_backends.call import Caller
from agents.llm_backends.providers import EMBEDDED
from agents.llm_backends.recorded import ReplyStore
from agents.llm_backends.selection import Choice
from agents.loop.plan import plan
from agents.loop.state import LoopState
from agents.loop.strategies import run_strategy
from agents.records import (
    Reply,
    Request,
    Role,
    RoundRecord,
    Ruling,
    Spec,
    Test,
    fingerprint,
)
from agents.roles.ask import Ask
from agents.run.role_models import ROLES, make_roles
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.spec.examples import from_statement
from agents.verifier.cached_verifier import CachedVerifier
from docs.measure import ROOT

MOST_ANSWERS = 3
SETS = {
    "with": ("HumanEval+", "humaneval_plus_dev.jsonl", False),
    "without": ("HumanEval+", "humaneval_plus_dev.jsonl", True),
    "mbpp": ("MBPP+", "mbpp_plus_dev.jsonl", False),
}
DATA = ROOT.parent / "shared/benchmarks"


class Answers:
    """Recorded replies; with `ask` also the embedded model's, which are recorded there."""

    def __init__(self, directory: Path, *, ask: bool = False) -> None:
        self._store, self._caller = ReplyStore(directory), None
        if ask:
            model = get_model(Choice(EMBEDDED, ""), None, ignore_event)
            self._caller = Caller(model, Budget(), store=ReplyStore(directory, EMBEDDED))

    def find(self, request: Request) -> Reply | None:
        """Return the reply to `request`; None where there is none."""
        found = self._store.find(request)
        return self._caller.ask(request) if found is None and self._caller else found


class Kept:
    """The archive of one loop, in memory; counts the tokens of the replies that it used."""

    def __init__(self, store: Answers) -> None:
        self._store = store
        self.code = ""
        self.rounds: list[RoundRecord] = []
        self.tokens = 0
        self.missing = 0

    def append(self, record: RoundRecord) -> None:
        """Keep one round."""
        self.rounds.append(record)

    def save_code(self, code: str) -> None:
        """Keep the best candidate so far."""
        self.code = code

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Do nothing: the rounds hold the suite."""

    def ask(self, _: Role) -> Ask:
        """Return the function that answers from the record."""

        def answer(request: Request) -> Reply:
            reply = self._store.find(request)
            if reply is None:
                self.missing += 1
                raise ReplyError("it is not recorded")
            self.tokens += reply.usage.completion_tokens
            return reply

        return answer


def run(spec: Spec, store: Answers, verifier: CachedVerifier, settings: Settings) -> Kept:
    """Run the loop on recorded replies."""
    kept = Kept(store)
    roles = make_roles(kept.ask, settings, ROLES, verifier, 1, None)
    try:
        run_strategy("greenloop", LoopState(spec, plan(settings, spec.limits), roles, kept, ignore_event))
    except (BudgetSpent, GreenloopError) as error:
        print(f"{spec.id}: {error}", file=sys.stderr)
    return kept


def answered(task: BenchTask, spec: Spec, ruling: Ruling, verifier: CachedVerifier, wrong: float) -> Spec | None:
    """Return `spec` with the reference's answer to the first question that it has one to, by chance another
    one; None without one."""
    made = with_answer(task, spec, ruling, verifier)
    if made is None or len(made.examples) == len(spec.examples):
        return made
    line = made.examples[-1].source_line
    chance = random.Random(fingerprint(task.task_id + line))
    asked = next((each for each in ruling.disputes if line.startswith(f"{each.question} ")), None)
    others = [each for each in asked.answers if not line.endswith(each)] if asked else []
    if not others or chance.random() >= wrong or asked is None:
        return made
    other = chance.choice(others)
    said = f"{asked.question} {other if other.startswith('raises ') else f'== {other}'}"
    try:
        example = from_statement(said, spec.signature)
    except ValueError:
        return made
    return replace(spec, examples=(*spec.examples, replace(example, answer=True, told=False, source_line=said)))


def rows(name: str, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each task of a set: by number of answers its grade, if it is right, and the tokens."""
    dataset, file, strip = SETS[name]
    store = Answers(args.replies / name / "replies", ask=args.ask)
    tasks = read_tasks(DATA / file, dataset)[: args.limit]  # type: ignore[arg-type]
    settings = Settings()
    with closing(open_sandbox()) as sandbox, closing(CachedVerifier(sandbox)) as verifier:
        hidden = HiddenTests(tasks, sandbox)
        for task in tasks:
            spec: Spec | None = task.spec(strip)
            found: list[dict[str, Any]] = []
            for answers in range(MOST_ANSWERS + 1):
                if spec is None:
                    found.append(found[-1])
                    continue
                kept = run(spec, store, verifier, settings)
                if not kept.rounds:
                    break
                ruling = kept.rounds[-1].ruling
                solution = task.solution(kept.code) if kept.code else ""
                right = bool(solution) and hidden.judge(task.task_id, solution).plus
                claimed = ruling.grade in SUCCESSES
                asked = [each.question[:200] for each in ruling.disputes[:3]]
                unchecked = sum(bool(each.missing) for each in ruling.clauses)
                spent = {"tokens": kept.tokens, "missing": kept.missing, "unchecked": unchecked, "asked": asked}
                found.append(
                    {"grade": ruling.grade, "claimed": claimed, "right": right, "why": ruling.why, **spent}
                )
                if answers < MOST_ANSWERS:
                    settled = ruling.grade == "verified" and not args.ask_verified
                    spec = None if settled else answered(task, spec, ruling, verifier, args.wrong)
            if found:
                yield {
                    "set": name,
                    "task": task.task_id,
                    "half": int(fingerprint(task.task_id), 16) % 2,
                    "by": found,
                }


def table(lines: Sequence[str]) -> None:
    """Print claims and false claims by set, half and number of answers."""
    found = [json.loads(line) for line in lines if line.strip()]
    print("| set | half | answers | claimed | false, of claims | right | tokens |\n|---|---|--:|--:|--:|--:|--:|")
    for name in dict.fromkeys(row["set"] for row in found):
        for half in (0, 1, None):
            these = [row["by"] for row in found if row["set"] == name and half in (None, row["half"])]
            for number in range(MOST_ANSWERS + 1):
                now = [by[number] for by in these if len(by) > number]
                claims = [each for each in now if each["claimed"]]
                cells = (
                    name, {0: "first", 1: "second", None: "both"}[half], number,
                    share_cell(share_of([(n, each["claimed"]) for n, each in enumerate(now)])),
                    share_cell(share_of([(n, not each["right"]) for n, each in enumerate(claims)])),
                    sum(each["right"] for each in now),
                    round(sum(each["tokens"] for each in now) / max(1, len(now))),
                )  # fmt: skip
                print(f"| {' | '.join(map(str, cells))} |")


def main() -> None:
    """Print the rows, or the table of rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("replies", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", choices=tuple(SETS))
    parser.add_argument("--limit", type=int)
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--ask-verified", action="store_true")
    args = parser.parse_args()
    if args.table:
        table(args.replies.read_text("utf-8").splitlines())
        return
    for name in [args.only] if args.only else list(SETS):
        for row in rows(name, args):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
