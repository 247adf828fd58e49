"""Measures what a text of a person's lessons in the CodeWriter's prompt does to drafts of HumanEval+ tasks.

    python -m docs.measure.lessons DATA LESSONS --out DIR [--model ID --api-base URL --jobs N]

Each task is drafted at temperature 0 and once at 0.8, with the lessons and without, with the same seeds.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

from agents.bench.hidden_tests import HiddenTests
from agents.bench.statistics import difference_of
from agents.bench.tasks import BenchTask, read_tasks
from agents.errors import ReplyError
from agents.events import ignore_event
from agents.llm_backends.budget import Budget
from agents.records import Reply, Request
from agents.run.resources import models_by_role
from agents.run.role_models import RoleModels, SharedModels
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.verifier.cached_verifier import CachedVerifier

DRAFTS = 2


def main() -> None:
    """Draft, judge, and print the difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("lessons", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--api-base")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    lessons = f"\n\n# What the user has learnt\n\n<lessons>\n{options.lessons.read_text().strip()}\n</lessons>"
    settings = Settings(model=options.model, api_base=options.api_base)
    tasks = read_tasks(options.data)
    with ExitStack() as held:
        sandbox = held.enter_context(closing(open_sandbox("auto")))
        hidden = HiddenTests(tasks, sandbox)
        verifier = held.enter_context(closing(CachedVerifier(sandbox)))
        choices = models_by_role(settings, {"OPENAI_API_KEY": "none"})
        shared = held.enter_context(SharedModels(choices, None, ignore_event))

        def right(item: tuple[BenchTask, int, bool]) -> tuple[bool, int]:
            task, number, told = item
            budget = Budget()
            with RoleModels(shared, settings, budget, options.out / "replies", ignore_event) as models:
                ask = models.ask("code_writer")

                def asking(request: Request) -> Reply:
                    user = request.messages[1]
                    messages = (
                        request.messages[0],
                        replace(user, content=user.content + lessons),
                        *request.messages[2:],
                    )
                    return ask(replace(request, messages=messages) if told else request)

                writer = replace(models.roles(verifier).code_writer, ask=asking)
                with suppress(ReplyError):
                    draft = writer.draft(task.spec(), number, 1)
                    plus = hidden.judge(task.task_id, task.solution(draft.code)).plus
                    print(task.task_id, number, told, plus, flush=True)
                    return plus, budget.usage.completion_tokens
            return False, budget.usage.completion_tokens

        items = [(task, number, told) for task in tasks for number in range(DRAFTS) for told in (False, True)]
        with ThreadPoolExecutor(options.jobs) as pool:
            found = dict(zip([(t.task_id, n, told) for t, n, told in items], pool.map(right, items), strict=True))
    by_arm = {
        told: {(task, number): plus for (task, number, was), (plus, _) in found.items() if was is told}
        for told in (False, True)
    }
    for told, arm in by_arm.items():
        tokens = [count for (_, _, was), (_, count) in found.items() if was is told]
        print(f"{'with' if told else 'without'} lessons: {sum(arm.values())} of {len(arm)} right, "
              f"{sum(tokens) / len(tokens):.0f} tokens")  # fmt: skip
    difference = difference_of(by_arm[True], by_arm[False])
    assert difference is not None
    low, high = difference.interval.low * 100, difference.interval.high * 100
    print(f"with less without: {difference.difference * 100:+.1f} points ({low:+.1f} to {high:+.1f})")


if __name__ == "__main__":
    main()
