"""A verdict as the JSON document that scripts read."""

from __future__ import annotations

from dataclasses import asdict

from ..records import Verdict
from ..sandbox import SandboxLimits


def verdict_document(verdict: Verdict, limits: SandboxLimits) -> dict[str, object]:
    """Return the JSON document of a verdict."""
    return {
        "schema_version": 1,
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "tests": [
            {"id": outcome.test_id, "outcome": outcome.status, "detail": outcome.detail}
            for outcome in verdict.outcomes
        ],
        "refused": [{"id": refusal.test_id, "reason": refusal.reason} for refusal in verdict.refused],
        "strength": [
            {"id": one.test_id, "noticed": one.noticed, "tried": one.tried, "missed": one.missed}
            for one in verdict.strength
        ],
        "isolation": verdict.isolation,
        "backend": verdict.backend,
        "limits": asdict(limits),
        "stopped": asdict(verdict.stopped) if verdict.stopped else None,
        "notes": list(verdict.notes),
        "seconds": verdict.seconds,
        "error": None,
    }
