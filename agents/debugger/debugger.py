"""An agent that repairs a candidate with tools (snippets, traces, single tests) in the sandbox; the judge decides.

The output of tools is untrusted, since the candidate runs in their process: it is used in prompts only.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import BudgetSpent, ReplyError
from ..events import EventHandler, Note
from ..judge.claims import claim_of
from ..llm_backends.agent_task import AgentTask, AgentTool
from ..llm_backends.budget import Budget
from ..records import Board, Candidate, Outcome, Reply, Request, Spec, Test
from ..roles.ask import Ask, ReplyLengths
from ..roles.code_writer import read_candidate
from ..roles.critic import SHOWN_FAILURES, describe
from ..roles.prompt import render
from ..sandbox import Job, Sandbox, SandboxLimits
from ..sandbox.interface import NO_FILES
from ..strength.measure import finding_job, read_finding
from ..syntax.clean_text import visible
from ..syntax.source import program
from ..verifier.cached_verifier import CachedVerifier

_PROGRAM = Path(__file__).parent / "inside" / "under_trace.py"
_SECONDS = 5.0
_KEPT = 20
_LONGEST_LINE = 200


def trace(
    code: str, call: str, sandbox: Sandbox, beside: Mapping[str, bytes] = NO_FILES, seconds: float = _SECONDS
) -> str:
    """Return the trace of `call` (an expression after any statements) in `code` as text: at most 40 lines, then
    how the call ended. `beside` are files to import. Raises SandboxBroken."""
    job = finding_job(_PROGRAM, {"user_code.py": code, "call.txt": call}, seconds, beside)
    with sandbox.launch(job) as running:
        ended = running.wait()
    if ended.stopped is not None:
        return f"The call did not come to its end ({ended.stopped})."
    finding = read_finding(job, ended) or {}
    try:
        lines = [(int(number), str(text)) for number, text in finding["lines"]]
        left_out, cut, end = int(finding["left_out"]), finding["cut"] is True, str(finding["ended"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return "The call left no trace: its process ended, or the module can't be imported."
    told = [f"{number}: {text}".rstrip() for number, text in lines]
    if left_out or len(told) > 2 * _KEPT:
        told[_KEPT:-_KEPT] = [f"… {len(told) - 2 * _KEPT + left_out} lines …"]
    shown = [*told, *(["(what follows was not traced)"] if cut else []), end]
    return "\n".join(visible(line[:_LONGEST_LINE]) for line in shown)


STEPS = 6
SHARE = 0.25
"""Share of the remaining tokens and seconds that the debugger may spend."""
LONGEST_OBSERVATION = 600
MOST_CHARACTERS = 7500
"""Limit of a prompt, about 2,500 tokens."""
SHOWN_ATTEMPTS = 6
SHOWN_TESTS = 12
_LONGEST_NOTE = 160
_SNIPPET_LIMITS = SandboxLimits(wall_seconds=5.0, cpu_seconds=5)


@dataclass(frozen=True, slots=True)
class Failing:
    """A board on which `leader` fails the tests `failing`, and its spec."""

    spec: Spec
    board: Board
    leader: Candidate
    failing: Sequence[tuple[Test, Outcome]]

    def attempts(self) -> list[str]:
        """Return for each of the last candidates the first of the failing tests that it fails, and its value."""
        return [self._attempt(candidate) for candidate in self.board.candidates[-SHOWN_ATTEMPTS:]]

    def _attempt(self, candidate: Candidate) -> str:
        verdict = self.board.verdict(candidate.id)
        outcomes = (verdict.outcome(test.id) for test, _ in self.failing)
        first = next((outcome for outcome in outcomes if outcome.status != "passed"), None)
        if first is None:
            return f"{candidate.id} passed these tests"
        got = f" (it returned {_line(first.actual)})" if first.actual is not None else ""
        return f"{candidate.id} {first.status} in {first.test_id}{got}"


@dataclass(frozen=True, slots=True)
class Debugger:
    """Looks for a replacement of a failing candidate, in at most six steps of one tool call each. Without the
    run's `budget` only the steps are limited."""

    ask: Ask
    lengths: ReplyLengths
    seed: int
    runner: CachedVerifier
    budget: Budget | None = None

    def replace(self, failing: Failing, round_number: int, emit: EventHandler) -> Candidate:
        """Return a replacement of the leader; emit each step as a note. Raises ReplyError without a new and
        readable replacement, and what `ask` and the sandbox raise."""
        from ..llm_backends.tool_agent import run_agent

        steps = _Steps(self.ask, self.budget, emit)
        found: list[Candidate] = []

        def replacement(code: str) -> str:
            found[:] = [self._read(code, failing, round_number)]
            return code

        tools = _tools(failing, self.runner)
        described = [f"{tool.name}({', '.join(tool.inputs)}): {tool.description}" for tool in tools]
        task = AgentTask(
            instructions=render("debug_system", tools=described),
            task=_task(failing),
            steps=STEPS,
            max_tokens=self.lengths.code,
            most_characters=MOST_CHARACTERS,
            seed=self.seed,
        )
        run_agent(steps.ask, [steps.noted(tool) for tool in tools], replacement, task)
        if not found:
            unusable = STEPS - steps.used
            raise ReplyError(f"its {STEPS} steps ended without one, {unusable} of them in no usable call")
        return found[0]

    def _read(self, code: str, failing: Failing, round_number: int) -> Candidate:
        """Return the candidate in a reply. Raises ValueError, whose text the model gets."""
        try:
            label = f"debug{round_number}"
            reply = Reply(code, "stop")
            candidate = read_candidate(reply, failing.spec, "repair", round_number, label, failing.leader.id)
        except ReplyError as reason:
            raise ValueError(f"that is no usable user_code.py: {reason}") from reason
        if program(candidate.code) in {program(each.code) for each in failing.board.candidates}:
            raise ValueError("that repeats an attempt that failed; change what makes it fail")
        return candidate


class _Steps:
    """Counts the steps of one debugger, and emits them as notes."""

    def __init__(self, ask: Ask, budget: Budget | None, emit: EventHandler) -> None:
        self._ask = ask
        self._emit = emit
        self._portion = budget.portion(SHARE) if budget is not None else Budget()
        self.asked = 0
        self.used = 0
        """Steps in which a tool was called."""

    def ask(self, request: Request) -> Reply:
        """Ask within the debugger's share of the budget. Raises ReplyError where that is spent."""
        try:
            self._portion.check()
        except BudgetSpent as spent:
            reason = f"a quarter of what was left is spent ({spent.limit}: {spent.value:g})"
            raise ReplyError(reason) from spent
        self.asked += 1
        reply = self._ask(request)
        self._portion.charge(reply.usage)
        return reply

    def noted(self, tool: AgentTool) -> AgentTool:
        """Return the tool with its observation cut and emitted as a note."""

        def call(**arguments: str) -> str:
            seen = visible(tool.call(**arguments))
            if len(seen) > LONGEST_OBSERVATION:
                half = LONGEST_OBSERVATION // 2 - 2
                seen = f"{seen[:half]}\n…\n{seen[-half:]}"
            self.used += 1
            last = seen.strip().rpartition("\n")[2]
            given, shown = _line(", ".join(arguments.values())), _line(last if "Traceback" in seen else seen)
            self._emit(Note(f"Debugger, step {self.asked}: {tool.name}({given}) showed: {shown}"))
            return seen

        return AgentTool(tool.name, tool.description, tool.inputs, call)


def _tools(failing: Failing, runner: CachedVerifier) -> list[AgentTool]:
    """Return the tools for one failing candidate. None writes a file, changes a test or asks a model."""
    leader, board = failing.leader, failing.board

    def run_snippet(code: str) -> str:
        files = {
            **runner.files_beside,
            "user_code.py": leader.code.encode("utf-8", "surrogatepass"),
            "snippet.py": code.encode("utf-8", "surrogatepass"),
        }
        with runner.sandbox.launch(Job(["-B", "/src/snippet.py"], files, _SNIPPET_LIMITS)) as running:
            ended = running.wait()
        text = (ended.stdout + ended.stderr).decode("utf-8", "replace").strip()
        how = f" ({ended.stopped})" if ended.stopped is not None else ""
        return f"{text or 'It printed nothing.'}{how}"

    def inspect_function(call: str) -> str:
        return trace(leader.code, call, runner.sandbox, runner.files_beside)

    def diff_attempts(a: str, b: str) -> str:
        codes = {candidate.id: candidate.code for candidate in board.candidates}
        if a not in codes or b not in codes:
            raise ValueError(f"the attempts are {', '.join(codes)}")
        lines = difflib.unified_diff(codes[a].splitlines(), codes[b].splitlines(), a, b, lineterm="", n=1)
        return "\n".join(lines) or "They are the same."

    def run_test(id: str) -> str:
        tests = {test.id: test for test in board.tests}
        if id not in tests:
            raise ValueError(f"the tests are {', '.join(tests)}")
        outcome = runner.board([leader], [tests[id]]).verdicts[0].outcome(id)
        return f"{outcome.status}: {outcome.detail}" if outcome.detail else outcome.status

    prints = "run Python code that imports user_code, and show what it prints"
    call, one, other = "an expression such as f(1, 2)", "an attempt's name", "another attempt's name"
    return [
        AgentTool("run_snippet", prints, {"code": "Python code"}, run_snippet),
        AgentTool("inspect_function", "trace one call line by line", {"call": call}, inspect_function),
        AgentTool("diff_attempts", "show how two attempts differ", {"a": one, "b": other}, diff_attempts),
        AgentTool("run_test", "run one test", {"id": "its name"}, run_test),
    ]


def trace_of_failure(leader: Candidate, failing: Sequence[tuple[Test, Outcome]], runner: CachedVerifier) -> str:
    """Return the trace of the first failing test that is one call without fixtures; empty without one."""
    for claim in (claim_of(test) for test, _ in failing):
        if claim is not None and not claim.fixtures:
            call = "\n".join([*claim.setup, claim.call])
            return trace(leader.code, call, runner.sandbox, runner.files_beside)
    return ""


def _task(failing: Failing) -> str:
    return render(
        "debug",
        spec=failing.spec.text.strip(),
        code=failing.leader.code.strip(),
        failures=[describe(test, outcome) for test, outcome in failing.failing[:SHOWN_FAILURES]],
        attempts=failing.attempts(),
        leader=failing.leader.id,
        tests=[test.id for test, _ in failing.failing[:SHOWN_TESTS]],
    )


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_NOTE else line[: _LONGEST_NOTE - 1] + "…"
