"""Specs of little functions, and a provider on loopback that writes them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..support.provider import Answer, Handler, Provider, Streams, serving

OPTIONS = ("--model", "openai/embedded", "--strategy", "single", "--no-mutation")
KEY = {"OPENAI_API_KEY": "k"}


def write_specs(directory: Path, count: int) -> Path:
    """A folder of specs of `add_0`, `add_1`, ..., each with an example that decides."""
    folder = directory / "specs"
    folder.mkdir(exist_ok=True)
    for number in range(count):
        text = (
            f"---\nid: add-{number}\n---\nImplement add_{number}(x: int) -> int that adds {number}.\n\n"
            f"add_{number}(1) == {number + 1}\n"
        )
        (folder / f"add-{number}.md").write_text(text)
    return folder


class Writer:
    """Answers each request with the function that it asks for, not before `until` is set.

    `asked` counts the requests for each function."""

    def __init__(self, until: threading.Event | None = None, pause: float = 0.0) -> None:
        self.asked: dict[int, int] = {}
        self._until = until
        self._pause = pause
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> None:
        """Answer one request."""
        self._answer(str(handler.body["messages"]))(handler)

    def _answer(self, text: str) -> Answer:
        match = re.search(r"add_(\d+)", text)
        assert match is not None
        number = int(match[1])
        with self._lock:
            self.asked[number] = self.asked.get(number, 0) + 1
        if self._until is not None:
            self._until.wait(600)
        code = f"```python\ndef add_{number}(x: int) -> int:\n    return x + {number}\n```\n"
        return Streams([code], pause=self._pause)


@contextmanager
def writing(writer: Writer) -> Iterator[Provider]:
    """A provider on loopback for which `writer` answers."""
    with serving() as provider:
        provider.script(writer)
        yield provider
