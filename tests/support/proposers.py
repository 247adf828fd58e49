"""Models for `repair(proposer=...)` that answer from a list."""

from __future__ import annotations

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
    """A reply, and two other programs that do the same."""
    head, colon, body = reply.partition(":\n")
    if not colon:
        return reply, f"{reply}unused = 1\n", f"{reply}unused = 1, 2\n"
    first, second = (f"{head}:\n    unused = {value}\n{body}" for value in ("1", "1, 2"))
    return reply, first, second
