"""A code process that knows the whole source, and writes to the test process whatever it likes: it can use what a
test passed to it, as that may be used, and nothing else."""

from __future__ import annotations

import datetime  # noqa: F401 - data types that frames may name are imported before anything is watched
import decimal  # noqa: F401
import fractions  # noqa: F401
import io
import json
import pathlib  # noqa: F401
import socket
import sys
import threading
import types
import uuid  # noqa: F401
import zoneinfo  # noqa: F401
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.verifier import Verifier
from agents.verifier.inside.proxy.frames import ANSWER, ASK, FrameSocket
from agents.verifier.inside.proxy.peer import MODULE_NUMBER
from agents.verifier.inside.proxy.plain import Malformed
from agents.verifier.inside.test_process.caller import Caller

from ..support.sandboxes import ALL, often, open_or_skip

Frame = list[Any]
_watched: list[str] = []
_watching = threading.Event()
_ACTS = (
    "open", "exec", "compile", "subprocess", "socket", "ctypes", "pickle", "shutil", "code.", "os.system",
    "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename", "os.chmod", "os.putenv",
)  # fmt: skip


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _watching.is_set() and event.startswith(_ACTS) and "zoneinfo" not in str(arguments):
        _watched.append(f"{event} {arguments}"[:200])


sys.addaudithook(_audit)


def acts() -> list[str]:
    """Audit events of the test process during the last call."""
    return _watched


class Passed:
    """An object of the tests that a test passes to the code."""

    def __init__(self) -> None:
        self.value = 1
        self._private = "not for the code"

    def method(self) -> int:
        return 2


PASSED = types.ModuleType("passed_tests")
for _name, _value in (("Passed", Passed),):
    _value.__module__ = PASSED.__name__
    setattr(PASSED, _name, _value)


class Hostile:
    """One call of a caller: its other end sends `frames` of the code, reads what it gets for each, and answers."""

    def __init__(self, passed: object, answer: bytes = b'["return", [null, [], []], []]') -> None:
        here, there = socket.socketpair()
        self.told: list[tuple[str, str]] = []
        self._channel, self._theirs = FrameSocket(here.detach()), FrameSocket(there.detach())
        self._passed = passed
        self._answer = answer
        self.replies: list[Any] = []
        self.caller = Caller(
            self._channel, frozenset([PASSED.__name__]), lambda *told: self.told.append(told), lambda *_: None
        )

    def run(self, *frames: bytes) -> Any:
        """Make the call; its value, or the exception."""
        thread = threading.Thread(target=self._play, args=(frames,), daemon=True)
        thread.start()
        module = self.caller.crossing.adopt(MODULE_NUMBER, object())
        _watched.clear()
        _watching.set()
        try:
            return self.caller.call(module, (self._passed,), {})
        except BaseException as error:  # whatever it is, it is looked at
            return error
        finally:
            _watching.clear()
            self._channel._socket.close()
            thread.join(5)
            self._theirs._socket.close()

    def _play(self, frames: tuple[bytes, ...]) -> None:
        try:
            self._theirs.receive()
            for payload in frames:
                self._theirs.send(ASK, payload)
                self.replies.append(json.loads(self._theirs.receive()[1]))
            self._theirs.send(ANSWER, self._answer)
        except BaseException:  # the caller has had enough
            return
        finally:  # one who says no more would be waited for: to end that is the host's part
            self._theirs._socket.shutdown(socket.SHUT_WR)


def framed(what: str, *trees: Any) -> bytes:
    return json.dumps([what, [["t", *trees], [], []], []]).encode()


NOTHING = ["t"]
FIRST = ["y", 2]
"""The object that the test passed: the first number that the test process gives."""
TYPES = [
    ["T", "typing", "operator.attrgetter"], ["T", "builtins", "map"], ["T", "builtins", "type"],
    ["T", "pathlib", "Path"], ["T", "collections", "_starmap"], ["T", "builtins", "exec"], ["T", "os", "system"],
    ["T", "subprocess", "Popen"], ["T", "inside.test_process.caller", "Caller"], ["P", "/etc/passwd"],
    ["y", 1], ["y", 100], ["y", 0], ["y", -2], ["y", 10**30], ["y", True], ["o", 5], ["@", 2], "x", 1, None,
    ["t", FIRST], ["N", 5],
]  # fmt: skip
NAMES = [
    "__globals__", "__closure__", "__code__", "__self__", "__func__", "__class__", "__dict__", "__builtins__",
    "__init__", "__subclasses__", "__reduce_ex__", "__getattribute__", "gi_frame", "f_back", "mro", "",
    "a.b", "__doc__",
]  # fmt: skip
FORBIDDEN: list[bytes] = [
    *(framed(what, target, NOTHING, NOTHING) for target in TYPES for what in ("call", "operate", "get", "method")),
    *(framed(what, FIRST, name, NOTHING, NOTHING) for name in NAMES for what in ("get", "method", "special")),
    *(framed("set", FIRST, name, 1) for name in NAMES),
    *(framed("delete", FIRST, name) for name in NAMES),
    *(framed("operate", FIRST, name) for name in ("exec", "eval", "__import__", "getattr", "list", "isinstance")),
    framed("subclass", FIRST, NOTHING, NOTHING),
    framed("get", FIRST, ["t", "value"]),
    framed("get", FIRST),
    framed("call"),
    b"[]", b"{}", b"null", b'["call"]', b'["call", [], []]', b'["call", [["t"], [], []], []]', b"[" * 100_000,
    b"\xff",
    b'["call", {"a": 1}, []]', b'["call", [["t", ["y", 2]], [], []], [[1]]]', b'["return", [null, [], []], []]',
]  # fmt: skip


@pytest.mark.parametrize("passed", [lambda: Passed(), lambda: len, lambda: lambda: 3, lambda: iter([1])])
def test_no_frame_gets_more_than_an_error(passed: Callable[[], Any]) -> None:
    for payload in FORBIDDEN:
        hostile = Hostile(passed())
        ended = hostile.run(payload)
        got = [how for how, *_ in hostile.replies]
        assert got in ([], ["raise"]), (payload, hostile.replies)
        assert got or isinstance(ended, Malformed), (payload, ended)
        assert acts() == [], payload


def test_what_was_passed_can_be_used_in_its_own_ways() -> None:
    uses = [
        framed("get", FIRST, "value"),
        framed("method", FIRST, "method", NOTHING, NOTHING),
        framed("names", FIRST),
    ]
    hostile = Hostile(Passed())
    hostile.run(*uses)
    assert [how for how, *_ in hostile.replies] == ["return"] * 3
    called = Hostile(lambda value: value + 1)
    called.run(framed("call", FIRST, ["t", 1], NOTHING))
    assert called.replies[0][:2] == ["return", [2, [], []]]
    stream = Hostile(io.StringIO("line\n"))
    stream.run(framed("get", FIRST, "read"), framed("get", FIRST, "buffer"))
    assert [how for how, *_ in stream.replies] == ["return", "raise"]


def test_nothing_can_be_used_when_its_test_is_over() -> None:
    hostile = Hostile(lambda: 1)
    hostile.caller.crossing.export(hostile._passed)
    hostile.caller.capabilities.end_test()
    hostile.run(framed("call", FIRST, NOTHING, NOTHING))
    assert hostile.replies[0][0] == "raise"


def test_what_cannot_be_shared_is_not_said_of_a_frame_of_the_code() -> None:
    hostile = Hostile(lambda: socket)
    hostile.run(framed("call", FIRST, NOTHING, NOTHING))
    assert [how for how, *_ in hostile.replies] == ["raise"]
    assert hostile.told == []


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=4) | st.sampled_from(NAMES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(st.sampled_from([*"tfmNsv@yTCKoxiucbrenDQP", "mv", "dt", "tz", "F"]), inner, inner).map(list),
        st.tuples(st.sampled_from(["y", "o", "@", "K", "N", "m"]), st.integers(-2, 9)).map(list),
        st.sampled_from(TYPES),
        st.dictionaries(st.sampled_from(["name", "specials", "value", "like", "doc"]), inner, max_size=3),
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    what=st.sampled_from(["call", "get", "set", "delete", "method", "special", "names", "operate", "return", "x"]),
    trees=st.lists(TREES, max_size=4),
    containers=st.lists(TREES, max_size=2),
    how=st.sampled_from(["return", "raise", "call"]),
    answer=TREES,
)
def test_no_tree_makes_the_test_process_act(
    what: str, trees: list[Any], containers: list[Any], how: str, answer: Any
) -> None:
    payload = json.dumps([what, [["t", *trees], containers, []], []]).encode()
    hostile = Hostile(lambda *_: 1, json.dumps([how, [answer, containers, []], []]).encode())
    ended = hostile.run(payload)
    assert acts() == []
    if isinstance(ended, BaseException) and not isinstance(ended, Malformed):
        assert how == "raise" or isinstance(ended, TypeError | RuntimeError), ended


GOALS = """
import gc, inspect, json, os, sys

def channel():
    return next(o for o in gc.get_objects() if type(o).__name__ == "Responder")._channel

def ask(what, *trees):
    line = channel()
    line.send(b"Q", json.dumps([what, [["t", *trees], [], []], []]).encode())
    return json.loads(line.receive()[1])

SECRET = open(__file__).read().count("SECRET")
GOAL = {goal!r}
def use(function, value):
    if GOAL == "read":
        for name in ("__globals__", "__code__", "__closure__", "__builtins__", "__module__"):
            print("got", ask("get", ["y", 4], name))
        print("got", ask("method", ["P", "/src/test_user_code.py"], "read_text", ["t"], ["t"]))
    if GOAL == "call":
        print("got", ask("call", ["T", "os", "_exit"], ["t", 0], ["t"]))
    if GOAL == "allocate":
        body = b'["return", [["t",' + b",".join([b'["t"]'] * 1_300_000) + b'], [], []], []]'
        for _ in range(40):
            channel().send(b"Q", body.replace(b"return", b"call"))
    if GOAL == "hang":
        while True:
            function(1)
    if GOAL == "records":
        channel().send(b"R", json.dumps(dict({{"is": "end", "exit": 1, "n": 2, "nonce": "0" * 32}})).encode())
    if GOAL == "answer twice":
        for _ in range(2):
            channel().send(b"A", b'["return", [3, [], []], []]')
    if GOAL == "hello":
        channel().send(b"H", b"")
    return value - 1
"""
TESTS = """
from user_code import use
def test_a():
    assert use(lambda x: x, 1) == 2
def test_b():
    assert use(abs, 2) == 3
"""


@pytest.fixture(params=often(ALL, "bubblewrap", "native without namespaces"), scope="module")
def verifier(request: pytest.FixtureRequest) -> Iterator[Verifier]:
    sandbox = open_or_skip(request.param)
    with Verifier(sandbox, call_seconds=2.0) as opened:
        yield opened
    sandbox.close()


@pytest.mark.parametrize("goal", ["read", "call", "allocate", "hang", "records", "answer twice", "hello", "none"])
def test_a_hostile_code_process_reaches_none_of_its_goals(goal: str, verifier: Verifier) -> None:
    verdict = verifier.verify(GOALS.format(goal=goal), TESTS)
    assert verdict.kind != "passed"
    assert verdict.isolation == "isolated"
    assert "'return'" not in verdict.output, verdict.output
    assert verdict.seconds < 20
