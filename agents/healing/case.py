"""Cases: failures that can be reproduced in the sandbox, with changed files too; cold runs of a script there."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import Interrupted
from ..records import Stopped
from ..records.heal import Answer, Call, Item, Observation, RaisedError
from ..repository.suite import own_programs
from ..sandbox import Ended, Job, Sandbox, SandboxLimits
from ..sandbox.sockets import ready
from ..storage.json_form import checked, cleaned
from ..syntax.clean_text import clean
from ..syntax.encoding import encoded
from ..verifier.inside_bytecode import programs
from ..worktree.tree import Tree
from .expectations import ANY, EXPECT_CALL, ExpectedCall

_INSIDE = Path(__file__).with_name("inside")
_MOST_DOCUMENT = 128 << 20
_GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a script is run; without a name, only the `asked` calls. `environment` is added to the sandbox's.

    `wanted` files are read after the run. `called`: note the functions that are called. `asked` calls are made
    after the run; with `traced`, the calls that these make are noted in place of the program's own.
    """

    script: str
    arguments: tuple[str, ...] = ()
    stdin: bytes | None = None
    environment: tuple[tuple[str, str], ...] = ()
    wanted: tuple[str, ...] = ()
    called: bool = False
    asked: tuple[Call, ...] = ()
    traced: bool = False


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """The result of a run.

    `whole` is False where the process that reports it was killed, or its report can't be read. `ended` is False
    where the script ended its process without the interpreter's shutdown (`os._exit`, a signal). `called` are the
    called functions as `path::line`, the latest first. `changed` has the digest of each changed file (empty for a
    removed one), `contents` the bytes of the `wanted` files. `calls` have plain data; `left_out` says why others
    can't be repeated. `answers` are those to the `asked` calls.
    """

    exit_code: int
    stdout: str
    stderr: str
    stopped: Stopped | None
    whole: bool = False
    ended: bool = False
    errors: tuple[RaisedError, ...] = ()
    called: tuple[str, ...] = ()
    changed: Mapping[str, str] = field(default_factory=dict)
    contents: Mapping[str, bytes | None] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    left_out: tuple[Call, ...] = ()
    answers: tuple[Answer | None, ...] = ()


def _receive(channel: socket.socket, deadline: float, cancelled: Callable[[], bool]) -> bytes:
    received = bytearray()
    while len(received) < _MOST_DOCUMENT and time.monotonic() < deadline:
        if cancelled():
            raise Interrupted("The heal was interrupted.")
        if ready(channel, 0.2):
            data = b""
            with suppress(OSError):
                data = channel.recv(1 << 18)
            if not data:
                break
            received += data
    return bytes(received)


def _as_run(ended: Ended, told: bytes, before: Mapping[str, bytes]) -> ScriptRun:
    """Return the run that the sandbox's untrusted output describes: types are checked, texts cleaned."""
    head: dict[str, Any] = {
        "exit_code": ended.exit_code if ended.exit_code is not None else -9,
        "stdout": clean(ended.stdout),
        "stderr": clean(ended.stderr),
        "stopped": ended.stopped,
    }
    try:
        document = json.loads(told)
        report = cleaned(json.loads(base64.b64decode(document["report"]) or b"{}"))
        told_files = document["contents"].items()
        contents = {path: None if data is None else base64.b64decode(data) for path, data in told_files}
        run: ScriptRun = checked(ScriptRun, {**report, **head, "exit_code": document["exit_code"], "whole": True})
        return replace(run, changed=_changed(document["files"], before), contents=contents)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ScriptRun(**head)


def _changed(files: Mapping[str, Any], before: Mapping[str, bytes]) -> dict[str, str]:
    known = {path: hashlib.sha256(data).hexdigest() for path, data in before.items()}
    changed = {str(path): str(digest) for path, digest in files.items() if known.get(path) != digest}
    return dict(sorted((changed | {path: "" for path in known if path not in files}).items()))


class Case(ABC):
    """A failing script (`scripts.py`), function or tests (`tests_case.py`), or call (`calls.py`)."""

    @property
    @abstractmethod
    def files(self) -> Mapping[str, str]:
        """The text of each file that may change, by its path relative to the case's folder (`/` between names)."""

    target: tuple[str, str] | None = None
    """The only definition that may change, by path and qualified name; None where all of `files` may."""

    @property
    def trusted(self) -> bool:
        """True if an expectation of the user decides: failing tests, `--expect...`, `verify=`, `tests=`."""
        return True

    @property
    def beside(self) -> Mapping[str, bytes]:
        """All files of the case, by their paths."""
        return {}

    holds_out = True
    """True if items can be held out: one that is left out of the symptom is in no prompt."""

    @property
    def left_open(self) -> Sequence[Call]:
        """Calls for which any answer is right."""
        return ()

    @property
    def entry_line(self) -> int | None:
        """The line of the function that the case calls; None where it calls none."""
        return None

    @property
    def other_runs(self) -> Sequence[Call]:
        """Runs of the whole case on other input, used where no changed function can be called."""
        return ()

    @property
    @abstractmethod
    def task(self) -> str:
        """One or two sentences for the prompt: what is run, and what is expected."""

    @abstractmethod
    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Run the case once, cold, in the sandbox, with new texts of `changed` files and the hash seed `seed`.

        Raises SandboxBroken, Interrupted after a cancellation, and nothing that the code can cause.
        """

    def observe_by(self, seeds: Sequence[int], changed: Mapping[str, str]) -> Iterator[Observation]:
        """Yield an observation for each seed, in turn: code in this process must not run in parallel."""
        return (self.observe(changed, seed=seed) for seed in seeds)

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """Return the calls of functions in its files that failing `items` (none: the case itself) make with
        `changed` files, and why others can't be repeated; by default none. Raises as `observe`."""
        return (), ()

    @abstractmethod
    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> Sequence[Answer | None]:
        """Return the answers (or None) to independent calls with `changed` files. Raises as `observe`."""


@dataclass(frozen=True, kw_only=True)
class TreeCase(Case):
    """A case in a folder that each run gets a copy of. `texts` are those of the files that may change."""

    sandbox: Sandbox
    limits: SandboxLimits
    tree: Tree
    texts: Mapping[str, str]
    cancelled: Callable[[], bool]
    expected_calls: tuple[ExpectedCall, ...] = ()
    _runs: dict[tuple[Invocation, int], ScriptRun] = field(default_factory=dict, init=False, compare=False)
    """Runs on the files as they are, each done once."""

    @property
    def files(self) -> Mapping[str, str]:
        """The texts of the files that may change."""
        return self.texts

    @property
    def beside(self) -> Mapping[str, bytes]:
        """The files of the folder."""
        return self.tree.files

    def observe_by(self, seeds: Sequence[int], changed: Mapping[str, str]) -> Iterator[Observation]:
        """Yield an observation for each seed, made in parallel sandboxes."""
        with ThreadPoolExecutor() as pool:
            yield from pool.map(lambda seed: self.observe(changed, seed=seed), seeds)

    @property
    def left_open(self) -> tuple[Call, ...]:
        """Calls that the user declared open (`any: CALL`)."""
        return tuple(each.call for each in self.expected_calls if each.expected == ANY)

    @property
    def expected(self) -> list[Call]:
        """The calls of which the user has said the answer, with those nested in them."""
        return [call for each in self.expected_calls for call in each.made]

    def asked_by(self, items: Sequence[Item]) -> tuple[Call, ...]:
        """Return the calls of those items that are about an expected call."""
        sources = {item.source for item in items if item.name == EXPECT_CALL}
        return tuple(each.call for each in self.expected_calls if each.text in sources)

    def own(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Return the calls of functions in files that may change."""
        return tuple(each for each in calls if each.path in self.files)

    def run(self, invocation: Invocation, changed: Mapping[str, str], seed: int) -> ScriptRun:
        """Run `invocation` with `changed` files; cached without any, and with calls noted for seed 0. Raises as
        `observe`."""
        if not changed and (invocation, seed) in self._runs:
            return self._runs[invocation, seed]
        new = {path: encoded(text, self.tree.files[path]) for path, text in changed.items()}
        told = replace(invocation, called=invocation.called or (not changed and seed == 0))
        run = self._run(told, new, seed)
        if not changed:
            self._runs[invocation, seed] = run
        return run

    def _run(self, invocation: Invocation, changed: Mapping[str, bytes], seed: int) -> ScriptRun:
        """Run it once, cold, on a copy of the tree with `changed` files."""
        task = {
            **asdict(replace(invocation, stdin=None)),
            "lent": ":".join(self.sandbox.interpreter.lent),
            "environment": dict(invocation.environment),
            "asked": [(each.path, each.source) for each in invocation.asked],
            "seed": seed,
        }
        files = {f"inside/{each.name}": each.read_bytes() for each in _INSIDE.glob("*.py")}
        files |= programs("suite_process", self.sandbox.interpreter) | own_programs()
        files |= {"task.json": json.dumps(task).encode(), "tree.tar": self.tree.archive(changed)}
        ours, theirs = socket.socketpair()
        with closing(ours), closing(theirs):
            argv = ["-I", "-B", "/src/inside/script_process.py", str(theirs.fileno())]
            job = Job(argv, files, self.limits, channels=[theirs.fileno()], stdin=invocation.stdin or b"")
            with self.sandbox.launch(job) as running:
                theirs.close()
                told = _receive(ours, time.monotonic() + self.limits.wall_seconds + _GRACE_SECONDS, self.cancelled)
                ended = running.wait()
        run = _as_run(ended, told, {**self.tree.files, **changed})
        count = len(invocation.asked)
        return replace(run, answers=(*run.answers, *[None] * count)[:count])
