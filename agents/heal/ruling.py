"""The trials of a case -> a grade and a leader; pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.heal import HealRuling, Trial

AGREEING = 2
"""Independent patches that have to do the same where nothing says what is right."""


def rule(trials: Sequence[Trial], *, trusted: bool) -> HealRuling:
    """Decide on the patches tried so far. `trusted` says that an expectation of the user's failed before."""
    plausible = sorted((trial for trial in trials if trial.plausible), key=_size)
    if not plausible:
        return HealRuling("failed", None, _why_failed(trials))
    unsuspected = [trial for trial in plausible if not trial.suspicions]
    if not unsuspected:
        leader = plausible[0]
        reason = "; ".join(f"{each.name}: {each.detail}" for each in leader.suspicions)
        return HealRuling(
            "contested",
            leader.patch.id,
            f"the failure is gone, but the patch is suspicious ({reason})",
            "Is that meant? Look at the diff, and apply it by --require contested if it is.",
        )
    leader = unsuspected[0]
    rivals = [trial for trial in unsuspected if trial.observation.behavior != leader.observation.behavior]
    if rivals:
        return HealRuling(
            "contested",
            leader.patch.id,
            f"{len(rivals)} of {len(unsuspected)} patches that mend it do something else",
            f"Which is right, {leader.patch.id} or {rivals[0].patch.id}? An expectation in which they differ "
            "decides (--expect, --expect-file, a test).",
        )
    if trusted:
        return HealRuling("verified", leader.patch.id, "what was expected failed before and holds now")
    if len(unsuspected) >= AGREEING:
        return HealRuling("consensus", leader.patch.id, f"{len(unsuspected)} independent patches do the same")
    return HealRuling(
        "contested",
        leader.patch.id,
        "the failure is gone, and nothing says what is right: one patch alone",
        "What should it do? Say it with --expect, --expect-output or --expect-file.",
    )


def _size(trial: Trial) -> tuple[int, int]:
    return (trial.patch.changed_nodes, trial.patch.changed_lines)


def _why_failed(trials: Sequence[Trial]) -> str:
    if not trials:
        return "no reply held a patch"
    last = trials[-1].observation
    reason = last.symptom.summary if last.symptom is not None else "; ".join(last.broken) or last.environment or ""
    return f"no patch mends it (the last: {reason})"
