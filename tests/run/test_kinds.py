"""One spec of each kind, from its text to its grade: real loop, judge and sandbox, replies that were written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import SandboxUnavailable
from agents.events import Event, Note
from agents.judge.leader_view import SUCCESSES
from agents.loop.orchestrator import orchestrate
from agents.loop.plan import plan
from agents.records import RoundRecord, SpecLimits
from agents.roles.kinds import kind_of
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.spec import read_spec
from agents.verifier.cached_verifier import CachedVerifier

from ..support.loop_parts import GOOD_TESTS, Model, loop_state, suite

CASES = {path.stem: path.read_text("utf-8") for path in sorted(Path(__file__).with_name("kinds").glob("*.md"))}
WITHOUT_PROBES = ("enum",)
"""Their tests compare with no plain value."""
EVERYDAY = ("async", "class", "enum", "exceptions", "files", "generator", "program")
PLAN = replace(plan(Settings(effort="low"), SpecLimits()), max_rounds=2)


@pytest.fixture(scope="module")
def verifier() -> Iterator[CachedVerifier]:
    try:
        sandbox = open_sandbox()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    made = CachedVerifier(sandbox)
    yield made
    made.close()
    sandbox.close()


def parts_of(case: str) -> dict[str, str]:
    """A case's spec, and its right and wrong module, tests and expected end."""
    spec, *named = re.split(r"^===== (\w+)\n", CASES[case], flags=re.MULTILINE)
    return {"spec": spec, **dict(zip(named[::2], named[1::2], strict=True))}


def ended(case: str, drafts: list[str], verifier: CachedVerifier) -> RoundRecord:
    """The last round of a run in which the model writes `drafts`, by name, and the case's tests."""
    parts = parts_of(case)
    model = Model(draft=[parts[name] for name in drafts], tests=[parts["tests"]])
    state, archive = loop_state(model, PLAN, read_spec(parts["spec"], origin="argument"), verifier=verifier)
    orchestrate(state)
    return archive.rounds[-1]


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case in EVERYDAY else pytest.mark.thorough) for case in CASES]
)
def test_right_drafts_get_the_grade_and_its_isolation(case: str, verifier: CachedVerifier) -> None:
    last = ended(case, ["right"] * 4, verifier)
    grade, isolation = parts_of(case)["expect"].split()
    assert last.ruling.grade == grade, last.ruling.why
    assert {verdict.isolation for verdict in last.board.verdicts} == {isolation}
    assert ("one process" in last.ruling.why) is (isolation == "in-process")
    assert ("No input beyond" in last.ruling.why) is (last.probes is None) is (case in WITHOUT_PROBES)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case in ("class", "files") else pytest.mark.thorough) for case in CASES],
)
def test_wrong_drafts_are_not_claimed(case: str, verifier: CachedVerifier) -> None:
    assert ended(case, ["wrong"] * 4, verifier).ruling.grade not in SUCCESSES
    assert ended(case, ["right", "wrong", "right", "wrong"], verifier).ruling.grade not in SUCCESSES


def test_the_test_writer_is_told_the_form_of_each_kind() -> None:
    kinds = {case: kind_of(read_spec(parts_of(case)["spec"], origin="argument")) for case in CASES}
    assert kinds["class"] == kinds["context_manager"] == kinds["dataclass"] == "class"
    own = ("async", "files", "generator", "printing", "program")
    assert {case: kinds[case] for case in own} == {case: case for case in own}


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        ("return 2 * x", []),
        ("return 2.0 * x", ["Line 7 of the tests takes 0.0 for 0: equal, but of another type"]),
        (
            "return {0: 0, 1: 2, 3: 6, -2: -4}.get(x, 2 * x)",
            ["The code holds 4 of the tests' 4 inputs as they are"],
        ),
    ],
)
def test_a_run_notes_what_verify_notes_on_the_files_that_it_delivers(
    body: str, notes: list[str], verifier: CachedVerifier
) -> None:
    weak = "\ndef test_weak():\n    assert double(3) > 0\n"
    model = Model(draft=[f"def double(x: int) -> int:\n    {body}\n"] * 5, tests=[suite(*GOOD_TESTS) + weak])
    told: list[Event] = []
    state, archive = loop_state(model, PLAN, told=told, verifier=verifier)
    orchestrate(state)
    found = [event.text for event in told if isinstance(event, Note)]
    assert all(text.startswith(note) for text, note in zip(found, notes, strict=True)), found
    assert archive.tests[-1].id == "test_weak", "how little one test notices is no note on a run"
