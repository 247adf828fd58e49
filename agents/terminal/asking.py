"""Questions on the terminal: the open questions of a run, and approvals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import UsageError
from ..records import Dispute, RunResult, Spec, Test
from ..records.approvals import ANSWERS, Answer, Approve, Decision, Proposal
from ..run.approvals import NOBODY_APPROVES
from ..settings import in_ci
from ..spec.answers import answered
from ..storage.questions import answer_lines, asked_call, question_line, said_of, value_line
from ..storage.run_directory import RunDirectory
from ..syntax.clean_text import visible
from .console import Console

_LETTERS = "abcefghijk"
"""Keys for rival answers; other letters have fixed meanings."""
_WORDS = {"yes": "y", "no": "n", "skip": "s", "wrong": "w", "doesn't care": "d", "any": "d"}
_MEANT = {"y": "yes", "n": "no", "d": "the spec doesn't care", "w": "the test is wrong", "s": "skip"}
_ORIGIN = "Your answer"


class Asking:
    """Asks at most `most` questions in all, on standard error, and reads the answers from standard input."""

    def __init__(self, console: Console, most: int) -> None:
        self._console = console
        self._left = most if sys.stdin.isatty() and sys.stdout.isatty() and not in_ci() else 0
        self._asked: set[str] = set()

    def next_of(self, result: RunResult) -> list[Dispute]:
        """Return the questions of `result` to ask next, without those asked before."""
        new = [dispute for dispute in result.disputes if dispute.question not in self._asked]
        return new[: self._left] if result.run_dir is not None and result.error is None else []

    def answers(self, disputes: Sequence[Dispute], run: RunDirectory) -> Spec | None:
        """Ask `disputes` of `run`. Return its spec with the answers; None where there are none, or at Ctrl-C."""
        spec, tests = run.read().spec, run.tests_of_ledger()
        self._left -= len(disputes)
        self._asked |= {dispute.question for dispute in disputes}
        lines: list[str] = []
        try:
            for number, dispute in enumerate(disputes, 1):
                self._console.say(f"\nQuestion {number} of {len(disputes)}: {visible(question_line(dispute))}")
                if (line := self._ask(dispute, spec, tests, lines)) is None:
                    break
                lines += [line] if line else []
        except KeyboardInterrupt:
            self._console.say(f"\nNot answered. Go on with: --resume {run.word}")
            return None
        return answered(spec, "\n".join(lines), _ORIGIN, under_way=True, tests=tests) if lines else None

    def _ask(self, dispute: Dispute, spec: Spec, tests: Sequence[Test], given: Sequence[str]) -> str | None:
        """Return the line that answers `dispute`, empty where it is skipped, None at the end of the input. Report
        an invalid answer, or one that contradicts the spec, and ask once more."""
        keys = _keys(dispute, answer_lines(dispute, spec, tests))
        if asked_call(dispute) is None:
            self._console.say(visible(dispute.question))
        meanings = [f"{key} {_MEANT.get(key) or visible(line)}" for key, line in keys.items()]
        own = [", or the right value"] if asked_call(dispute) else []
        for last in (False, True):
            said = typed(f"{', '.join(meanings)}{''.join(own)}: ")
            if said is None:
                return None
            try:
                line = keys.get(_WORDS.get(said.lower(), said.lower()))
                line = value_line(dispute, said) if line is None else line
                if line:
                    answered(spec, "\n".join([*given, line]), _ORIGIN, under_way=True, tests=tests)
                return line
            except UsageError as error:
                reason = str(error).removeprefix(f"{_ORIGIN}, line {len(given) + 1}: ")
                self._console.say(visible(f"{reason}{' Skipped.' if last else ''}"))
        return ""


def typed(prompt: str) -> str | None:
    """Ask on standard error, and return the line that is typed; None at the end of the input."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"  # no answer
    return line.strip() if line else None


def _keys(dispute: Dispute, lines: Sequence[str]) -> dict[str, str]:
    """Return the keys that answer `dispute`, each with the line that it stands for; an empty line skips."""
    stated = [line for line in lines if not line.startswith(("any: ", "wrong: "))]
    call = asked_call(dispute)
    keys = dict(zip(_LETTERS, stated, strict=False)) if len(dispute.answers) > 1 and call else {}
    if not keys and stated:
        keys = dict(zip("yn", stated, strict=False))
        negated = said_of(dispute.answers[0], negated=True)
        if len(stated) == 1 and negated:
            keys["n"] = f"{call} {negated}"
    ruled = {line[0]: line for line in lines if line not in stated}
    return keys | {key: ruled[first] for key, first in (("d", "a"), ("w", "w")) if first in ruled} | {"s": ""}


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


def approver(console: Console, *, as_json: bool) -> Approve:
    """Return a function that asks on the terminal. Raises UsageError where there is none."""
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()) or in_ci():
        raise UsageError(NOBODY_APPROVES)
    return partial(_decided, console)


def _decided(console: Console, proposal: Proposal) -> Decision:
    """Ask until there is a valid answer; the end of the input is `stop`."""
    usage, taken = proposal.usage, ANSWERS[proposal.point]
    with console.paused():
        console.say(f"--- {proposal.title} ({usage.calls} calls, {usage.completion_tokens} tokens so far)")
        for shown in (*proposal.facts, proposal.diff or proposal.text, *filter(None, [proposal.problem])):
            console.say(visible(shown))
        while True:
            if (line := typed(f"{', '.join(_MEANINGS[each] for each in taken)}: ")) is None:
                return Decision("stop")
            answer = _KEYS.get(line.lower())
            if answer not in taken or answer is None:
                continue
            if answer == "edit" and (edited := _edited(console, proposal)) is not None:
                return Decision("edit", edited)
            if answer == "note" and (note := typed("Note to the Critic: ")) is not None:
                return Decision("note", note)
            if answer not in ("edit", "note"):
                return Decision(answer)


def _edited(console: Console, proposal: Proposal) -> str | None:
    """Return the text after the user's editor; None where there is no editor, or it failed."""
    from cyclopts import EditorError, edit

    with TemporaryDirectory() as folder:
        try:
            file = Path(folder, "user_code.py")
            return edit(proposal.text, path=file, fallback_editors=("vi", "nano"), save=False, required=False)
        except (EditorError, OSError, ValueError) as error:
            console.say(f"The editor failed ({error or 'there is none'}); set EDITOR.")
            return None
