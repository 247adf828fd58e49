"""The judge: runs pytest on the tests and reports over a private channel. It never runs the code under test
itself, unless it is told that the tests at hand need one process."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .caller import Caller
from .frames import HELLO, RECORD, STORAGE, FrameSocket
from .remote_module import RemoteModule
from .reporter import Reporter
from .stubs import stub_modules

_WITHOUT = (
    "cacheprovider", "terminal", "doctest", "junitxml", "pastebin", "stepwise", "setuponly", "setupplan",
    "faulthandler", "unraisableexception", "threadexception", "warnings", "legacypath",
)  # fmt: skip
_COLLECT_EVERY = 20_000
"""Objects between collections of garbage: a run is short."""


class Records:
    """Sends numbered records that carry the nonce of this run."""

    def __init__(self, channel: FrameSocket, nonce: str) -> None:
        self._channel = channel
        self._nonce = nonce
        self._count = 0

    def tell(self, record: Mapping[str, Any]) -> None:
        """Send one record."""
        self._count += 1
        stamped = {"nonce": self._nonce, "n": self._count, **record}
        self._channel.send(RECORD, json.dumps(stamped).encode())


def main(descriptor: int) -> None:
    """Read the task from the channel, run pytest on it, end with a record."""
    channel = FrameSocket(descriptor)
    channel.send(HELLO, b"")
    _, payload = channel.receive()
    task = json.loads(payload)
    records = Records(channel, task["nonce"])
    source = Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(source))
    sys.dont_write_bytecode = True
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)
    reporter = Reporter(records.tell, task["tests_file"], task["wanted"])
    if task["properties"]:
        from . import properties  # hypothesis takes 0.2 s that other suites need not pay

        properties.prepare(source / STORAGE)
        reporter.properties = properties
    plugins = [reporter, *_choose_modules(task, channel, records, reporter)]
    code = pytest.main(_arguments(source, task["files"]), plugins=plugins)
    records.tell({"is": "end", "exit": int(code)})
    os._exit(0)


def _choose_modules(
    task: Mapping[str, Any], channel: FrameSocket, records: Records, reporter: Reporter
) -> list[object]:
    """Which `user_code` each file of tests sees: a stub, the one in the code's process, or the real one in this.
    Plugins that this takes."""
    if task["stub_files"]:
        for name, module in zip(task["stub_files"], stub_modules(task["names"]), strict=True):
            reporter.modules[name] = module
        reporter.stub_files = frozenset(task["stub_files"])
    if not task["isolated"]:
        return []
    caller = Caller(
        channel,
        frozenset([Path(task["tests_file"]).stem]),
        lambda kind, text: records.tell({"is": kind, "text": text[:500]}),
        lambda stream, text: print(text, end="", file=sys.stderr if stream == 2 else sys.stdout),
        frozenset(task["expected"]),
    )
    reporter.modules[task["tests_file"]] = RemoteModule(caller, task["names"])
    return [caller.capabilities]


def _arguments(source: Path, files: list[str]) -> list[str]:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    arguments = ["-c", os.devnull, "--rootdir", str(source), "--noconftest", "--import-mode=importlib"]
    arguments += ["--continue-on-collection-errors"]
    for name in _WITHOUT:
        arguments += ["-p", f"no:{name}"]
    return arguments + [str(source / name) for name in files]
