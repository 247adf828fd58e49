"""Decides the grade and the leader of a heal from its trials; pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.heal import HealRuling, Trial
from .evidence import Evidence
from .expectations import EXPECT_CALL
from .voices import AGREEING, VERIFYING, voices

LEAST_TRIED = 3
"""Calls that patches have to answer alike for `verified` without a held-out item."""
MOST_FAILING = 0.25
"""Share of the calls answered by the original code in which such a patch may fail."""

_OF_A_REWRITE = frozenset(["removes", "swallows", "weakens types"])
"""Suspicions that a mere rewrite raises too. Such a patch does not lead, but is a voice for a leader with which it
agrees in calls that show the difference to the original code."""


def rule(trials: Sequence[Trial], *, trusted: bool, evidence: Evidence) -> HealRuling:
    """Return the ruling on the patches tried so far. `trusted`: an expectation of the user failed before."""

    def contested(leader: Trial, why: str, question: str | None) -> HealRuling:
        return HealRuling("contested", leader.patch.id, why, question)

    plausible = [trial for trial in trials if trial.plausible]
    plausible.sort(key=lambda trial: (trial.patch.changed_nodes, trial.patch.changed_lines))
    if not plausible:
        return HealRuling("failed", None, _why_failed(trials))
    unsuspected = [trial for trial in plausible if not trial.suspicions]
    if not unsuspected:
        reason = "; ".join(f"{each.name}: {each.detail}" for each in plausible[0].suspicions)
        why = f"the failure is gone, but the patch is suspicious ({reason})"
        question = "Is that meant? Look at the diff, and apply it by --require contested if it is."
        return contested(plausible[0], why, question)
    groups = [evidence.following(trial, unsuspected) for trial in unsuspected]
    group = max(groups, key=voices)
    rivals = [trial for trial in unsuspected if trial not in group]
    # A patch that fails in calls where others agree on a value fixes its case only: it neither leads nor counts.
    failing_less = {trial.patch.id: evidence.left_failing(trial, group, AGREEING) for trial in group}
    least = min(failing_less.values())
    alike = [trial for trial in group if failing_less[trial.patch.id] == least]
    leader = alike[0]
    tried = evidence.tried(alike)
    suspected = [trial for trial in plausible if trial.suspicions]
    rewritten = [trial for trial in suspected if all(each.name in _OF_A_REWRITE for each in trial.suspicions)]
    following = evidence.following(leader, rewritten) if tried else []
    count = voices([*alike, *(each for each in following if evidence.tried([*alike, each]) == tried)])
    if rivals:
        asked = [each for one in alike for other in rivals if (each := evidence.question(one, other))]
        why = f"{len(rivals)} of {len(unsuspected)} patches that mend it do something else"
        question = (
            f"Which is right, {leader.patch.id} or {rivals[0].patch.id}? An expectation in which they differ "
            "decides (--expect, --expect-file, a test)."
        )
        return contested(leader, why, min(asked, key=lambda each: EXPECT_CALL not in each, default=question))
    if (smaller := evidence.smaller.get(leader.patch.id)) is not None:
        return contested(leader, "a smaller change meets all expectations", evidence.question(leader, smaller))
    if trusted and count >= evidence.voices_needed < VERIFYING:
        why = "what was expected failed before and holds now, and so does what no prompt had"
        return HealRuling("verified", leader.patch.id, why)
    failing, answered = len(evidence.failing(leader)), len(evidence.answered())
    if trusted and count >= VERIFYING and tried >= LEAST_TRIED and failing <= MOST_FAILING * answered:
        why = f"what was expected failed before and holds now, and {count} independent patches do the same"
        return HealRuling("verified", leader.patch.id, f"{why} on {tried} other calls")
    failed_by = [trial for trial in alike if count == AGREEING and evidence.left_failing(trial, alike, 1)]
    if failed_by:
        answering = next((trial for trial in alike if trial not in failed_by), leader)
        why = "of two patches that mend it one still fails where the other comes to a value"
        return contested(leader, why, evidence.question(answering, None))
    # A script may have no input to vary. With an expected call, two patches that agree may share just its value.
    called = any(item.name == EXPECT_CALL for item in (*evidence.shown, *evidence.held))
    alone = not (evidence.calls or evidence.left_out) and count >= (VERIFYING if called else AGREEING)
    if count >= AGREEING and (tried or alone):
        beyond = f", on {tried} other calls too" if tried else ", and there is nothing else to run"
        beyond += f"; they fail in {failing} of {answered} that the code answered" if failing else ""
        return HealRuling("consensus", leader.patch.id, f"{count} independent patches do the same{beyond}")
    shown = "one patch alone" if count < AGREEING else f"no other call shows what {count} patches mend"
    why = f"the failure is gone, and nothing says what is right beyond it: {shown}"
    question = (
        "What should it do otherwise? Say it with a test, --expect-call, --expect, --expect-output or "
        "--expect-file."
    )
    return contested(leader, why, evidence.question(leader, None) or question)


def _why_failed(trials: Sequence[Trial]) -> str:
    if not trials:
        return "no reply held a patch"
    last = trials[-1].observation
    reason = last.symptom.summary if last.symptom is not None else "; ".join(last.broken) or last.environment or ""
    if last.symptom is not None and last.symptom.kind == "tests" and last.symptom.items:
        first = last.symptom.items[0]
        reason += f", {first.name}: {first.detail.split(chr(10))[0][:200]}"
    return f"no patch mends it (the last: {reason})"
