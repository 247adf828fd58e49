"""The test process: runs pytest on the tests and reports over a private channel. It never runs the code under test
itself, unless the task says that the tests need one process."""

from __future__ import annotations

import ast
import gc
import json
import os
import random
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial, reduce
from pathlib import Path
from typing import Any, cast

import pytest

from ..proxy.frames import HELLO, RECORD, STORAGE, FrameSocket
from ..proxy.import_rule import ImportRule
from ..proxy.mirror import RemoteType
from ..proxy.peer import USER_MODULE
from ..proxy.program import divert, run_program
from .asserts import Asserts
from .caller import Caller
from .measuring import CrossingAnswers, Measuring
from .other_answers import ABSENT
from .remote_module import remote_modules
from .reporter import Reporter
from .run_texts import restrict_eval, restrict_type_texts
from .surroundings import PLACE, is_shared

_WITHOUT = (
    "cacheprovider", "terminal", "doctest", "junitxml", "pastebin", "stepwise", "setuponly", "setupplan",
    "faulthandler", "unraisableexception", "threadexception", "warnings", "legacypath",
)  # fmt: skip
_TOOLS = (
    "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "hypothesis",
    "sortedcontainers", "anyio", "sniffio", "idna", "pytest_asyncio", "typing_extensions",
)  # fmt: skip
"""Packages of the test runner, some of which are imported late."""
_COLLECT_EVERY = 20_000
"""Threshold of the garbage collector: a run is short."""


class Records:
    """Sends numbered records with the nonce of the run."""

    def __init__(self, channel: FrameSocket, nonce: str) -> None:
        self._channel = channel
        self._nonce = nonce
        self._count = 0
        self.muted = False

    def emit(self, record: Mapping[str, Any]) -> None:
        """Send one record."""
        if self.muted:
            return
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
    source = Path(sys.path[0])  # this module may come from a warm worker, the tests never do
    sys.dont_write_bytecode = True
    _seed_entropy()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)
    reporter = Reporter(records.emit, task["tests_file"], task["wanted"])
    if task["properties"]:
        from . import properties  # hypothesis takes 0.2 s that other suites need not pay

        properties.prepare(source / STORAGE)
        reporter.properties = properties
    plugins = [reporter, *_choose_modules(task, channel, records, reporter)]
    try:
        code = pytest.main(_arguments(source, task), plugins=plugins)
    finally:
        if records.muted:  # this is the process of a pass, which something kept from its tests
            os._exit(0)
    _measure(reporter, records, task["tests_file"])
    records.emit({"is": "end", "exit": int(code)})
    os._exit(0)


def _seed_entropy() -> None:
    """Replace the sources of random bytes by a seeded generator: a pass, being a fork, draws the same."""
    drawn = random.Random(os.urandom(16)).randbytes
    os.urandom = drawn  # of uuid4
    vars(random)["_urandom"] = drawn  # of secrets and SystemRandom


def _write_as_json() -> None:
    """Have JSON encode proxies of dicts and lists, of which the encoder would read the memory."""
    refuse = json.JSONEncoder.default

    def default(self: json.JSONEncoder, o: Any) -> Any:
        if isinstance(type(o), RemoteType) and isinstance(o, (dict, list)):
            return dict(o.items()) if isinstance(o, dict) else list(o)
        return refuse(self, o)

    json.JSONEncoder.default = default  # type: ignore[method-assign]


def _choose_modules(
    task: Mapping[str, Any], channel: FrameSocket, records: Records, reporter: Reporter
) -> list[object]:
    """Install the tests' `user_code`, remote or real, and return plugins for it."""
    plugins: list[object] = []

    def apart() -> None:
        records.muted = True
        channel.close()

    def known(digest: str) -> bool:
        records.emit({"is": "answers", "digest": digest, "never": asserts.never()})
        return channel.receive()[1] == b"known"

    def malformed(kind: str, text: str) -> None:
        if kind == "malformed":
            reporter.emit(kind, text)

    answers: Any
    tests_path = Path(sys.path[0]) / task["tests_file"]
    note = partial(reporter.emit, "note")
    restrict_type_texts(tests_path)
    ABSENT.extend(map(ast.literal_eval, task["absent"]))
    if task["isolated"]:
        answers = CrossingAnswers(channel)
        expected = frozenset(task["expected"])
        caller = Caller(
            cast(FrameSocket, answers),
            frozenset([Path(task["tests_file"]).stem]),
            reporter.emit,
            lambda stream, text: print(text, end="", file=sys.stderr if stream == 2 else sys.stdout),
            expected,
        )
        reporter.modules = remote_modules(caller, task["names"], task["importable"]["modules"], task["imports"])
        divert(lambda *how: caller.ask("program", "user_code.py", *how))
        _write_as_json()
        restrict_eval(task["tests_file"], lambda value: caller.crossing.remote_number(value) is not None)
        reporter.between_tests = caller.end_test
        reporter.caught_by_code = lambda: caller.caught
        plugins += [caller.capabilities, caller.temporary]
        answers.crossing = caller.crossing
        answers.begin("members")
        for path in task["members"]:  # from now on each is to be the same object
            with suppress(BaseException):  # the tests will see what is wrong
                named = path[path[0] == USER_MODULE :]
                reduce(getattr, named, reporter.modules[USER_MODULE])
        answers.begin(None)
        failed = [answers.fail, caller.fail]
        written = tests_path.read_text("utf-8", "replace")
        caller.notes_nan = not re.search(r"(?i)\b((is)?nan|(is|not)?na\b|nat\b)", written)
        reporter.ask_again = lambda seconds: caller.calls.ask_again(
            Caller(channel, frozenset(), malformed, lambda *_: None, expected), channel, seconds, note
        )
    else:
        from .wrapping import CallAnswers, load  # what only tests in one process need

        if task["importable"]["allowed"] is not None:
            rule = ImportRule([*_TOOLS, *task["importable"]["allowed"]], task["importable"]["named"])
            sys.meta_path.insert(0, rule)
        restrict_eval(task["tests_file"], lambda value: getattr(value, "__module__", "") == "user_code")
        answers = CallAnswers()
        failed = [answers.fail]
        load(answers)
        divert(answers.wrapped(run_program))
    asserts = reporter.asserts = Asserts(tests_path, lambda: [fail() for fail in failed], note)
    asserts.watch(unittest="unittest" in task["imports"])
    if task["isolated"]:
        asserts.asked = answers.count
        asserts.unused = lambda before, value: id(value) == caller.answered and answers.unused(before)
    if task["measure"]:
        reporter.measuring = Measuring(
            answers, task["tests_file"], apart, known, task["common"], reporter.begin_again, reporter.failed
        )
        plugins.append(reporter.measuring)
    return plugins


def _measure(reporter: Reporter, records: Records, tests_file: str) -> None:
    """Measure the tests' sensitivities if every test passed that counts here."""
    if reporter.measuring is None:
        return
    ran = [item for item in reporter.seconds if item.startswith(f"{tests_file}::")]
    moved = {_test_of(item) for item in reporter.moved}
    items = {item: _test_of(item) for item in ran if _test_of(item) not in moved}
    if items and not reporter.failed & set(items):
        reporter.measuring.measure(reporter.seconds, items, ran, reporter.caught, records.emit)
        reporter.ask_again(sum(reporter.seconds.values()))
    reporter.measuring.close()


def _test_of(item: str) -> str:
    return re.split(r"::|\[", item.partition("::")[2])[0]


def _arguments(source: Path, task: Mapping[str, Any]) -> list[str]:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    # Without --confcutdir pytest reads the folders above, too, and where a job's root is the machine's it may not.
    arguments = ["-c", os.devnull, "--rootdir", str(source), "--confcutdir", str(source), "--noconftest"]
    arguments += ["--import-mode=importlib", "--continue-on-collection-errors"]
    arguments += ["--basetemp", PLACE] if task["isolated"] and is_shared() else []
    arguments += [f"-pno:{name}" for name in _WITHOUT]
    arguments += [f"-p{name}" for name in task["plugins"]]
    return arguments + [str(source / name) for name in task["files"]]
