"""Examples of a program: `$ python user_code.py 1 2` with its output below, or both in a sentence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ..records import PROGRAM_FILE
from .asked import FENCE, FENCED, Reading, is_asked

_COMMAND = re.compile(r"^(?P<indent>\s*)\$ (?P<command>\S.*)$")
_SAID = re.compile(
    r"`(?P<command>[^`\n]*\buser_code\.py[^`\n]*)` (?:prints|outputs|shows) "
    r"(?:`(?P<code>[^`\n]+)`|\"(?P<quoted>[^\"\n]+)\"|'(?P<text>[^'\n]+)'|(?P<number>-?\d++(?:\.\d++)?))(?=[.;,)]*+(?:$|(?<=[.;,)])\s))"
)
_PROGRAM = re.compile(r"(?i)\b(?:program|script|command[- ]line\s+(?:tool|utility|interface)|CLI)\b")
_OF_A_PROGRAM = re.compile(
    r"(?i)\b(?:standard\s+input|stdin|command[- ]line|arguments?|exit\s+(?:code|status)|CLI|python\s+\S+\.py)\b"
)
_READS = re.compile(r"(?i)\b(?:standard\s+input|stdin|command[- ]line\s+arguments?)\b")
_WRITES = re.compile(r"(?i)\b(?:prints?|standard\s+output|stdout)\b")
_CALLED = re.compile(r"(?i)\b(?:function|class|method)\b|\w\(")
_STATUS = "echo $?"
_SCRIPT = re.compile(r"\bpython3? ([\w-]++\.py)\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_BY_A_SHELL = re.compile(r"[$`*?~\\{}\[\]!#;&>()'\"]")
"""Characters with a meaning to a shell, outside of quotes."""


def asks_for_a_program(text: str) -> bool:
    """Return True if a spec asks for a program and names its input or exit code, or both and nothing callable."""
    prose = FENCED.sub("", text)
    if any(is_asked(prose, match.start()) for match in _PROGRAM.finditer(prose)) and _OF_A_PROGRAM.search(prose):
        return True
    return all(each.search(prose) for each in (_READS, _WRITES)) and not _CALLED.search(prose)


def shell_examples(lines: Sequence[str]) -> list[Reading]:
    """Return assertions on the output of runs of the program.

    Only commands that need no shell count: arguments in plain quotes, and standard input from `echo`, `printf` or
    `<<<`. `$ echo $?` below one shows its exit code.
    """
    found = []
    shown = list(_shown(named(lines)))
    for (command, output, line), after in zip_longest(shown, shown[1:], fillvalue=("", "", 0)):
        run = run_of(command)
        status = after[1] if after[0] == _STATUS else ""
        if run is None or "Traceback" in output or "..." in output or not (output or status):
            continue
        source = f"$ {command}\n{output}".strip()
        if not status.isdigit():
            found.append((f"{run}\nassert done.stdout.rstrip('\\n') == {output!r}", source, line))
            continue
        # A terminal shows both streams: an error may be on either.
        printed = "(done.stdout + done.stderr).rstrip('\\n')"
        check = f"assert (done.returncode, {printed}) == ({int(status)}, {output!r})"
        found.append((f"{run}\n{check}", f"{source}\n$ {_STATUS}\n{status}", line))
    return found


def named(lines: Sequence[str]) -> Sequence[str]:
    """Return `lines` with `user_code.py` in place of the spec's name for the program, if any."""
    text = "\n".join(lines)
    name, *others = {*_SCRIPT.findall(text)} or {""}
    is_one = name and not others and asks_for_a_program(text)
    return text.replace(name, PROGRAM_FILE).split("\n") if is_one else lines


def _shown(lines: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the commands in code blocks, each with the output below it and its line."""
    fenced, end = False, 0
    for start, line in enumerate(lines):
        if start < end:
            continue
        fenced ^= FENCE.match(line) is not None
        for said in _SAID.finditer(line):
            yield said["command"].strip().removeprefix("$ "), said[said.lastgroup or 0], start
        if match := _COMMAND.match(line):
            indent, output, end = match["indent"], list[str](), start + 1
            in_prose = not fenced and not indent.startswith(("    ", "\t"))
            while end < len(lines) and not _COMMAND.match(lines[end]) and not FENCE.match(lines[end]):
                if in_prose if not lines[end].strip() else not (fenced or lines[end].startswith(indent)):
                    break
                output.append(lines[end].removeprefix(indent).rstrip())
                end += 1
            # Output in prose is complete if only a command comes after it.
            if not in_prose or _COMMAND.match(next(filter(str.strip, lines[end:]), "$ ok")):
                yield match["command"].strip(), "\n".join(output).rstrip("\n"), start


def run_of(command: str, given: str = "") -> str | None:
    """Return the statement that runs `command`, with its own input or else `given`; None if it is no run."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|<")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return None
    before = ""
    if "|" in words:
        at = words.index("|")
        printed = _printed(words[:at])
        if printed is None:
            return None
        before, given, words = command[: command.rindex("|")], printed, words[at + 1 :]
    elif words[-2:-1] == ["<<<"]:
        given, words = f"{words[-1]}\n", words[:-2]
    plain = command.removeprefix(before).replace("<<<", "")
    runs = words[:1] in (["python"], ["python3"]) and words[1:2] == [PROGRAM_FILE]
    if not runs or {"|", "<", "<<"} & {*words} or _BY_A_SHELL.search(_QUOTED.sub("", plain)):
        return None
    arguments = ", ".join(["sys.executable", repr(PROGRAM_FILE), *map(repr, words[2:])])
    stdin = f"input={given!r}, " if given else ""
    return f"done = subprocess.run([{arguments}], {stdin}capture_output=True, text=True)"


def _printed(words: Sequence[str]) -> str | None:
    """Return the text that `echo` or `printf` prints; None for other commands, formats and options."""
    match words:
        case ["echo", *rest] if not any(word.startswith("-") or "\\" in word for word in rest):
            return " ".join(rest) + "\n"
        case ["printf", text] if "%" not in text:
            text = text.replace(r"\n", "\n").replace(r"\t", "\t")
            return None if "\\" in text else text
    return None
