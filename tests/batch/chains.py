"""Specs that build on each other, `link_1` on `link_0` and so on, and a provider on loopback that writes them."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from ..support.provider import Answer, Handler, Streams

OPTIONS = ("--model", "openai/embedded", "--strategy", "single", "--no-mutation")


def write_chain(directory: Path, count: int) -> Path:
    """A folder of specs, each of which needs the one before; the last comes first in the folder."""
    folder = directory / "specs"
    folder.mkdir(exist_ok=True)
    for number in range(count):
        needs = f"with: [link-{number - 1}]\n" if number else ""
        text = (
            f"---\nid: link-{number}\n{needs}---\nImplement link_{number}(x: int) -> int that adds {number}.\n\n"
            f"link_{number}(1) == {number + 1}\n"
        )
        (folder / f"{count - number}.md").write_text(text)
    return folder


class ChainWriter:
    """Answers each request with a function that calls the one before; numbers in `wrong` with one that fails.

    `asked` has the numbers in the order of the requests, `texts` their prompts."""

    def __init__(self, pause: float = 0.0) -> None:
        self.asked: list[int] = []
        self.texts: list[str] = []
        self.wrong: set[int] = set()
        self._pause = pause
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> None:
        """Answer one request."""
        self._answer(str(handler.body["messages"]))(handler)

    def _answer(self, text: str) -> Answer:
        match = re.search(r"Implement link_(\d+)", text)
        assert match is not None
        number = int(match[1])
        with self._lock:
            self.asked.append(number)
            self.texts.append(text)
        return Streams([f"```python\n{code(number, wrong=number in self.wrong)}```\n"], pause=self._pause)


def code(number: int, *, wrong: bool = False) -> str:
    """The module of `link_<number>`."""
    before = number - 1
    head = f"from link_{before} import link_{before}\n\n\n" if number else ""
    value = "None" if wrong else f"link_{before}(x) + 1" if number else "x"
    return f"{head}def link_{number}(x: int) -> int:\n    return {value}\n"
