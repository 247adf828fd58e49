"""`bench quixbugs` and `bench seeded-bugs`: what is shown, what judges, and what a claim counts for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agents.bench.quixbugs import (
    Program,
    QuixBugsTests,
    outputs,
    read_programs,
    shown,
    without_docstring,
)
from agents.bench.quixbugs_inputs import GENERATORS, inputs
from agents.bench.repairs import of_one_item, open_verifier, seeded_tasks
from agents.bench.tasks import read_tasks
from agents.errors import UsageError
from agents.sandbox import Sandbox
from agents.verifier import Verifier

from ..support.commands import ROOT, greenloop
from ..support.provider import Provider, Streams, serving
from ..support.written_model import data_file

CHECKOUT = ROOT.parent / "shared/benchmarks/quixbugs"
PROGRAMS = {one.name: one for one in read_programs(CHECKOUT)} if CHECKOUT.is_dir() else {}
with_quixbugs = pytest.mark.skipif(not PROGRAMS, reason=f"no checkout of QuixBugs at {CHECKOUT}")
BITCOUNT = PROGRAMS["bitcount"] if PROGRAMS else None
DOUBLE = {
    "task_id": "HumanEval/0",
    "prompt": 'def double(n):\n    """Double.\n\n    >>> double(2)\n    4\n    >>> double(3)\n    6\n    """\n',
    "entry_point": "double",
    "canonical_solution": "    return n * 2\n",
    "base_input": [[2]],
    "plus_input": [[3]],
    "atol": 0,
    "contract": "",
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        yield server


@pytest.fixture
def verifier(sandbox: Sandbox) -> Iterator[Verifier]:
    with closing(open_verifier(sandbox)) as opened:
        yield opened


@pytest.fixture
def tests(sandbox: Sandbox, verifier: Verifier) -> QuixBugsTests:
    return QuixBugsTests(PROGRAMS.values(), sandbox, verifier)


def as_reply(code: str) -> Streams:
    return Streams([f"```python\n{code}```\n"])


@with_quixbugs
def test_half_of_the_items_is_shown_and_one_of_them_fails() -> None:
    for program in PROGRAMS.values():
        names = list(program.items)
        visible = shown(program, names[-1:])
        assert names[-1] in visible
        assert {*visible} <= {*names}
        assert len({*visible}) == (len(names) + 1) // 2


@with_quixbugs
def test_the_comparisons_are_those_of_quixbugs() -> None:
    assert "pytest.approx" in PROGRAMS["sqrt"].tests(list(PROGRAMS["sqrt"].items))
    assert "(1, 3)" in PROGRAMS["hanoi"].tests(list(PROGRAMS["hanoi"].items))
    assert not any("amanaplanacanalpanama" in text for text in PROGRAMS["levenshtein"].items.values())
    assert '"""' not in without_docstring(PROGRAMS["bitcount"].buggy)


@pytest.mark.parametrize(
    "every", [pytest.param(4, marks=pytest.mark.thorough), pytest.param(1, marks=pytest.mark.slow)]
)
@with_quixbugs
def test_references_pass_and_buggy_and_broken_programs_fail(
    every: int, sandbox: Sandbox, verifier: Verifier
) -> None:
    programs = [*PROGRAMS.values()][::every]
    proof = QuixBugsTests(programs, sandbox, verifier).prove()
    assert proof.holds, str(proof)
    assert str(proof).startswith(f"{len(programs)} references pass all items")
    assert len(PROGRAMS) == 40


@pytest.mark.thorough
@with_quixbugs
def test_a_reference_that_fails_is_named(sandbox: Sandbox, verifier: Verifier) -> None:
    assert BITCOUNT is not None
    reference = BITCOUNT.reference.replace("count = 0", "count = 1")
    wrong = Program("bitcount", reference, reference, BITCOUNT.preamble, BITCOUNT.items)
    proof = QuixBugsTests([wrong], sandbox, verifier).prove()
    assert proof.wrong == ("bitcount: its reference fails",)


@with_quixbugs
def test_a_table_of_the_items_is_not_right(tests: QuixBugsTests) -> None:
    assert BITCOUNT is not None
    names = list(BITCOUNT.items)
    assert tests.judge("bitcount", BITCOUNT.reference, names).plus
    table = (
        "def bitcount(n):\n    return {127: 7, 128: 1, 3005: 9, 13: 3, 14: 3, 27: 4, 834: 4, 254: 7, 256: 1}[n]\n"
    )
    judged = tests.judge("bitcount", table, names)
    assert judged.base
    assert not judged.plus


def test_linked_nodes_reach_the_program_and_no_answer_does(sandbox: Sandbox) -> None:
    code = "def detect_cycle(node):\n    return node.successor is node\n"
    given = [text for text in inputs("detect_cycle") if "[0]" not in text][:3]
    found = outputs(sandbox, code, "detect_cycle", given)
    assert len(found) == 3
    assert {kind for kind, _ in found} <= {"value", "raises"}
    assert outputs(sandbox, "def f(n):\n    raise KeyError(n)\n", "f", ["(1,)"]) == (("raises", "KeyError"),)


def test_the_mutant_planted_fails_an_example(tmp_path: Path, verifier: Verifier) -> None:
    tasks = read_tasks(data_file(tmp_path, DOUBLE))
    (seeded,) = seeded_tasks(tasks, verifier)
    assert seeded.code != tasks[0].reference
    assert verifier.verify(seeded.code, seeded.tests).kind == "failed"
    assert verifier.verify(tasks[0].reference, seeded.tests).kind == "passed"
    assert seeded_tasks(tasks, verifier) == (seeded,)
    (one,) = of_one_item([seeded], verifier)
    assert (one.code, seeded.tests.count("def test"), one.tests.count("def test")) == (seeded.code, 2, 1)
    assert verifier.verify(one.code, one.tests).kind == "failed"


@pytest.mark.thorough
@with_quixbugs
@pytest.mark.timeout(600)
def test_the_command_counts_correct_repairs_and_false_fixes(tmp_path: Path, provider: Provider) -> None:
    assert BITCOUNT is not None
    table = (
        "def bitcount(n):\n    return {127: 7, 128: 1, 3005: 9, 13: 3, 14: 3, 27: 4, 834: 4, 254: 7, 256: 1}[n]\n"
    )
    provider.script(as_reply(table), *[as_reply(without_docstring(BITCOUNT.reference))] * 3)
    checkout = tmp_path / "quixbugs"
    shutil.copytree(CHECKOUT, checkout)
    buggy = BITCOUNT.reference.replace(
        "count = 0", "count = 1"
    )  # QuixBugs' own hangs, and each call of it with it
    (checkout / "python_programs/bitcount.py").write_text(buggy)
    arguments = ("bench", "quixbugs", "--data", str(checkout), "--limit", "1", "--out", str(tmp_path / "out"))
    model = ("--model", "openai/tiny-1b", "--api-base", provider.api_base)
    ended = greenloop(tmp_path, *arguments, *model, extra={"OPENAI_API_KEY": "k"}, seconds=300)
    assert ended.returncode == 0, ended.stderr
    results = json.loads((tmp_path / "out/results.json").read_text())
    by_name = {each["strategy"]: each for each in results["strategies"]}
    assert by_name["single"]["false_of_claims"]["count"] == 1
    assert by_name["greenloop"]["plus"]["count"] == 1
    assert "false fixes, of claims" in (tmp_path / "out/results.md").read_text()
    asked = len(provider.requests)
    again = greenloop(tmp_path, *arguments, *model, extra={"OPENAI_API_KEY": "k"})
    assert again.returncode == 0
    assert len(provider.requests) == asked


def test_a_folder_that_is_no_checkout_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no checkout of QuixBugs; git clone"):
        read_programs(tmp_path)
    ended = greenloop(tmp_path, "bench", "quixbugs", "--data", str(tmp_path))
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


def test_items_in_each_other_without_end_are_one_sentence(tmp_path: Path) -> None:
    for folder in ("python_programs", "correct_python_programs", "json_testcases"):
        (tmp_path / folder).mkdir()
        for name in GENERATORS:
            (tmp_path / folder / f"{name}.py").write_text("")
            (tmp_path / folder / f"{name}.json").write_text("[" * 100_000)
    with pytest.raises(UsageError, match=r"the items of .+ can't be read"):
        read_programs(tmp_path)
