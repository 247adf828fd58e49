"""Ends what is shown of a run: ways to a better grade (answers, an example, drafts, a model), and what it took."""

from __future__ import annotations

from ..records import Ending, RunResult

MORE_DRAFTS = 12
_MOST_FAILURES = 3
"""Shown after a run; the ledger has them all."""


def failure_lines(result: RunResult) -> list[str]:
    """Return what the delivered code does on tests that it fails and that count, trusted ones first."""
    failing = sorted((entry for entry in result.ledger if entry.failure), key=lambda entry: not entry.test.trusted)
    lines = []
    for entry in failing[:_MOST_FAILURES]:
        failure = entry.failure.split("\n")[0]  # of an exception, or one that is not raised, it names no call
        name = entry.test.source.strip().split("\n")[-1].strip() if entry.test.origin == "spec" else entry.test.id
        lines.append(f"Fails: {failure if failure.startswith(name) else f'{name}: {failure}'}")
    more = len(failing) - len(lines)
    return [*lines, f"Fails: {more} more in {result.run_dir}/ledger.json"] if more else lines


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
        steps.append(
            "Next: answer questions above: one decides between the drafts, two outweigh tests in doubt where a "
            "third of all stand."
        )
    usage = result.usage
    if usage.calls:
        seconds = usage.seconds / usage.calls * MORE_DRAFTS
        steps.append(f"Next: --drafts {MORE_DRAFTS} for more of them, about {seconds:.0f} s at this run's rate.")
    steps.append("Next: a larger model, --model NAME (`models` lists what is there).")
    return steps


def summary_lines(result: RunResult) -> list[str]:
    """Return strength of the suite, time, tokens and files of a run; nothing for one that never began."""
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
