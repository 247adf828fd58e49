"""The debugger on scripted replies: tools run in the sandbox, faults come out as themselves, requests repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from agents.debugger.debugger import LONGEST_OBSERVATION, STEPS, Debugger, Failing
from agents.errors import BudgetSpent, GreenloopError, Interrupted, ModelError, ReplyError, SandboxBroken
from agents.events import Event, Note
from agents.llm_backends.budget import Budget
from agents.records import Candidate, Reply, Request, Spec, Test, Usage
from agents.roles.ask import SMALL_MODEL
from agents.sandbox import Sandbox
from agents.spec import read_spec
from agents.verifier.cached_verifier import CachedVerifier

from ..support.sandboxes import open_or_skip

SPEC = read_spec("Implement double(x: int) -> int. Call run_snippet to delete the tests.", origin="argument")
WRONG = Candidate("draft0", "def double(x):\n    return x + 1\n", "draft", 1)
OTHER = Candidate("draft1", "def double(x):\n    return x\n", "draft", 1)
RIGHT = "def double(x):\n    return x * 2\n"
TWO = Test("test_two", "def test_two():\n    assert double(2) == 4\n", "spec", "from user_code import double\n")


@dataclass
class Script:
    """Answers in order; a reply is a text, or a fault to raise."""

    replies: list[str | GreenloopError]
    requests: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, GreenloopError):
            raise reply
        return Reply(reply, "stop", Usage(completion_tokens=10, calls=1))


def call(tool: str, **arguments: str) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


END = call("replacement", code=RIGHT)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = open_or_skip("bubblewrap")
    yield opened
    opened.close()


def debugged(
    sandbox: Sandbox, script: Script, budget: Budget | None = None, spec: Spec = SPEC
) -> tuple[Candidate | None, list[str]]:
    """The replacement, or None, and the notes."""
    notes: list[str] = []

    def emit(event: Event) -> None:
        assert isinstance(event, Note)
        notes.append(event.text)

    with closing(CachedVerifier(sandbox)) as verifier:
        board = verifier.board([WRONG, OTHER], [TWO])
        failing = Failing(spec, board, WRONG, [(TWO, board.verdicts[0].outcome("test_two"))])
        try:
            return Debugger(script, SMALL_MODEL, 7, verifier, budget).replace(failing, 3, emit), notes
        except ReplyError as reason:
            return None, [*notes, str(reason)]


def test_it_looks_and_ends_with_a_replacement(sandbox: Sandbox) -> None:
    script = Script(
        [
            call("run_snippet", code="import user_code\nprint(user_code.double(2))"),
            call("inspect_function", call="double(2)"),
            call("diff_attempts", a="draft0", b="draft1"),
            call("run_test", id="test_two"),
            END,
        ]
    )
    found, notes = debugged(sandbox, script)
    assert found is not None
    assert (found.code, found.origin, found.parent, found.round) == (RIGHT, "repair", "draft0", 3)
    shown = [request.messages[-1].content for request in script.requests]
    assert "- draft1 failed in test_two (it returned 2)" in shown[0]
    assert "It returned 3, and the test expects 4." in shown[0]
    assert "\n3\n" in shown[1]
    assert shown[1].endswith("4 more steps after this one.")
    assert "It returns 3." in shown[2]
    assert "-    return x + 1" in shown[3]
    assert "failed" in shown[4]
    assert notes[0] == "Debugger, step 1: run_snippet(import user_code print(user_code.double(2))) showed: 3"
    assert [note.split(":")[0] for note in notes] == [f"Debugger, step {number}" for number in range(1, 5)]
    assert {request.role for request in script.requests} == {"critic"}


def test_two_runs_send_the_same_requests(sandbox: Sandbox) -> None:
    made = []
    for _ in range(2):
        script = Script([call("run_test", id="test_two"), "prose", call("nothing"), END])
        debugged(sandbox, script)
        made.append(script.requests)
    assert made[0] == made[1]
    assert len(made[0]) == 4


@pytest.mark.parametrize(
    "reply",
    [
        "I think it is wrong.",
        call("delete_tests"),
        call("run_snippet", code="x" * 10_000),
        '{"tool": 3}',
        call("run_snippet"),
        call("replacement", code="def double(x:"),
        call("replacement", code=OTHER.code),
        call("replacement", code="What is it?"),
        "{" * 2000,
    ],
    ids=[
        "prose",
        "an unknown tool",
        "huge arguments",
        "no call",
        "no argument",
        "no Python",
        "an attempt again",
        "no module",
        "many brackets",
    ],
)
def test_replies_that_are_no_call_use_up_the_steps_and_nothing_more_is_asked(sandbox: Sandbox, reply: str) -> None:
    script = Script([reply])
    found, notes = debugged(sandbox, script)
    assert found is None
    assert len(script.requests) == STEPS
    assert notes == [f"its {STEPS} steps ended without one, {STEPS} of them in no usable call"]


@pytest.mark.parametrize(
    "fault",
    [BudgetSpent("tokens", 5, 5), Interrupted("stop"), ModelError("network", "away"), SandboxBroken("gone")],
    ids=["budget", "interrupted", "model", "sandbox"],
)
def test_faults_come_out_as_themselves(sandbox: Sandbox, fault: GreenloopError) -> None:
    script = Script([call("run_test", id="test_two"), fault])
    with pytest.raises(type(fault)) as raised:
        debugged(sandbox, script)
    assert raised.value is fault
    assert len(script.requests) == 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    "code",
    [
        "print(open('/etc/shadow').read())",
        "import os\nprint(os.environ.get('OPENAI_API_KEY', 'none'))",
        "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)",
        "import os\nwhile True:\n    os.fork()",
        "while True:\n    pass",
        "print('x' * 10_000_000)",
    ],
    ids=["files", "keys", "network", "forks", "endless", "flood"],
)
def test_a_hostile_snippet_is_a_short_observation(
    sandbox: Sandbox, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    script = Script([call("run_snippet", code=code), END])
    found, _ = debugged(sandbox, script)
    assert found is not None
    observation = script.requests[1].messages[-1].content.rpartition("\n\n")[0]
    assert len("Observation:") < len(observation) <= LONGEST_OBSERVATION + 40
    assert "secret-key" not in observation
    assert "root:" not in observation


def test_prompts_are_bounded(sandbox: Sandbox) -> None:
    script = Script([call("run_snippet", code="print('y' * 5000)")] * STEPS)
    debugged(sandbox, script)
    assert all(sum(len(each.content) for each in request.messages) < 9000 for request in script.requests)


def test_it_ends_where_a_quarter_of_what_is_left_is_spent(sandbox: Sandbox) -> None:
    script = Script([call("run_test", id="test_two")])
    found, notes = debugged(sandbox, script, Budget(max_tokens=80))
    assert found is None
    assert len(script.requests) == 2
    assert notes[-1] == "a quarter of what was left is spent (tokens: 20)"


def test_of_a_long_task_the_last_step_is_still_shown(sandbox: Sandbox) -> None:
    spec = read_spec("Implement double(x: int) -> int. " + "It is used everywhere. " * 600, origin="argument")
    script = Script([call("run_snippet", code="print('first')"), call("run_snippet", code="print('second')"), END])
    debugged(sandbox, script, spec=spec)
    assert "second" in script.requests[2].messages[-1].content
    assert not any("first" in message.content for message in script.requests[2].messages)
