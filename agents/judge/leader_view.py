"""The leader's results on a board: which tests count, which are open, and which questions to ask the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from ..records import Candidate, ClauseCheck, Dispute, Grade, LedgerEntry, Outcome, Test
from .agreement import Agreement, exception_of
from .argument_tests import CHANGED, ITSELF, SAID
from .claims import claim_of, undecided
from .probes import EDGE, ODD, probed_call
from .raising_tests import RAISING
from .used_parts import used_by
from .votes import Tallies, ballot, raises

_ATTRIBUTE = re.compile(r"\.([a-z_]\w*)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
SHOWN_DIFFERENCES = 3
SUCCESSES: tuple[Grade, ...] = ("verified", "consensus")


@dataclass(frozen=True, slots=True)
class LeaderView:
    """The leader's results on a board, as its grade counts them."""

    agreement: Agreement
    leader: Candidate
    ledger: tuple[LedgerEntry, ...]
    tallies: Tallies
    clauses: tuple[ClauseCheck, ...] = ()

    def outcome(self, entry: LedgerEntry) -> Outcome:
        """Return the leader's outcome on the test of `entry`."""
        return self.agreement.board.verdict(self.leader.id).outcome(entry.test.id)

    @property
    def passed(self) -> list[LedgerEntry]:
        """The tests that count and that the leader passes."""
        return [entry for entry in self.ledger if entry.standing == "counts" and not entry.failure]

    @property
    def failed(self) -> list[LedgerEntry]:
        """The tests that count and that the leader does not pass."""
        return [entry for entry in self.ledger if entry.failure]

    @property
    def unsettled(self) -> list[LedgerEntry]:
        """The contested tests that rule out a success: not those with split votes or that most drafts fail, unless
        the spec's words support them."""
        return [entry for entry in self.contested if self._is_unsettled(entry)]

    def _is_unsettled(self, entry: LedgerEntry) -> bool:
        if self._is_spoken_for(entry):
            return True
        counted = self.tallies[entry.test.id]
        if counted is not None and counted.decision == "open":
            return False
        doubted = entry.votes_against >= 2 and 2 * entry.votes_against > len(self.agreement.voters)
        ended = self.outcome(entry).status == "failed" or self._raises_named(entry)
        return not (doubted and ended and claim_of(entry.test) is None)

    def _raises_named(self, entry: LedgerEntry) -> bool:
        """Return True if the leader ends the test of `entry` by an exception that the spec names. Where the test
        expects one, this is another step of it."""
        outcome = self.outcome(entry)
        return outcome.status == "error" and exception_of(outcome) in self.agreement.named

    @property
    def spoken_for(self) -> tuple[Test, ...]:
        """The tests that the leader fails and the spec's words support: of exceptions, and of arguments."""
        doubts = [each.test for each in self.contested if self._is_spoken_for(each)]
        return (*doubts, *(each.test for each in self.failed if each.test.id.startswith(SAID)))

    def _is_spoken_for(self, entry: LedgerEntry) -> bool:
        """Return True if a test expects an exception that the spec names and the leader raises none of these, or
        the leader raises another there."""
        names = used_by(entry.test).raises & self.agreement.named
        expected = bool(names) and not self._raises_named(entry)
        return expected or self.agreement.raises_unnamed(self.leader, entry.test)

    @property
    def unchecked(self) -> list[ClauseCheck]:
        """The clauses with a need that no test that counts meets."""
        return [check for check in self.clauses if check.missing]

    @property
    def worth_asking(self) -> bool:
        """True where tests of unchecked clauses are worth a request: by their needs, or since all drafts agree."""
        special = any(need.kind not in ("test", "bound") for check in self.unchecked for need in check.missing)
        return special or (bool(self.unchecked) and self.share == 1)

    @property
    def contested(self) -> list[LedgerEntry]:
        """The contested tests."""
        return [entry for entry in self.ledger if entry.standing == "contested"]

    @property
    def trusted(self) -> list[LedgerEntry]:
        """The tests of the user's."""
        return [entry for entry in self.ledger if entry.test.trusted]

    @property
    def broken(self) -> int:
        """Trusted tests that the leader fails, or that can't be run."""
        failed = sum(entry.test.trusted for entry in self.failed)
        return failed + sum(entry.standing == "refused" for entry in self.trusted)

    @property
    def agreeing(self) -> int:
        """Independent drafts, the leader included if it is one, that behave as it does on every test and probe."""
        return len(self.agreement.following(self.leader))

    @property
    def share(self) -> float:
        """Share of the voters that behave as the leader does; 0 without voters."""
        voters = self.agreement.voters
        return self.agreeing / len(voters) if voters else 0.0

    @property
    def own(self) -> list[LedgerEntry]:
        """The generated tests that a model wrote and that could be run."""
        return [each for each in self.ledger if _is_written(each.test) and each.standing != "refused"]

    @property
    def stood(self) -> list[LedgerEntry]:
        """Those of `own` that stand as they were written, and that the leader passes."""
        return [entry for entry in self.passed if _is_written(entry.test)]

    @property
    def unnamed(self) -> str:
        """A sentence on a probe for which the leader raises an exception that the spec does not name; else
        empty."""
        for probe in self.agreement.probes.tests:
            if raised := self.agreement.unnamed_on(self.leader, probe):
                return f"It raises {raised} for {probed_call(probe)}, an exception that the spec does not name."
        return ""

    @property
    def arguments(self) -> str:
        """A sentence on an argument that the leader changes or returns itself; empty without one."""
        for probe in (each for each in self.agreement.probes.tests if each.id.startswith((CHANGED, ITSELF))):
            claim, found = claim_of(probe), self.agreement.returned(self.leader, probe)
            if claim is None or found is None:
                continue
            argument, call = (step.partition(" = ")[2] or step for step in claim.setup)
            if probe.id.startswith(ITSELF) and found == "True":
                return f"It returns its argument itself, as in given = {argument}; {call} is given."
            if probe.id.startswith(CHANGED) and found != argument:
                return f"It changes its argument: after given = {argument}; {call} it is {found}."
        return ""

    def disputes(self, grade: Grade) -> tuple[Dispute, ...]:
        """Return the open questions, most informative first: contested tests that the spec's words support;
        without a success `_questions`; then the other contested tests."""
        named = [self._dispute(entry) for entry in self.contested if self._is_spoken_for(entry)]
        others = [self._dispute(entry) for entry in self.contested if not self._is_spoken_for(entry)]
        once: dict[str, Dispute] = {}
        for dispute in (*named, *(() if grade in SUCCESSES else self._questions()), *others):
            once.setdefault(dispute.question, dispute)
        return tuple(once.values())

    def _questions(self) -> list[Dispute]:
        """Return the best questions of each group. `which`: drafts differ, on a contested test, or on a probe
        among those that pass the leader's tests. `edges`: they agree on an input that a clause asks for, or raise
        what a clause names and no test has. `right`: they agree, the TestWriter or another candidate does not.
        Without such, of the `rest` the shortest."""
        mine = self.agreement.behaviour(self.leader)
        rivals = [c for c in self.agreement.voters if self.agreement.behaviour(c) == mine and c != self.leader]
        missing = [need for check in self.unchecked for need in check.missing]
        which, edges, right, rest = (list[tuple[float, Dispute]]() for _ in range(4))
        raising = {f"raises {need.value}": list[Dispute]() for need in missing if need.kind == "exception"}
        for probe in undecided(self.agreement.probes.tests, [entry.test for entry in self.passed]):
            call = probed_call(probe)
            if "\n" in call or probe.id.startswith(ITSELF):
                continue
            answers = [self._answer(candidate, probe) for candidate in (self.leader, *rivals)]
            is_odd = probe.id.startswith(ODD)
            returned = [each for each in answers if is_odd or not raises(each)]
            asked = Dispute(probe.id, call, tuple(sorted(dict.fromkeys(answers), key=raises)))
            if len(set(returned)) > 1:
                which.append((-_entropy(returned), asked))
            elif len(set(answers)) == 1 and answers[0] in raising:
                raising[answers[0]].append(asked)
            elif self.agreement.unnamed_on(self.leader, probe):
                edges.append((-1.0, asked))
            elif probe.id.startswith(CHANGED):
                continue  # drafts that treat arguments alike are no question
            elif is_odd:
                if answers[0].removeprefix("raises ") not in self.agreement.named:
                    edges.append((0.5, asked))
            elif probe.id.startswith(EDGE):
                edges.append((float(not returned), asked))
            elif others := {self._answer(c, probe) for c in self.agreement.board.candidates} - set(answers):
                right.append((-len(others), asked))
            else:
                rest.append((0.0, asked))
        edges += [(-0.25, min(found, key=lambda each: len(each.question))) for found in raising.values() if found]
        for entry in self.contested:
            claim, voters = claim_of(entry.test), self.agreement.voters
            if claim is None:  # a test of several checks, or of an exception
                voted = [str(self.agreement.passes(c, entry.test)) for c in voters]
            elif "\n" in claim.question:
                continue
            else:
                voted = [vote for c in voters if (vote := ballot(self.agreement, c, entry.test, claim))]
            if len(set(voted)) > 1:
                which.append((-_entropy(voted), self._dispute(entry)))
        for entry in self.ledger:
            counted, asked = self.tallies[entry.test.id], self._dispute(entry)
            by_votes = entry.standing == "ruled out" and counted is not None and not counted.trusted
            if by_votes and entry.test.origin == "generated" and "\n" not in asked.question:
                met = any(map(used_by(entry.test).meets, missing))
                (edges if met else right).append((-0.5, asked))
        best = [self._best(found) for found in (which, edges, right)]
        return [*best[0], *best[1], *(best[2] or self._best(rest)[:1])]

    def _best(self, weighed: Sequence[tuple[float, Dispute]]) -> list[Dispute]:
        """Return the SHOWN_DIFFERENCES questions of least weight, short ones first, and only one of those that
        differ in numbers alone."""
        first: dict[str, Dispute] = {}
        for _, each in sorted(weighed, key=lambda item: (item[0], len(item[1].question))):
            if not self._is_invented(each):
                first.setdefault(_NUMBER.sub("0", f"{each.question} {each.answers}"), each)
        return list(first.values())[:SHOWN_DIFFERENCES]

    def _is_invented(self, asked: Dispute) -> bool:
        """Return True for a question about an attribute that a draft lacks and no clause names."""
        names = _ATTRIBUTE.findall(asked.question)
        lacking = "raises AttributeError" in asked.answers and bool(names) and bool(self.clauses)
        return lacking and not any(re.search(rf"\b{names[-1]}\b", check.text) for check in self.clauses)

    def _answer(self, candidate: Candidate, probe: Test) -> str:
        """Return the value that `candidate` returns for a probe, or `raises` and the exception."""
        value = self.agreement.returned(candidate, probe)
        if value is not None:
            return value
        outcome = self.agreement.probes.verdict(candidate.id).outcome(probe.id)
        return f"raises {exception_of(outcome) or 'an exception'}"

    def _dispute(self, entry: LedgerEntry) -> Dispute:
        claim, outcome = claim_of(entry.test), self.outcome(entry)
        if claim is None or "\n" in claim.question:
            return Dispute(entry.test.id, entry.test.source.strip(), (outcome.detail,))
        given = (ballot(self.agreement, each, entry.test, claim) for each in self.agreement.board.candidates)
        answers = dict.fromkeys([claim.expected, *filter(None, given)])
        return Dispute(entry.test.id, claim.question, tuple(sorted(answers, key=raises)))


def _is_written(test: Test) -> bool:
    return test.origin == "generated" and not test.id.startswith(RAISING)


def _entropy(answers: Sequence[str]) -> float:
    """Return the Shannon entropy of `answers` in bits: the information that the right one gives."""
    shares = [answers.count(each) / len(answers) for each in dict.fromkeys(answers)]
    return -sum(share * log2(share) for share in shares)
