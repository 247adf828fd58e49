"""Models for `repair(proposer=...)` that answer from a list."""

from __future__ import annotations

import ast
import threading
import time


class Replies:
    """Gives `replies` in order, the last one again and again, each after `seconds`; `prompts` are kept."""

    def __init__(self, *replies: str, seconds: float = 0.0) -> None:
        self._replies = [f"```python\n{reply}\n```" for reply in replies]
        self._seconds = seconds
        self._lock = threading.Lock()
        self.prompts: list[str] = []

    def propose(self, system: str, user: str) -> str:
        with self._lock:
            self.prompts.append(user)
            number = len(self.prompts)
        time.sleep(self._seconds)
        return self._replies[min(number, len(self._replies)) - 1]


def three(reply: str) -> tuple[str, str, str]:
    """A reply, and two other programs that do the same: by a loop of one turn, and with a step at the end."""
    return (
        reply,
        _around(reply, "for _ in range(1):\n    ..."),
        _around(reply, "try:\n    ...\nfinally:\n    str()"),
    )


def _around(reply: str, block: str) -> str:
    """A reply with its first function, or all of it where it has none, in the first body of a block."""
    tree, (outer,) = ast.parse(reply), ast.parse(block).body
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    scope = next(functions, tree)
    assert isinstance(outer, ast.For | ast.Try)
    outer.body, scope.body = scope.body, [outer]
    return f"{ast.unparse(tree)}\n"
