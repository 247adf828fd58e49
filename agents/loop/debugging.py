"""The debugger's place in the loop: once a run, where nothing else is left to do about a failure."""

from __future__ import annotations

from ..debugger.debugger import Failing, trace_of_failure
from ..errors import ReplyError
from ..events import Note
from ..judge.judge import failures
from ..records import Board, Ruling
from .state import LoopState


def debug(state: LoopState, ruling: Ruling, board: Board) -> None:
    """Let the debugger look for a replacement of the leader. Without a usable one ask the Critic, who is told the
    trace of the failing call, and where that gives nothing new either, for one more draft."""
    debugger = state.roles.debugger
    assert debugger is not None
    state.debugged = True
    leader, failing = state.leader(ruling), failures(board, ruling)
    known = Failing(state.spec, board, leader, failing)
    try:
        found = debugger.replace(known, state.round + 1, state.emit)
    except ReplyError as reason:
        state.emit(Note(f"The debugger found no replacement: {reason}. The Critic is asked, with a trace."))
    else:
        state.propose(found, leader, failing)
        return
    trace = trace_of_failure(leader, failing, state.roles.verifier)
    if not state.repair(ruling, board, trace, known.attempts()):
        state.draft(1)
