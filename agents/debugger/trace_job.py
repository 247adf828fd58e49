"""Traces one call of a module, line by line, in a sandbox.

The module runs in one process with what watches it, so it could forge the trace: it is shown to a repair, and
nothing is decided by it.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..sandbox import Job, Sandbox, SandboxLimits
from ..syntax.clean_text import visible

_PROGRAM = Path(__file__).parent / "inside" / "under_trace.py"
_SECONDS = 5.0
_KEPT = 20
_LONGEST_LINE = 200
NO_FILES: Mapping[str, bytes] = {}


def trace(
    code: str, call: str, sandbox: Sandbox, beside: Mapping[str, bytes] = NO_FILES, seconds: float = _SECONDS
) -> str:
    """Return the trace of `call` (an expression, statements before it) in `code` as text: at most 40 lines and how
    the call ended. `beside` are files to import. Raises SandboxBroken."""
    mark = secrets.token_hex(8)
    files = {
        **beside,
        "under_trace.py": _PROGRAM.read_bytes(),
        "user_code.py": code.encode("utf-8", "surrogatepass"),
        "call.txt": call.encode("utf-8", "surrogatepass"),
    }
    limits = SandboxLimits(wall_seconds=seconds, cpu_seconds=math.ceil(seconds))
    with sandbox.launch(Job(["-I", "-B", "/src/under_trace.py", mark], files, limits)) as running:
        ended = running.wait()
    if ended.stopped is not None:
        return f"The call did not come to its end ({ended.stopped})."
    marked = [line for line in ended.stdout.split(b"\n") if line.startswith(mark.encode())]
    try:
        finding = json.loads(marked[-1].removeprefix(mark.encode()))
        lines = [(int(number), str(text)) for number, text in finding["lines"]]
        left_out, cut, end = int(finding["left_out"]), finding["cut"] is True, str(finding["ended"])
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        return "The call left no trace: its process ended, or the module can't be imported."
    shown = [*_told(lines, left_out), *(["(what follows was not traced)"] if cut else []), end]
    return "\n".join(visible(line[:_LONGEST_LINE]) for line in shown)


def _told(lines: list[tuple[int, str]], left_out: int) -> list[str]:
    """The lines, repeated ones as one, the middle left out."""
    folded = list(_folded(lines))
    if len(folded) <= 2 * _KEPT and not left_out:
        return folded
    first, last = folded[:_KEPT], folded[-_KEPT:] if len(folded) >= 2 * _KEPT else folded[_KEPT:]
    count = len(folded) - len(first) - len(last) + left_out
    return [*first, f"… {count} lines …", *last]


def _folded(lines: list[tuple[int, str]]) -> Iterator[str]:
    """The lines as `12: low=0 mid=2`; a block of lines (at most eight) that comes again and again with the same
    values is told once, with its count."""
    told = [f"{number}: {text}".rstrip() for number, text in lines]
    place = 0
    while place < len(told):
        length, times = _repeats(told, place)
        yield from told[place : place + length]
        if times > 1:
            yield f"(these {length} lines {times} times)"
        place += length * times


def _repeats(told: list[str], place: int) -> tuple[int, int]:
    """The length of the block at `place` that is repeated most often, and how often; (1, 1) without one."""
    best = (1, 1)
    for length in range(1, 9):
        block = told[place : place + length]
        times = 1
        while told[place + times * length : place + (times + 1) * length] == block and len(block) == length:
            times += 1
        if times > 1 and times * length > best[0] * best[1]:
            best = (length, times)
    return best
