"""Approvals in a loop: a person approves, edits or refuses a proposal before it is used."""

from __future__ import annotations

from collections.abc import Sequence

from ..events import EventHandler, Note
from ..records import Candidate, Outcome, Ruling, Test, fingerprint
from ..records.approvals import Approve, Decision, Point, Proposal
from ..roles.critic import describe
from ..storage.run_directory import CODE_FILE, TESTS_FILE
from ..suite import render, split
from ..syntax.changes import unified
from ..syntax.source import parse


class LoopApprovals:
    """Ask `decide` for approvals at `points`; other points need none. `decide` may raise Interrupted."""

    def __init__(self, emit: EventHandler, points: Sequence[Point] = (), decide: Approve | None = None) -> None:
        self._emit = emit
        self._points = points
        self._decide = decide
        self.note = ""
        """The user's note for the next repair."""

    def asks(self, point: Point) -> bool:
        """Return True if `point` needs an approval."""
        return point in self._points

    def replacement(
        self, proposed: Candidate, leader: Candidate, failing: Sequence[tuple[Test, Outcome]]
    ) -> Candidate | None:
        """Return the replacement to use; None where it is refused. A `note` asks for another one."""
        facts = tuple(describe(test, outcome) for test, outcome in failing)
        title = f"Replacement for {leader.id}, round {proposed.round}"
        return self._approved("replacement", title, leader.code, proposed, facts)

    def next_step(self, ruling: Ruling, number: int, leader: Candidate | None) -> tuple[bool, Candidate | None]:
        """Return True if the next step of a ruling is approved, and the user's own candidate if any."""
        if not self.asks("round"):
            return True, None
        step = _STEPS.get(ruling.next_step, "draft more")
        facts = (f"{ruling.grade}: {ruling.why}", f"Next: {step}.")
        code = leader.code if leader is not None else ""
        decision, edited = self._decided("round", f"Round {number}", code, code, facts)
        if decision.answer == "edit":
            return True, _user_candidate(edited, number + 1, leader.id if leader else None)
        return decision.answer != "no", None

    def drafts(self, drafts: Sequence[Candidate]) -> list[Candidate]:
        """Return the approved drafts; ask about one at a time."""
        approved = (self._approved("draft", f"Draft {draft.id}", "", draft, ()) for draft in drafts)
        return [draft for draft in approved if draft is not None]

    def tests(self, tests: Sequence[Test]) -> Sequence[Test]:
        """Return the approved tests; edited ones are the user's, and trusted."""
        if not tests or not self.asks("tests"):
            return tests
        text = render(tests)
        decision, edited = self._decided("tests", f"{len(tests)} generated tests", "", text, (), name=TESTS_FILE)
        if decision.answer == "edit":
            return split(edited, "user")
        return tests if decision.answer != "no" else ()

    def _decided(
        self, point: Point, title: str, old: str, new: str, facts: tuple[str, ...], *, name: str = CODE_FILE
    ) -> tuple[Decision, str]:
        """Return the decision and the text, edited or not. Ask again for an edited text that is not Python."""
        assert self._decide is not None
        problem = ""
        while True:
            diff = unified(old, new, name) if old != new else ""
            decision = self._decide(Proposal(point, title, new, diff, facts, problem=problem))
            if decision.answer != "edit":
                break
            new = decision.text
            try:
                parse(new)
                break
            except ValueError as error:
                problem = f"The edited text is not Python ({error})."
        self._emit(Note(f"{title}: {_ANSWER_WORDS[decision.answer]}."))
        if decision.answer == "note":
            self.note = decision.text
        elif decision.answer == "always":
            self._points = ()
        return decision, new

    def _approved(
        self, point: Point, title: str, old: str, proposed: Candidate, facts: tuple[str, ...]
    ) -> Candidate | None:
        """Return `proposed`, or the user's edited version; None where it is refused."""
        if not self.asks(point):
            return proposed
        decision, code = self._decided(point, title, old, proposed.code, facts)
        if decision.answer in ("no", "note"):
            return None
        return _user_candidate(code, proposed.round, proposed.parent) if decision.answer == "edit" else proposed


_STEPS = {"test": "write tests", "repair": "ask for a replacement", "debug": "let the debugger look for one"}
_ANSWER_WORDS = {
    "yes": "approved",
    "always": "approved, and all that follows",
    "no": "refused",
    "note": "refused with a note",
    "edit": "changed by the user",
    "stop": "stopped",
}


def _user_candidate(code: str, number: int, parent: str | None) -> Candidate:
    return Candidate(f"user{number}-{fingerprint(code)}", code, "user", number, parent)
