"""Names ways to a better grade: an answer, an example, more drafts, a larger model; each a command."""

from __future__ import annotations

from ..records import RunResult

MORE_DRAFTS = 12


def next_steps(result: RunResult) -> list[str]:
    """Return a line for each thing that could raise the grade of `result`, the cheapest first."""
    if result.run_dir is None or result.grade in (None, "verified"):
        return []
    steps = []
    unchecked = [each for each in result.clauses if each.missing and each.would_test and not each.open]
    if unchecked:
        steps.append(f"Next: say what is right where nothing checks the spec: {unchecked[0].would_test}")
    if result.grade == "consensus":
        steps.append("Next: an example in the spec, `call == value`, can make it verified.")
        return steps
    if result.disputes:
        steps.append(
            "Next: an answer to a question above decides between the drafts; two stand for tests in doubt."
        )
    usage = result.usage
    if usage.calls:
        seconds = usage.seconds / usage.calls * MORE_DRAFTS
        steps.append(f"Next: --drafts {MORE_DRAFTS} for more of them, about {seconds:.0f} s at this run's rate.")
    steps.append("Next: a larger model, --model NAME (`models` lists what is there).")
    return steps
