"""Runs one call of a module under `sys.settrace`, in a sandbox: `under_trace.py MARK`.

It needs user_code.py and call.txt (an expression with the module's names, after any statements) beside it. The
last line on standard output that begins with MARK is its finding, as JSON, which the code may forge.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import traceback
from pathlib import Path
from types import CodeType

HERE = Path(__file__).parent
CODE = str(HERE / "user_code.py")
MOST_EVENTS = 20000
LONGEST_VALUE = 100
KEPT = 20
"""Lines kept of the beginning, and of the end."""


def shown(value: object) -> str:
    """Return a value's repr, cut; a repr that raises is no error of the call."""
    try:
        text = repr(value)
    except BaseException as error:
        text = f"<repr raised {type(error).__name__}>"
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


class Tracer:
    """Notes each line that is run in user_code.py, with the names that it changed."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.events = 0
        self.left_out = 0
        self._pending: dict[int, tuple[int, dict[str, str]]] = {}

    def __call__(self, frame, event, argument):  # type: ignore[no-untyped-def]
        """Trace frames of the module alone."""
        if frame.f_code.co_filename != CODE:
            return None
        self.events += 1
        if self.events > MOST_EVENTS:
            sys.settrace(None)
            return None
        values = {name: shown(value) for name, value in list(frame.f_locals.items())[:30]}
        number, before = self._pending.pop(id(frame), (0, {}))
        if number:
            changed = [f"{name}={value}" for name, value in values.items() if before.get(name) != value]
            self._add(number, " ".join(changed))
        elif event == "call":
            given = ", ".join(f"{name}={value}" for name, value in values.items())
            self._add(frame.f_lineno, f"call {frame.f_code.co_name}({given})")
        if event == "line":
            self._pending[id(frame)] = (frame.f_lineno, values)
        elif event == "return":
            self._add(frame.f_lineno, f"return {shown(argument)}")
        elif event == "exception":
            self._add(frame.f_lineno, f"raises {argument[0].__name__}: {shown(argument[1])}")
        return self

    def _add(self, number: int, text: str) -> None:
        self.lines.append((number, text))
        if len(self.lines) > 4 * KEPT:  # only the beginning and the end are reported
            self.left_out += 2 * KEPT
            del self.lines[KEPT : 3 * KEPT]


def prepared(text: str, names: dict[str, object]) -> CodeType:
    """Execute all statements but the last, and compile that. Raises SyntaxError and what the statements raise."""
    tree = ast.parse(text, "<call>")
    last = tree.body.pop() if tree.body else None
    if not isinstance(last, ast.Expr):
        raise SyntaxError("a call, such as f(1), is wanted")
    exec(compile(tree, "<call>", "exec"), names)  # noqa: S102 - in the sandbox
    return compile(ast.Expression(last.value), "<call>", "eval")


def main(mark: str) -> None:
    """Make the call, and write its lines and how it ended."""
    out = os.dup(1)
    sys.path.insert(0, str(HERE))
    import user_code  # type: ignore[import-not-found]

    tracer = Tracer()
    names = {**vars(user_code), "user_code": user_code}
    try:
        call = prepared((HERE / "call.txt").read_text(encoding="utf-8"), names)
        sys.settrace(tracer)
        ended = f"It returns {shown(eval(call, names))}."
    except BaseException as error:
        ended = "It raises " + shown("".join(traceback.format_exception_only(type(error), error)).strip()) + "."
    finally:
        sys.settrace(None)
    cut = tracer.events > MOST_EVENTS
    finding = {"lines": tracer.lines, "left_out": tracer.left_out, "cut": cut, "ended": ended}
    os.write(out, f"\n{mark}{json.dumps(finding)}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1])
