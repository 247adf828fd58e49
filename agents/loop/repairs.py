"""Replacements of a failing leader: one, or for large models several at once; the next board decides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..debugger.debugger import Failing, trace_of_failure
from ..errors import ReplyError
from ..events import Note
from ..judge.judge import failures
from ..records import Board, Candidate, Ruling
from ..roles.ask import ask_all
from ..syntax.source import program
from .state import LoopState


def known_failure(state: LoopState, ruling: Ruling, board: Board) -> Failing:
    """Return what is known of the leader's failure."""
    return Failing(state.spec, board, state.leader(ruling), failures(board, ruling))


def repair_side_by_side(state: LoopState, ruling: Ruling, board: Board) -> None:
    """Ask at once for a replacement told the failing facts, one told the trace of the failing call too, and one
    more draft. Both replacements are told what the earlier candidates failed with."""
    known = known_failure(state, ruling, board)
    trace = trace_of_failure(known.leader, known.failing, state.roles.verifier)
    repair(state, known, tuple(dict.fromkeys(("", trace))), known.attempts(), drafts=1)


def repair(
    state: LoopState, known: Failing, traces: Sequence[str] = ("",), attempts: Sequence[str] = (), drafts: int = 0
) -> bool:
    """Ask the Critic at once for a replacement of the leader for each of `traces` of its failing call, told what
    other `attempts` failed with, and for more `drafts`. Return True if there is a new replacement."""
    state.repaired.add(known.leader.id)
    earlier, note = state.programs(), ""
    made: dict[str, Candidate] = {}

    def ask(trace: str) -> None:
        told = (known.spec, known.leader, known.failing, state.round + 1, earlier, note, trace, attempts)
        try:
            made[trace] = state.roles.critic.replace(*told)
        except ReplyError as reason:
            state.emit(Note(f"The Critic's replacement can't be used: {reason}."))

    while True:
        note, state.approvals.note = state.approvals.note, ""
        made.clear()
        try:
            asks = [*(partial(ask, trace) for trace in traces), *[partial(state.draft, 1)] * drafts]
            ask_all(asks, state.roles.at_once)
        finally:
            # In the order of `traces`, whichever came first: a resumed run finds the same candidates.
            new = {program(made[trace].code): made[trace] for trace in traces if trace in made}
            for replacement in new.values():
                state.propose(replacement, known.leader, known.failing)
        if not state.approvals.note:
            return bool(new)
        earlier |= new.keys()
        drafts = 0
