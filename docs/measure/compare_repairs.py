"""Compares ways to repair recorded wrong drafts of HumanEval+ and MBPP+ tasks, at equal generated tokens.

    python -m docs.measure.compare_repairs DATA --replies DIR --out DIR [--model ID ...] [--limit N]

DIR/replies has the replies of a benchmark (docs/benchmark/replies.tar.gz, unpacked); each draft among them that
fails an example of its spec is a case. An arm asks again and again until a candidate passes the examples or its
tokens are spent; the debugger is asked once, and then as the Critic with the trace. Stopped, it goes on.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from agents.bench.hidden_tests import HiddenTests
from agents.bench.tasks import BenchTask, read_tasks
from agents.debugger.debugger import Failing, trace_of_failure
from agents.errors import BudgetSpent, ReplyError
from agents.events import ignore_event
from agents.llm_backends.budget import Budget
from agents.loop.roles import Roles
from agents.records import Candidate, Outcome, Request, Spec, Test
from agents.run.resources import models_by_role
from agents.run.role_models import RoleModels, SharedModels
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.suite import example_tests
from agents.syntax.source import program
from agents.verifier.cached_verifier import CachedVerifier

TOKENS = 400
"""That an arm may generate for a case; a call that is under way then is not cut off."""
MOST_CALLS = 12
DRAFTS = 8
"""Recorded drafts of a task that are looked at."""
FIRST_NEW_DRAFT = 40
"""Drafts of an arm have numbers from here on, so that none of them is a recorded one."""
RESAMPLED = 10_000


@dataclass(frozen=True, slots=True)
class Case:
    """A wrong draft, and the examples that it fails."""

    task: BenchTask
    spec: Spec
    draft: Candidate


@dataclass(frozen=True, slots=True)
class Ended:
    """What an arm did with a case: `visible`: it passes the examples; `hidden`: the hidden tests too."""

    task_id: str
    arm: str
    visible: bool
    hidden: bool
    calls: int
    tokens: int
    prompt_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Work:
    """One arm at work on a case."""

    case: Case
    roles: Roles
    verifier: CachedVerifier
    failing: tuple[tuple[Test, Outcome], ...]

    def redraft(self) -> Iterator[Candidate | None]:
        """Draw drafts that know nothing of the failure."""
        for number in range(MOST_CALLS):
            yield self._usable(
                lambda n=number: self.roles.code_writer.draft(self.case.spec, FIRST_NEW_DRAFT + n, 1)
            )

    def critic(self) -> Iterator[Candidate | None]:
        """Ask the Critic, who is told the failing examples."""
        yield from self._critics("")

    def critic_with_trace(self) -> Iterator[Candidate | None]:
        """Ask the Critic, who is told the trace of the first failing call too."""
        yield from self._critics(trace_of_failure(self.case.draft, self.failing, self.verifier))

    def debugger(self) -> Iterator[Candidate | None]:
        """Ask the debugger once, and then go on as the loop does."""
        debugger = self.roles.debugger
        assert debugger is not None
        board = self.verifier.board([self.case.draft], example_tests(self.case.spec))
        failing = Failing(self.case.spec, board, self.case.draft, self.failing)
        yield self._usable(lambda: replace(debugger, budget=None).replace(failing, 2, ignore_event))
        yield from self.critic_with_trace()

    def _critics(self, trace: str) -> Iterator[Candidate | None]:
        known = frozenset({program(self.case.draft.code)})
        for number in range(MOST_CALLS):
            yield self._usable(
                lambda n=number: self.roles.critic.replace(
                    self.case.spec, self.case.draft, self.failing, 2 + n, known, trace=trace
                )
            )

    @staticmethod
    def _usable(ask: Callable[[], Candidate]) -> Candidate | None:
        with suppress(ReplyError):
            return ask()
        return None


ARMS: Mapping[str, Callable[[Work], Iterator[Candidate | None]]] = {
    "redraft": Work.redraft,
    "critic": Work.critic,
    "critic with trace": Work.critic_with_trace,
    "debugger": Work.debugger,
}


def wrong_drafts(
    tasks: tuple[BenchTask, ...], replies: Path, verifier: CachedVerifier, each: int
) -> Iterator[Case]:
    """The recorded drafts that fail an example, `each` of a task at the most, no program twice."""
    settings = Settings(model=f"recorded:{replies}")
    with SharedModels(models_by_role(settings, {}), None, ignore_event) as shared:
        for task in tasks:
            spec = task.spec()
            found: dict[str, Case] = {}
            for number in range(DRAFTS):
                with ExitStack() as held:
                    models = RoleModels(shared, settings, Budget(), replies / "unused", ignore_event)
                    held.enter_context(models)
                    try:
                        draft = models.roles(verifier).code_writer.draft(spec, number, 1)
                    except Exception:
                        break
                verdict = verifier.board([draft], example_tests(spec)).verdicts[0]
                if verdict.kind == "failed" and program(draft.code) not in found and len(found) < each:
                    found[program(draft.code)] = Case(task, spec, draft)
            yield from found.values()


def failing_of(case: Case, verifier: CachedVerifier) -> tuple[tuple[Test, Outcome], ...]:
    """The examples that the draft fails."""
    tests = example_tests(case.spec)
    verdict = verifier.board([case.draft], tests).verdicts[0]
    outcomes = [(test, verdict.outcome(test.id)) for test in tests]
    return tuple((test, outcome) for test, outcome in outcomes if outcome.status != "passed")


def done(
    case: Case,
    arm: str,
    shared: SharedModels,
    settings: Settings,
    replies: Path,
    parts: tuple[CachedVerifier, HiddenTests],
) -> Ended:
    """Let an arm work on a case."""
    verifier, hidden = parts
    budget = Budget(max_tokens=TOKENS)
    best, visible = None, False
    with RoleModels(shared, settings, budget, replies, ignore_event) as models:
        roles = models.roles(verifier, at_once=1)
        if arm.startswith("critic"):  # at temperature 0 all replies would be one
            roles = replace(roles, critic=replace(roles.critic, ask=warm(models), seed=0))
        work = Work(case, roles, verifier, failing_of(case, verifier))
        with suppress(BudgetSpent):
            for candidate in ARMS[arm](work):
                if candidate is not None:
                    best = candidate
                    visible = verifier.board([candidate], example_tests(case.spec)).verdicts[0].kind == "passed"
                if visible:
                    break
    right = best is not None and hidden.judge(case.task.task_id, case.task.solution(best.code)).plus
    used = budget.usage
    return Ended(
        case.task.task_id,
        arm,
        visible,
        right,
        used.calls,
        used.completion_tokens,
        used.prompt_tokens,
        used.seconds,
    )


def warm(models: RoleModels) -> Callable[[Request], object]:
    """Ask as the Critic, at 0.8 from its second request on."""
    ask = models.ask("critic")
    return lambda request: ask(request if request.seed <= 2 else replace(request, temperature=0.8))


def interval(ended: list[Ended], first: str, second: str) -> tuple[float, float, float]:
    """The difference of the shares that two arms put right, and its 95 % interval, resampled by task."""
    by_task: dict[str, list[int]] = {}
    cases = {arm: [each for each in ended if each.arm == arm] for arm in (first, second)}
    for one, other in zip(cases[first], cases[second], strict=True):
        assert one.task_id == other.task_id
        by_task.setdefault(one.task_id, []).append(one.hidden - other.hidden)
    groups = list(by_task.values())
    chance = random.Random(0)
    means = []
    for _ in range(RESAMPLED):
        drawn = [value for group in chance.choices(groups, k=len(groups)) for value in group]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    values = [value for group in groups for value in group]
    return sum(values) / len(values), means[int(0.025 * RESAMPLED)], means[int(0.975 * RESAMPLED)]


def table(ended: list[Ended]) -> Iterator[str]:
    """The figures of each arm, and differences."""
    yield "| arm | right on hidden tests | passes the examples alone | calls | tokens | prompt tokens | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for arm in ARMS:
        own = [each for each in ended if each.arm == arm]
        right, visible = sum(each.hidden for each in own), sum(each.visible and not each.hidden for each in own)
        sums = [
            sum(values) / len(own)
            for values in (
                [e.calls for e in own],
                [e.tokens for e in own],
                [e.prompt_tokens for e in own],
                [e.seconds for e in own],
            )
        ]
        yield (
            f"| {arm} | {right} of {len(own)} | {visible} | " + " | ".join(f"{value:.1f}" for value in sums) + " |"
        )
    for arm in list(ARMS)[1:]:
        mean, low, high = interval(ended, arm, "redraft")
        yield f"{arm} less redraft: {mean * 100:+.1f} points ({low * 100:+.1f} to {high * 100:+.1f})"


def main() -> None:
    """Do what is not done yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--dataset", default="HumanEval+")
    parser.add_argument("--replies", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--api-base")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--each", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    journal = options.out / f"{options.dataset}.jsonl"
    known = [Ended(**json.loads(line)) for line in journal.read_text().splitlines()] if journal.exists() else []
    settings = Settings(model=options.model, api_base=options.api_base)
    tasks = read_tasks(options.data, options.dataset)
    with ExitStack() as held:
        sandbox = held.enter_context(closing(open_sandbox("auto")))
        verifier = held.enter_context(closing(CachedVerifier(sandbox)))
        hidden = HiddenTests(tasks, sandbox)
        cases = list(wrong_drafts(tasks, options.replies, verifier, options.each))[: options.limit]
        print(f"{len(cases)} wrong drafts of {len({case.task.task_id for case in cases})} tasks", flush=True)
        environ = {"OPENAI_API_KEY": "none"}
        shared = held.enter_context(SharedModels(models_by_role(settings, environ), None, ignore_event))
        ended: dict[tuple[int, str], Ended] = {}
        todo = []
        for number, case in enumerate(cases):
            of_task = [each for each in known if each.task_id == case.task.task_id]
            place = sum(earlier.task.task_id == case.task.task_id for earlier in cases[:number])
            for arm in ARMS:
                old = [each for each in of_task if each.arm == arm][place : place + 1]
                if old:
                    ended[number, arm] = old[0]
                else:
                    todo.append((number, case, arm))
        with ThreadPoolExecutor(options.jobs) as pool:

            def work(item: tuple[int, Case, str]) -> None:
                number, case, arm = item
                found = done(
                    case, arm, shared, settings, options.out / "replies" / f"{number}", (verifier, hidden)
                )
                ended[number, arm] = found
                with journal.open("a") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
                print(f"{number} {found.task_id} {arm}: {found.hidden} {found.tokens}", flush=True)

            for each in [pool.submit(work, item) for item in todo]:
                each.result()
        whole = [ended[number, arm] for number in range(len(cases)) for arm in ARMS]
    print("\n".join(table(whole)))


if __name__ == "__main__":
    main()
