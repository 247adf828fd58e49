"""Checks the records of a session for consistency; any contradiction voids the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..records import Outcome
from ..syntax.clean_text import clean
from .failure_text import outcome_of
from .sensitivity import Sensitivity, read_sensitivity
from .session import Record, Session

TroubleKind = Literal["void", "forged", "incomplete"]
Trouble = tuple[TroubleKind, str]

SKIPPED = "it is skipped here"
"""Prefix of the detail of a test that its own condition on the platform or version skipped."""
_NO_CASES = "got empty parameter set"
_OTHER_KINDS = frozenset([
    "collected", "uncollected", "deselected", "note", "unshareable", "malformed", "finish", "answers", "noticed",
    "end",
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Audit:
    """`outcomes` by node id of every finished test; `uncollected` is the error of a file that could not be
    collected; `noticed` are the tests' sensitivities to the answers with this `digest`; `never` are the lines of
    assertions that were not reached; `trouble` voids the whole run."""

    ids: tuple[str, ...]
    outcomes: Mapping[str, Outcome]
    uncollected: str
    trouble: Trouble | None
    noticed: Mapping[str, Sensitivity]
    digest: str
    never: frozenset[int] | None


class _Disagreement(Exception):
    def __init__(self, kind: TroubleKind, reason: str) -> None:
        super().__init__(reason)
        self.trouble: Trouble = (kind, clean(reason)[:500])


def audit(session: Session, expected: Mapping[str, str], wanted: Callable[[str], bool], source: str) -> Audit:
    """Check a session, an unfinished one as far as it went. `expected` are the canaries' outcomes, `wanted`
    selects the other tests that had to run, `source` is the text of the tests."""
    ids: tuple[str, ...] = ()
    outcomes: dict[str, Outcome] = {}
    uncollected = digest = ""
    noticed: dict[str, Sensitivity] = {}
    never: frozenset[int] | None = None
    trouble: Trouble | None = None
    try:
        ids, uncollected = _collected(session.records)
        by_test = _by_test(session.records)
        for node_id, steps in by_test.items():
            if (outcome := _outcome(node_id, steps, source)) is not None:
                outcomes[node_id] = outcome
        for canary, status in expected.items():
            if canary in outcomes and (outcomes[canary].status == "passed") != (status == "passed"):
                raise _Disagreement("forged", "a test planted to fail was reported as passed, or the reverse")
        asked = {node_id for node_id in ids if node_id in expected or wanted(node_id)}
        for node_id in by_test:
            if node_id not in asked:
                raise _Disagreement("void", f"a test ran that was not asked for: {node_id}")
        if session.finished:
            _whole(session.records, outcomes, ids, asked | set(expected))
            noticed, digest, never = _noticed(session.records, asked - set(expected))
    except _Disagreement as disagreement:
        trouble = disagreement.trouble
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        trouble = ("forged", f"a record is malformed: {type(error).__name__}")
    kept = {key: value for key, value in outcomes.items() if key not in expected}
    return Audit(ids, kept, uncollected, trouble, noticed, digest, never)


def _collected(records: Sequence[Record]) -> tuple[tuple[str, ...], str]:
    """Return the ids that pytest collected, and the error of a file that could not be collected."""
    found = [record for record in records if record["is"] == "collected"]
    if len(found) > 1:
        raise _Disagreement("forged", "the tests were collected twice")
    kinds = [record["is"] for record in records]
    if "collected" in kinds and "start" in kinds[: kinds.index("collected")]:
        raise _Disagreement("forged", "a test began before the tests were collected")
    uncollected = ""
    for record in records:
        if record["is"] == "deselected" and record["ids"]:
            raise _Disagreement("void", f"{len(record['ids'])} tests were deselected")
        if record["is"] == "uncollected":
            if record["outcome"] != "failed":
                raise _Disagreement("void", "a whole file of tests was skipped")
            uncollected = uncollected or clean(str(record["text"]))
    return tuple(str(node_id) for record in found for node_id in record["ids"]), uncollected


def _by_test(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records of each test, which must lie between its start and the next test's."""
    by_test: defaultdict[str, list[Record]] = defaultdict(list)
    current = None
    for record in records:
        if record["is"] == "start":
            current = str(record["id"])
            if current in by_test:
                raise _Disagreement("void", f"a test ran twice: {current}")
        elif record["is"] in ("raw", "report"):
            if record["id"] != current:
                raise _Disagreement(
                    "forged", f"a result was reported for a test that was not running: {record['id']}"
                )
        elif record["is"] in _OTHER_KINDS:
            continue
        else:
            raise _Disagreement("forged", "a record is of no kind that is written")
        by_test[str(record["id"])].append(record)
    return dict(by_test)


def _outcome(node_id: str, steps: Sequence[Record], source: str) -> Outcome | None:
    """Return one test's outcome; None before its teardown was reported."""
    kinds = [step["is"] if step["is"] != "report" else step["when"] for step in steps]
    if "teardown" not in kinds:
        return None
    raw = [step["outcome"] for step in steps if step["is"] == "raw"]
    reports = {step["when"]: step for step in steps if step["is"] == "report"}
    if kinds == ["start", "setup", "teardown"] and reports["setup"]["outcome"] == "skipped":
        reason = clean(str(reports["setup"]["facts"]["skipped"])).removeprefix("Skipped: ")
        if not reports["setup"]["xfail"] and not reason.startswith(_NO_CASES):
            return Outcome(node_id, "missing", f"{SKIPPED}: {reason}" if reason else SKIPPED)
    if any(report["outcome"] == "skipped" or report["xfail"] for report in reports.values()):
        raise _Disagreement("void", f"a test was skipped or marked as expected to fail: {node_id}")
    if not all(step["outcome"] in ("passed", "failed") for step in steps if step["is"] != "start"):
        raise _Disagreement("forged", f"a test has an outcome that no test has: {node_id}")
    set_up = "setup" in reports and reports["setup"]["outcome"] == "passed"
    if kinds != ["start", "setup", *(["raw", "call"] if set_up else []), "teardown"]:
        raise _Disagreement("forged", f"the steps of a test are not those of one: {node_id}")
    if "call" in reports and raw != [reports["call"]["outcome"]]:
        raise _Disagreement("forged", f"the call of a test and the report about it disagree: {node_id}")
    return outcome_of(node_id, reports, source)


def _whole(
    records: Sequence[Record], outcomes: Mapping[str, Outcome], ids: tuple[str, ...], asked: Collection[str]
) -> None:
    """Check that a finished run is complete, and that its totals agree with its tests."""
    missing = [node_id for node_id in asked if node_id not in outcomes]
    if missing and not ids:
        said = "the run ended before the tests were collected: something ends the program when it is imported"
        raise _Disagreement("incomplete", f"{said} (sys.exit?)")
    if missing:
        raise _Disagreement("incomplete", f"{len(missing)} tests have no outcome: {missing[0]}")
    if len(set(ids)) != len(ids) or not set(outcomes) <= set(ids):
        raise _Disagreement("forged", "the tests that ran are not those that were collected")
    failed = sum(outcome.status not in ("passed", "missing") for outcome in outcomes.values())
    finish = [record for record in records if record["is"] == "finish"]
    kinds = [record["is"] for record in records]
    after = kinds[kinds.index("finish") + 1 :] if finish else []
    measured = [kind for kind in after if kind not in ("answers", "noticed", "note")]
    # Where the passes took too long, no end was waited for.
    ended = measured == ["end"] == kinds[-1:] or (not measured and after[:1] == ["answers"])
    exits = {record["exit"] for record in records if record["is"] in ("finish", "end")}
    if not ended or len(finish) != 1 or len(exits) != 1:
        raise _Disagreement("incomplete", "the run did not come to its end")
    if finish[0]["exit"] != 1 or int(finish[0]["failed"]) < failed:
        raise _Disagreement("forged", "the totals of the run are not those of its tests")


def _noticed(
    records: Sequence[Record], asked: Collection[str]
) -> tuple[dict[str, Sensitivity], str, frozenset[int] | None]:
    """Return the tests' sensitivities, the digest of the answers, and the lines of assertions that never ran."""
    found: dict[str, Sensitivity] = {}
    digests = [str(record["digest"]) for record in records if record["is"] == "answers"]
    kinds = [record["is"] for record in records]
    ran = [record["id"] for record in records if record["is"] == "start" and record["id"] in asked]
    for record in records:
        if record["is"] == "noticed":
            if record["id"] not in asked or record["id"] in found or not digests:
                raise _Disagreement("forged", f"what a test notices was told wrongly: {record['id']}")
            found[record["id"]] = read_sensitivity(record)
    if kinds[-1] != "end":  # it was cut off: nothing is measured
        found, digests = {}, digests and [""]
    elif found and list(found) != ran:
        raise _Disagreement("incomplete", "what some tests notice was not told")
    early = "noticed" in kinds and kinds.index("noticed") < kinds.index("answers")
    if early or len(digests) > 1 or any(kind in ("answers", "noticed") for kind in kinds[: kinds.index("finish")]):
        raise _Disagreement("forged", "what the tests notice was told before they had run, or twice")
    never = [frozenset(map(int, record["never"])) for record in records if record["is"] == "answers"]
    return found, digests[0] if digests else "", never[0] if never else None
