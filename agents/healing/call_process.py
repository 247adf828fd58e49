"""Captures a call of a function of a user's module before it runs, and repeats it in a sandbox."""

from __future__ import annotations

import json
import sys
import sysconfig
import time
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from ..errors import Interrupted
from ..records.heal import Answer, Call
from ..repository.inside.calls import having, keeps_state_elsewhere, listed
from ..repository.suite import own_programs
from ..sandbox import Ended, Job, Running, Sandbox, SandboxLimits
from ..sandbox.sockets import ready
from ..storage.json_form import checked, cleaned
from ..verifier.inside.proxy.crossing import PlainCrossing
from ..verifier.inside.proxy.frames import ANSWER, ASK, HELLO
from ..verifier.inside.proxy.plain import Tree, Unshareable
from ..verifier.inside_bytecode import programs
from ..verifier.wire import Violation, Wire

STAND_INS = frozenset(["greenloop", __name__.partition(".")[0]])
"""Packages that stand-ins replace in the sandbox: their decorators do nothing."""
_GRACE_SECONDS = 0.5
_LOCALS = "<locals>"
MOST_BYTES = 64 << 10
_ITEM = 8
_TEXTS = frozenset([str, bytes, bytearray, memoryview])
_MAPPINGS = frozenset([dict, OrderedDict, defaultdict, Counter])
_CONTAINERS = frozenset([list, tuple, set, frozenset, deque])
_LIBRARY = sysconfig.get_paths()["stdlib"] + "/"
_MOST_FILES = 500


class CallStopped(Exception):
    """The sandbox ended without an answer, or wrote an invalid one; the text says how."""


@dataclass(frozen=True, slots=True)
class Callee:
    """Function `qualname` of `module`; `path` is its file, relative to the folder that it is imported from."""

    module: str
    path: str
    qualname: str


@dataclass
class CallProcess:
    """A context manager: a cold process with `files` of a project, for calls of `callee`. `limits.wall_seconds` is
    the timeout of all calls together."""

    sandbox: Sandbox
    callee: Callee
    files: Mapping[str, bytes]
    limits: SandboxLimits
    cancelled: Callable[[], bool]

    def __enter__(self) -> Self:
        """Start the process. Raises SandboxBroken."""
        with ExitStack() as held:
            self._wire = Wire()
            held.callback(self._wire.close)
            python = self.sandbox.interpreter
            descriptor = self._wire.descriptor
            argv = ["-I", "-B", "/src/inside/start.py", "call_process", str(descriptor), ":".join(python.lent)]
            files = {**self.files, **programs("call_process", python), **own_programs()}
            job = Job(argv, files, self.limits, channels=[descriptor])
            self._running: Running = held.enter_context(self.sandbox.launch(job))
            self._deadline = time.monotonic() + self.limits.wall_seconds
            self._wire.send(HELLO, json.dumps({**asdict(self.callee), "inert": sorted(STAND_INS)}).encode())
            self._held = held.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def call(self, call: CapturedCall) -> tuple[str, Any]:
        """Make a call. Return how it ended (`return`, `raise`, `unshareable`) and with what. Raises CallStopped
        and Interrupted."""
        return self._ask("call", call.receiver, call.body)

    def answers(self, calls: Sequence[Call]) -> list[Answer | None]:
        """Return the answers to independent calls. Raises as `call`."""
        _, told = self._ask("answers", *([each.path, each.source] for each in calls))
        try:
            found = checked(list[Answer | None], cleaned(told))
        except (ValueError, TypeError, RecursionError) as error:
            raise CallStopped("what the code's process wrote is no answer") from error
        return [*found, *[None] * len(calls)][: len(calls)]

    def _ask(self, *asked: object) -> tuple[str, Any]:
        self._wire.send(ASK, json.dumps(asked).encode())
        while (left := self._deadline - time.monotonic()) > 0:
            if self.cancelled():
                raise Interrupted("The heal was cancelled.")
            ready(self._wire.socket, min(left, 0.2), writing=bool(self._wire.pending))
            self._wire.flush()
            try:
                for kind, payload in self._wire.receive():
                    if kind == HELLO:
                        self._wire.handed_over()
                    elif kind == ANSWER:
                        return _read_answer(payload)
            except Violation as violation:
                raise CallStopped(str(violation)) from violation
            if self._wire.ended or self._ended(0.0) is not None:
                if (ended := self._ended(_GRACE_SECONDS)) is None:
                    raise CallStopped("the code closed its channel")
                how = ended.stopped or f"code ended its process with exit code {ended.exit_code}"
                raise CallStopped(f"the {how}")
        raise CallStopped(f"the call did not return within {self.limits.wall_seconds:g} s")

    def _ended(self, seconds: float) -> Ended | None:
        with suppress(TimeoutError):
            return self._running.wait(seconds)
        return None


def _read_answer(payload: bytes) -> tuple[str, Any]:
    with suppress(ValueError, TypeError, RecursionError):
        how, what = json.loads(payload)
        if how in ("return", "raise", "unshareable"):
            return how, what
    raise CallStopped("what the code's process wrote is no answer")


class NotRepeatable(Exception):
    """The call can't be repeated in the sandbox; the text says why."""


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """The packed arguments of one call. `receiver` describes a method's first argument (see `_receiver`)."""

    receiver: list[str] | None
    body: Tree
    crossing: PlainCrossing

    def preview(self, body: Tree) -> Any:
        """Return the value of an answer, with copies of arguments that it contains. Raises Malformed."""
        inside, here = PlainCrossing(1), PlainCrossing(2)
        inside.unpack(self.body)
        here.shared = inside.shared
        return here.unpack(body)[0]

    def value(self, body: Tree) -> Any:
        """Return the value of an answer. The caller's arguments, which the failed call may have changed, get the
        state that the answer's call left them in. Raises Malformed."""
        self.crossing.shared.restore()
        return self.crossing.unpack(body)[0]

    def source(self, qualname: str) -> str:
        """Return the call as source with literals. Raises NotPlain and Malformed."""
        (state, args, kwargs), _ = PlainCrossing(1).unpack(self.body)
        name = qualname.rpartition(f"{_LOCALS}.")[2]
        if self.receiver is not None:
            kind, _, owner = self.receiver
            name = f"{having(owner, state or {}) if kind == 'instance' else owner}.{name.rpartition('.')[2]}"
        return f"{name}({listed(args, kwargs)})"


def home_of_method(function: Callable[..., Any]) -> str | None:
    """Return the module of a function that is defined in a class (its first argument may be `self` or `cls`)."""
    outer = function.__qualname__.rpartition(".")[0]
    return function.__module__ if outer and not outer.endswith(_LOCALS) else None


def capture(home: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> CapturedCall:
    """Pack the arguments of a call; `home` is the module of a method's class, None for other functions. Raises
    Unshareable where they are not plain data or too large, and what looking at them raises."""
    receiver = _receiver(args[0], home) if home is not None and args else None
    state = vars(args[0]) if receiver is not None and receiver[0] == "instance" else None
    packed = (state, args if receiver is None else args[1:], kwargs)
    if not _is_small(packed):
        raise Unshareable(f"its arguments take more than {MOST_BYTES >> 10} KiB")
    crossing = PlainCrossing(2)
    return CapturedCall(receiver, crossing.pack(packed), crossing)


def _is_small(value: Any) -> bool:
    """Return True if plain data takes at most about `MOST_BYTES`; look at no more than that."""
    left = MOST_BYTES
    waiting = [value]
    while waiting:
        current = waiting.pop()
        kind = type(current)
        if kind in _TEXTS:
            left -= len(current)
        elif kind in _MAPPINGS or kind in _CONTAINERS:
            left -= _ITEM * len(current)
            if left > 0:
                waiting += current
                waiting += current.values() if kind in _MAPPINGS else ()
        elif kind.__module__.partition(".")[0] in ("numpy", "pandas"):
            left -= getattr(current, "nbytes", _ITEM * getattr(current, "size", 1))
        if left <= 0:
            return False
    return True


def _receiver(first: Any, home: str) -> list[str] | None:
    """Return `class` or `instance`, module (empty for `home`, as `__main__` has another name in the sandbox) and
    qualified name of the class; None for plain data. Raises Unshareable."""
    kind = first if isinstance(first, type) else type(first)
    if kind.__module__ == "builtins":
        return None
    if _LOCALS in kind.__qualname__:
        raise Unshareable(f"class {kind.__qualname__} is defined in a function")
    module = kind.__module__ if kind.__module__ != home else ""
    if kind is first:
        return ["class", module, kind.__qualname__]
    bases = kind.__mro__[:-1]
    if not hasattr(first, "__dict__") or any(map(keeps_state_elsewhere, bases)):
        raise Unshareable(f"a {kind.__qualname__} has state outside its attributes")
    return ["instance", module, kind.__qualname__]


def unhealable(function: Callable[..., Any]) -> str | None:
    """Return why calls of `function` can't be repeated; None if they can."""
    if not isinstance(function, types.FunctionType):
        return "it is no function of Python's"
    if (free := function.__code__.co_freevars) and set(free) != {"__class__"}:
        return f"it is a closure over {', '.join(free)}"
    if function.__name__ == "<lambda>":
        return "it is a lambda"
    return None


def located(function: types.FunctionType) -> tuple[Callee, Path]:
    """Return the callee and the file of `function`. Raises NotRepeatable."""
    path = Path(function.__code__.co_filename)
    if not path.is_file():
        raise NotRepeatable("its source is in no file")
    name = function.__module__
    if name == "__main__":
        spec = getattr(sys.modules["__main__"], "__spec__", None)
        name = spec.name if spec is not None else path.stem
    inner = path.with_suffix("").parts if path.stem != "__init__" else path.parent.parts
    parts = tuple(name.split("."))
    if inner[-len(parts) :] != parts:  # imported under a name that is not its path
        parts = inner[-1:]
    end = "/__init__.py" if path.stem == "__init__" else ".py"
    return Callee(".".join(parts), "/".join(parts) + end, function.__qualname__), path


def project_files(path: Path, callee: Callee) -> dict[str, bytes]:
    """Return the file `path` of `callee` and those of the user's other imported modules, by the paths that their
    names give. Raises NotRepeatable where there are too many."""
    found = {callee.path: path.read_bytes()}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and not _is_installed(name, file):
            inner = "/__init__.py" if file.endswith("/__init__.py") else ".py"
            found.setdefault(name.replace(".", "/") + inner, Path(file).read_bytes())
    if len(found) > _MOST_FILES:
        raise NotRepeatable(f"more than {_MOST_FILES} modules of the project are imported")
    return found


def _is_installed(name: str, file: str) -> bool:
    """Return True for modules that the sandbox has, or has a stand-in for."""
    installed = file.startswith(_LIBRARY) or "/site-packages/" in file or "/dist-packages/" in file
    return installed or name == "__main__" or name.partition(".")[0] in STAND_INS
