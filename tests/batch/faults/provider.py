"""A provider on loopback that writes right code and fails in every way a provider can: a process of its own.

`python -m tests.batch.faults.provider LOG --rate R --seed S --pause P` prints its port, logs each request as a
line of JSON, and ends when its standard input does. What it answers, and how it fails before that, follows from
the request's content and the seed alone, so neither order nor number of threads makes a difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...support.commands import ROOT
from ...support.provider import Answer, Fails, Handler, Provider, SendsEvents, Streams, chunk
from .specs import KINDS, Task

PIECES = 4
_NAME = re.compile(rf"\b(?:{'|'.join(KINDS)})_(\d{{3}})\b")


def reply_to(body: Mapping[str, Any]) -> tuple[Task, str, str]:
    """The task that a request is about, what is wanted for it, and the model's words."""
    prompt = "\n".join(message["content"] for message in body["messages"])
    found = _NAME.search(prompt)
    assert found is not None, prompt
    task = Task(int(found[1]))
    if "Write pytest tests for this spec" in prompt:
        wanted, text = "tests", task.tests()
    elif "# Failing tests" in prompt:
        wanted, text = "replacement", task.right
    else:
        wanted, text = "draft", task.draft(int(body["seed"]))
    return task, wanted, f"```python\n{text}```\n"


# --- faults ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SendsText:
    """Answers 200 with a body that is no stream of events."""

    text: str
    content_type: str

    def __call__(self, handler: Handler) -> None:
        handler.send_text(200, self.text, self.content_type)


class Cuts:
    """Drops the connection before there is any answer."""

    def __call__(self, handler: Handler) -> None:
        handler.cut()


Fault = Callable[[str], Answer]
"""Takes the right words and gives an answer that is not them."""
FAULTS: dict[str, Fault] = {
    "429": lambda text: Fails(429, "Too many requests."),
    "429 with a time": lambda text: Fails(429, "Too many requests.", headers={"Retry-After": "1"}),
    "500": lambda text: Fails(500, "Something broke."),
    "503": lambda text: Fails(503, "Try later."),
    "503 with a time": lambda text: Fails(503, "Try later.", headers={"Retry-After": "1"}),
    "cut before the head": lambda text: Cuts(),
    "cut in the stream": lambda text: Streams(pieces(text)[:2], cut=True),
    "ended without a finish": lambda text: Streams(pieces(text)[:2], finish=None, usage=None, done=False),
    "empty": lambda text: Streams([]),
    "no events": lambda text: SendsText("\x00\x07 these are no events \x7f\n" * 5, "text/event-stream"),
    "broken JSON": lambda text: SendsEvents([chunk({"role": "assistant", "content": "```py"})[:-9]]),
    "broken JSON in the stream": lambda text: SendsEvents(
        [chunk({"role": "assistant", "content": text[:20]}), chunk({"content": text[20:40]})[:-7]]
    ),
    "HTML": lambda text: SendsText("<html><body><h1>Welcome to the proxy</h1></body></html>", "text/html"),
}
ONCE_MORE = ("429", "429 with a time", "500", "503", "503 with a time")
"""Faults of which a request may meet two in a row; a client need not try others so often."""


def faults_of(key: str, seed: int, rate: float) -> list[str]:
    """The faults that the request `key` meets before it is answered: at most two."""
    chance = random.Random(f"{seed}:{key}")
    if chance.random() >= rate:
        return []
    first = chance.choice(list(FAULTS))
    return [first, chance.choice(ONCE_MORE)] if first in ONCE_MORE and chance.random() < 0.2 else [first]


def pieces(text: str) -> list[str]:
    size = -(-len(text) // PIECES)
    return [text[at : at + size] for at in range(0, len(text), size)]


class Player:
    """Answers requests by their content, after the faults that each has to meet; `pause` is the longest pause
    between the pieces of one."""

    def __init__(self, log: Path, *, seed: int = 0, rate: float = 0.0, pause: float = 0.0) -> None:
        self._log = log.open("a", buffering=1)
        self._seed = seed
        self._rate = rate
        self._pause = pause
        self._met: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> None:
        """Answer one request."""
        body = handler.body
        task, wanted, text = reply_to(body)
        key = hashlib.sha256(json.dumps([body["messages"], body["seed"]]).encode()).hexdigest()[:16]
        faults = faults_of(key, self._seed, self._rate)
        with self._lock:
            met = self._met[key]
            self._met[key] += 1
        fault = faults[met] if met < len(faults) else None
        about = {"task": task.name, "wanted": wanted, "key": key, "fault": fault}
        self._write(event="asked", **about)
        if fault is not None:
            FAULTS[fault](text)(handler)
            return
        Streams(pieces(text), usage=(100, len(text) // 4, 0), pause=self._pause_of(key))(handler)
        self._write(event="answered", **about)

    def _pause_of(self, key: str) -> float:
        return random.Random(f"pause:{self._seed}:{key}").uniform(self._pause / 20, self._pause)

    def _write(self, **event: object) -> None:
        with self._lock:
            self._log.write(json.dumps(event) + "\n")


# --- the process -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    """One line of the log."""

    event: str
    task: str
    wanted: str
    key: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class Served:
    """The provider's process as a test sees it."""

    api_base: str
    log: Path

    def seen(self) -> list[Seen]:
        """Everything logged so far, in order."""
        if not self.log.exists():
            return []
        text = self.log.read_text()
        return [Seen(**json.loads(line)) for line in text[: text.rfind("\n") + 1].splitlines()]

    def asked(self) -> list[Seen]:
        return [seen for seen in self.seen() if seen.event == "asked"]

    def answered(self) -> list[Seen]:
        """The requests that got the right words, whole."""
        return [seen for seen in self.seen() if seen.event == "answered"]


@contextmanager
def provider_process(log: Path, *, seed: int = 0, rate: float = 0.0, pause: float = 0.0) -> Iterator[Served]:
    """The provider in a process of its own, which ends with the body, and with this process."""
    options = ("--seed", str(seed), "--rate", str(rate), "--pause", str(pause))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.batch.faults.provider", str(log), *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            yield Served(f"http://127.0.0.1:{port}/v1", log)
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    provider = Provider({})
    provider.script(Player(options.log, seed=options.seed, rate=options.rate, pause=options.pause))
    threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    sys.stdout.write(f"{provider.server_address[1]}\n")
    sys.stdout.flush()
    while sys.stdin.read(1):
        time.sleep(0.1)


if __name__ == "__main__":
    main()
