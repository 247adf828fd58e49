"""Specs of a batch that need each other: their order, what they are given, and what becomes of them without it."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from agents.batch.journal import Journal

from ..support.commands import greenloop, in_background, processes_with
from ..support.playback import wait_until
from ..support.provider import Provider, serving
from .adders import KEY
from .chains import OPTIONS, ChainWriter, write_chain
from .made import integrity

pytestmark = pytest.mark.timeout(600)


def arguments(provider: Provider, *more: str) -> tuple[str, ...]:
    return "batch", "specs", "--out", "out", "--api-base", provider.api_base, *OPTIONS, *more


def run(directory: Path, provider: Provider, *more: str) -> dict[str, object]:
    ended = greenloop(directory, *arguments(provider, "--json", *more), extra=KEY, seconds=240)
    document: dict[str, object] = json.loads(ended.stdout)
    return document


def code_of(directory: Path, number: int) -> str:
    return (directory / f"out/specs/link-{number}/user_code.py").read_text()


@pytest.mark.thorough
def test_five_specs_are_done_in_their_order_each_with_the_code_of_those_before(tmp_path: Path) -> None:
    write_chain(tmp_path, 5)
    writer = ChainWriter()
    with serving() as provider:
        provider.script(writer)
        document = run(tmp_path, provider, "--jobs", "3")
        assert (document["exit_code"], document["counts"]) == (0, {"verified": 5})
        assert writer.asked == [0, 1, 2, 3, 4]
        assert "It may import from the user" not in writer.texts[0]
        assert "def link_1(x: int) -> int" in writer.texts[2]
        assert run(tmp_path, provider)["exit_code"] == 0
        assert writer.asked == [0, 1, 2, 3, 4], "nothing is done twice"
    assert code_of(tmp_path, 4).startswith("from link_3 import link_3")


@pytest.mark.thorough
def test_what_needs_a_spec_that_fell_short_is_blocked_until_that_is_mended(tmp_path: Path) -> None:
    folder = write_chain(tmp_path, 4)
    writer = ChainWriter()
    writer.wrong.add(1)
    with serving() as provider:
        provider.script(writer)
        document = run(tmp_path, provider)
        assert (document["exit_code"], document["counts"]) == (1, {"blocked": 2, "failed": 1, "verified": 1})
        assert writer.asked == [0, 1]
        lines = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
        why = {line["id"]: line["why"] for line in lines if line["status"] == "blocked"}
        assert why == {
            "link-2": "It needs `link-1`, which ended failed.",
            "link-3": "It needs `link-2`, which ended blocked.",
        }
        assert '<skipped message="blocked: It needs `link-1`' in (tmp_path / "out/junit.xml").read_text()
        assert "(blocked," in (tmp_path / "out/summary.md").read_text()
        assert "blocked" in (tmp_path / "out/report.html").read_text()
        assert "2 blocked" in greenloop(tmp_path, "batch", "status", "out").stdout
        writer.wrong.clear()
        mended = folder / "3.md"
        mended.write_text(mended.read_text() + "\nMind the sign.\n")
        document = run(tmp_path, provider)
        assert (document["exit_code"], document["counts"]) == (0, {"verified": 4})
    assert writer.asked == [0, 1, 1, 2, 3]


@pytest.mark.thorough
def test_another_code_of_what_it_needs_makes_a_result_count_no_more(tmp_path: Path) -> None:
    folder = write_chain(tmp_path, 3)
    writer = ChainWriter()
    with serving() as provider:
        provider.script(writer)
        assert run(tmp_path, provider)["exit_code"] == 0
        first = folder / "3.md"
        first.write_text(first.read_text() + "\nMind the sign.\n")
        assert run(tmp_path, provider)["exit_code"] == 0
        assert writer.asked == [0, 1, 2, 0], "the same code again leaves what was made with it"
        for own in (tmp_path / "out/specs/link-0/runs").glob("*/user_code.py"):
            own.write_text("def link_0(x: int) -> int:\n    return x + 0\n")
        assert run(tmp_path, provider)["exit_code"] == 0
    assert writer.asked == [0, 1, 2, 0, 1, 2], "link-2 is given link-0 too"


@pytest.mark.thorough
def test_killed_at_random_and_gone_on_with_the_result_is_the_same(tmp_path: Path) -> None:
    chance = random.Random(12)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with serving() as provider:
        provider.script(ChainWriter(pause=0.05))
        for directory in (whole, killed):
            directory.mkdir()
            write_chain(directory, 5)
        assert run(whole, provider)["exit_code"] == 0
        for _ in range(4):
            with in_background(killed, *arguments(provider, "--jobs", "2"), extra=KEY) as process:
                time.sleep(chance.uniform(0.5, 6))
                process.kill()
            assert wait_until(lambda: not processes_with(str(killed)), 20)
        document = run(killed, provider, "--jobs", "2")
    assert (document["exit_code"], document["counts"]) == (0, {"verified": 5})
    with Journal(killed / "out", read_only=True) as one, Journal(whole / "out", read_only=True) as other:
        assert integrity(one) == "ok"
        assert {result.id: result.digest for result in one.results()} == {
            result.id: result.digest for result in other.results()
        }
    for number in range(5):
        assert code_of(killed, number) == code_of(whole, number)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("with: [b]", "with: [a]", "Specs need each other in a circle: `a` needs `b` needs `a`"),
        ("with: [a]", "", "in a circle: `a` needs `a`"),
        ("with: [c]", "", "`c` is neither the id of a spec in this batch nor a file"),
    ],
)
def test_circles_and_unknown_ids_are_refused_before_anything_runs(
    tmp_path: Path, first: str, second: str, said: str
) -> None:
    (tmp_path / "a.md").write_text(f"---\nid: a\n{first}\n---\nImplement f(x: int) -> int.\n")
    (tmp_path / "b.md").write_text(f"---\nid: b\n{second}\n---\nImplement g(x: int) -> int.\n")
    for more in (("--check",), ("--out", "out", "--model", "recorded:none")):
        ended = greenloop(tmp_path, "batch", "a.md", "b.md", *more)
        assert ended.returncode == 2
        assert said in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()


def test_specs_that_need_each_other_are_in_one_shard(tmp_path: Path) -> None:
    write_chain(tmp_path, 5)
    counts = []
    for number in (1, 2, 3):
        share = greenloop(tmp_path, "batch", "specs", "--check", "--shard", f"{number}/3")
        counts.append(share.stdout.count("link-") > 0)
    assert counts.count(True) == 1
