"""The last lines of a run: failures, questions, ways to a better grade (an answer, drafts, a model), and cost."""

from __future__ import annotations

from shlex import join, quote

from ..records import Ending, RunResult
from ..records.heal import HealResult
from ..storage.questions import QUESTIONS_FILE, how_to_answer, question_line

MORE_DRAFTS = (12, 24)
"""Numbers of drafts to suggest: the lowest that is above the run's calls."""
_MOST_FAILURES = 3
"""Shown after a run; the ledger has them all."""
_MOST_QUESTIONS = 5
"""Shown after a run; the others are in its file."""


def ending_lines(result: RunResult, *, whole: bool) -> list[str]:
    """Return lines on failures, unchecked clauses (with `whole` all clauses), open questions, and next steps."""
    asked = [*question_lines(result), *next_steps(result)]
    return [*failure_lines(result), *clause_lines(result, whole=whole), *asked]


def failure_lines(result: RunResult) -> list[str]:
    """Return a line for each test that counts and that the delivered code fails, trusted ones first."""
    failing = sorted((entry for entry in result.ledger if entry.failure), key=lambda entry: not entry.test.trusted)
    lines = []
    for entry in failing[:_MOST_FAILURES]:
        failure = entry.failure.split("\n")[0]  # a failure by an exception, raised or missing, names no call
        name = entry.test.source.strip().split("\n")[-1].strip() if entry.test.origin == "spec" else entry.test.id
        lines.append(f"Fails: {failure if failure.startswith(name) else f'{name}: {failure}'}")
    more = len(failing) - len(lines)
    return [*lines, f"Fails: {more} more in {result.run_dir}/ledger.json"] if more else lines


def clause_lines(result: RunResult, *, whole: bool) -> list[str]:
    """Return a line with the standing of each clause; without `whole` only of those that no test holds, and the
    number of the others."""
    shown = [each for each in result.clauses if whole or not each.is_held]
    held = len(result.clauses) - len(shown)
    rest = f"{held} of {len(result.clauses)} clauses of the spec are held by tests."
    return [*(f"Clause: {each}" for each in shown), *([rest] if result.clauses and not whole else [])]


def question_lines(result: RunResult) -> list[str]:
    """Return the open questions of a run, one line each, and how to answer them."""
    if not result.disputes:
        return []
    shown = result.disputes if result.run_dir is None else result.disputes[:_MOST_QUESTIONS]
    answers = f"{result.run_dir}/{QUESTIONS_FILE}"
    lines = [f"Open: {question_line(dispute)}" for dispute in shown]
    if more := len(result.disputes) - len(shown):
        lines.append(f"Open: {more} more {'questions' if more > 1 else 'question'} in {answers}")
    lines.append(how_to_answer(shown))
    if result.run_dir is not None:
        command = join(["--resume", result.run_dir, "--answers", answers])
        lines.append(f"Or uncomment answers in {answers}; then: {command}")
    return lines


def next_steps(result: RunResult) -> list[str]:
    """Return a line for each thing that could raise the grade of `result`, the cheapest first."""
    if result.run_dir is None or result.grade in (None, "verified"):
        return []
    steps = []
    if any(entry.failure and entry.test.origin == "spec" for entry in result.ledger):
        way = "in the spec or by --answers (floats as `== pytest.approx(...)`)"
        steps.append(f"Next: is the example that fails what you mean? If not, change it {way}.")
    unchecked = [each for each in result.clauses if each.missing and each.would_test and not each.open]
    if unchecked:
        steps.append(f"Next: say what is right where nothing checks the spec: {unchecked[0].would_test}")
    if result.grade == "consensus":
        steps.append("Next: an example in the spec, `call == value`, can make it verified.")
        return steps
    if result.disputes:
        outweigh = "two outweigh tests in doubt where a third of all stand"
        steps.append(f"Next: answer questions above: one decides between the drafts, {outweigh}.")
    more = next((count for count in MORE_DRAFTS if 0 < result.usage.calls <= count), None)
    if more:
        seconds = result.usage.seconds / result.usage.calls * more
        steps.append(f"Next: --drafts {more} for more of them, about {seconds:.0f} s at this run's rate.")
    steps.append("Next: a larger model, --model NAME (`models` lists what is there).")
    return steps


def summary_lines(result: RunResult) -> list[str]:
    """Return strength of the suite, time, tokens and files of a run; none for one that never began."""
    if result.run_dir is None:
        return []
    strength = [str(result.strength)] if result.strength is not None else []
    kept = {"user_code.py": result.code, "test_user_code.py": result.tests}
    files = ", ".join([name for name, text in kept.items() if text is not None] or ["run.json"])
    return [*strength, spent_line(result, result.tokens_per_second), f"Files: {result.run_dir}/ ({files})"]


def spent_line(ended: Ending, speed: float | None = None) -> str:
    """Return the time, the calls, the tokens and the cost of a run or a heal."""
    usage = ended.usage
    cost = f", {usage.cost_usd:.4f} USD" if usage.cost_usd else ""
    decoded = f" at {speed:.1f} tokens/s" if speed else ""
    replayed = f" ({usage.replayed} of them replayed)" if usage.replayed else ""
    return (
        f"{ended.seconds:.0f} s, {usage.calls} calls{replayed}, {usage.prompt_tokens} prompt tokens "
        f"({usage.cached_prompt_tokens} cached), {usage.completion_tokens} generated{decoded}{cost}"
    )


def heal_lines(result: HealResult) -> list[str]:
    """Return lines on the open question, written files or how to write them, cost and files of a heal."""
    lines = [*result.notes, *([f"Open: {result.question}"] if result.question is not None else [])]
    undo = f"undo: heal --undo {quote(result.run_dir or '')}"
    lines += [f"Written: {each.file} (the file before: {each.backup}); {undo}" for each in result.written]
    if result.run_dir is None:
        return lines
    if result.grade not in (None, "failed") and result.diff and not result.written:
        required = "" if result.grade == "verified" else f" --require {result.grade}"
        lines.append(f"Not written yet; to write the patch: heal --resume {quote(result.run_dir)}{required} --ask")
    kept = "run.json, case.json, heal.patch" if result.diff else "run.json, case.json"
    return [*lines, spent_line(result), f"Files: {result.run_dir}/ ({kept})"]
