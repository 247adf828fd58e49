"""Asks on the terminal for approvals."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import UsageError
from ..records.approvals import ANSWERS, Answer, Decision, Proposal
from ..run.approvals import NOBODY_APPROVES
from ..settings import in_ci
from ..syntax.clean_text import visible
from .asking import typed
from .console import Console

_MEANINGS: dict[Answer, str] = {
    "yes": "y yes",
    "no": "n no",
    "edit": "e edit",
    "note": "m refuse with a note",
    "always": "a yes, ask no more",
    "stop": "s stop",
}
"""Each begins with its key."""
_KEYS = {meaning[0]: answer for answer, meaning in _MEANINGS.items()}


def approver(console: Console, *, as_json: bool) -> TerminalApproval:
    """Return the person at the terminal. Raises UsageError where nobody can be asked."""
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()) or in_ci():
        raise UsageError(NOBODY_APPROVES)
    return TerminalApproval(console)


class TerminalApproval:
    """Shows a proposal on standard error and reads the answer from standard input; anything else asks again, and
    the end of the input stops."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, proposal: Proposal) -> Decision:
        """Ask until there is an answer that the proposal takes."""
        with self._console.paused():
            self._show(proposal)
            taken = ANSWERS[proposal.point]
            while True:
                line = typed(f"{', '.join(_MEANINGS[each] for each in taken)}: ")
                if line is None:
                    return Decision("stop")
                answer = _KEYS.get(line.lower())
                if answer not in taken or answer is None:
                    continue
                if answer == "edit" and (edited := self._edited(proposal)) is not None:
                    return Decision("edit", edited)
                if answer == "note" and (note := typed("Note to the Critic: ")) is not None:
                    return Decision("note", note)
                if answer not in ("edit", "note"):
                    return Decision(answer)

    def _show(self, proposal: Proposal) -> None:
        usage = proposal.usage
        say = self._console.say
        say(f"--- {proposal.title} ({usage.calls} calls, {usage.completion_tokens} tokens so far)")
        for fact in proposal.facts:
            say(visible(fact))
        say(visible(proposal.diff or proposal.text))
        if proposal.problem:
            say(visible(proposal.problem))

    def _edited(self, proposal: Proposal) -> str | None:
        """The text after the user's editor; None where there is no editor, or it failed."""
        from cyclopts import EditorError, edit

        with TemporaryDirectory() as folder:
            try:
                file = Path(folder, "user_code.py")
                return edit(proposal.text, path=file, fallback_editors=("vi", "nano"), save=False, required=False)
            except (EditorError, OSError, ValueError) as error:
                self._console.say(f"The editor failed ({error or 'there is none'}); set EDITOR.")
                return None
