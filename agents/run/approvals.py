"""A run's approvals: each proposal is asked about once; decisions are kept for `--resume`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ..errors import Interrupted, check_type
from ..llm_backends.budget import Budget
from ..llm_backends.streams import BackgroundStream
from ..records.approvals import ANSWERS, Answer, Approve, Decision, Point, Proposal
from ..settings import ApprovePoints, Settings
from ..storage.run_directory import RunDirectory
from .cancellation import Cancellation

APPROVALS_FILE = "approvals.json"
NOBODY_APPROVES = (
    "Nobody is here to approve anything (no terminal, --json, or a batch); leave out --approve and --ask, or "
    "run it on a terminal."
)
_POLL_SECONDS = 0.1
_POINTS: dict[ApprovePoints, tuple[Point, ...]] = {
    "never": (),
    "replacement": ("replacement",),
    "round": ("replacement", "round"),
    "all": ("replacement", "round", "draft", "tests"),
}


@dataclass(frozen=True, slots=True)
class _Decided:
    point: Point
    title: str
    answer: Answer | Literal["unanswered"]
    text: str


@dataclass(slots=True)
class Approvals:
    """The approvals of one run, asked of `approve` at the `points` that the settings name.

    Waiting is not charged to the run's seconds. Without an answer within `approve_seconds` the run is interrupted,
    and asks again when it is resumed.
    """

    approve: Approve | None
    settings: Settings
    run: RunDirectory
    budget: Budget
    cancellation: Cancellation
    points: tuple[Point, ...] = field(init=False)
    _decided: dict[str, _Decided] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.points = _POINTS[self.settings.approve]
        if self.points and self.run.load(APPROVALS_FILE) is not None:
            self._decided = self.run.load_record(APPROVALS_FILE, dict[str, _Decided])

    def decide(self, proposal: Proposal) -> Decision:
        """Return the decision on a proposal, from before if the same was shown. Raises Interrupted for `stop`, a
        cancelled run, and a timeout."""
        kept = self._decided.get(proposal.digest)
        if kept is not None and kept.answer in ANSWERS[proposal.point] and kept.answer != "stop":
            decision = Decision(kept.answer, kept.text)
        else:
            decision = self._asked(proposal)
            self._keep(proposal, decision.answer, decision.text)
        if decision.answer == "stop":
            raise Interrupted("Stopped; go on with --resume.")
        return decision

    def _asked(self, proposal: Proposal) -> Decision:
        approve, most = self.approve, self.settings.approve_seconds
        assert approve is not None
        shown = replace(proposal, usage=self.budget.usage)
        answers = BackgroundStream(lambda: iter([(approve(shown),)]))  # a tuple: None means no item yet
        with self.budget.paused():
            waited = 0.0
            while (answered := answers.next(_POLL_SECONDS)) is None:
                waited += _POLL_SECONDS
                if self.cancellation.cancelled:
                    raise Interrupted("Interrupted; go on with --resume.")
                if most is not None and waited >= most:
                    self._keep(proposal, "unanswered", "")
                    raise Interrupted(f"Nobody answered within {most:g} s; go on with --resume.")
        (decision,) = answered
        check_type("what approve returns", decision, Decision, "a Decision")
        return decision

    def _keep(self, proposal: Proposal, answer: Answer | Literal["unanswered"], text: str) -> None:
        self._decided[proposal.digest] = _Decided(proposal.point, proposal.title, answer, text)
        self.run.save_record(APPROVALS_FILE, self._decided)
