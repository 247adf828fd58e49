"""A batch run again with another model: what was finished stays, until --redo; what fails replaces nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.batch.journal import Journal
from agents.batch.records import Entry, Task
from agents.batch.supply import Supplier
from agents.records import Failure

from ..support.commands import greenloop
from ..support.provider import Fails, serving
from .adders import KEY, OPTIONS, Writer, write_specs
from .made import entry, verified

pytestmark = pytest.mark.timeout(600)
FIRST, SECOND = "spec-work-first", "spec-work-second"


def supplied(journal: Journal, digest: str, *, redo: bool = False) -> Supplier:
    supplier = Supplier(journal.path.parent, [entry("a")], journal, lambda _: digest, "consensus", redo=redo)
    journal.plan([Task.planned(entry("a"), supplier.digests["a"])])
    return supplier


def done(directory: Path, digest: str = FIRST) -> Journal:
    """A journal in which the entry was finished by the first model."""
    journal = Journal(directory)
    supplied(journal, digest)
    journal.end(replace(verified(journal.begin("a")), model="first"))
    return journal


def test_what_another_model_finished_stays_and_is_named(tmp_path: Path) -> None:
    with done(tmp_path) as journal:
        supplier = supplied(journal, SECOND)
        assert journal.pending() == []
        assert [(result.digest, result.model) for result in journal.results()] == [(FIRST, "first")]
        assert list(supplier.others) == ["a"]


def test_it_is_done_again_where_that_is_wanted(tmp_path: Path) -> None:
    with done(tmp_path) as journal:
        assert supplied(journal, SECOND, redo=True).others == {}
        assert journal.pending() == ["a"]


@pytest.mark.parametrize("digest", ["spec-other-first", "spec-other-second"])
def test_other_settings_do_it_again(tmp_path: Path, digest: str) -> None:
    with done(tmp_path) as journal:
        assert supplied(journal, digest).others == {}
        assert journal.pending() == ["a"]


def test_an_attempt_that_comes_to_no_end_takes_no_results_place(tmp_path: Path) -> None:
    """The control: of a changed spec the attempt is all there is."""
    for digest, status in ((SECOND, "finished"), ("other-work-first", "stopped")):
        folder = tmp_path / status
        folder.mkdir()
        with done(folder) as journal:
            supplied(journal, digest, redo=True)
            stopped = verified(journal.begin("a"))
            journal.end(replace(stopped, status="stopped", grade=None, error=Failure("network", "It is silent.")))
            (result,) = journal.results()
            assert result.status == status
            assert (result.attempt is not None) == (status == "finished")
            assert journal.pending() == ["a"]


def test_a_newer_finished_result_counts(tmp_path: Path) -> None:
    with done(tmp_path) as journal:
        supplied(journal, SECOND, redo=True)
        journal.end(replace(verified(journal.begin("a")), grade="contested", model="second"))
        assert [(each.grade, each.model) for each in journal.results()] == [("contested", "second")]
        assert supplied(journal, SECOND).others == {}, "the model of today has finished it itself"
        assert [each.model for each in journal.results()] == ["second"]


def batch(directory: Path, *more: str, model: str = "openai/embedded") -> dict[str, Any]:
    arguments = ("specs", "--out", "out", "--model", model, *OPTIONS[2:], *more, "--json")
    ended = greenloop(directory, "batch", *arguments, extra=KEY, seconds=90)
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


def reported(directory: Path) -> list[tuple[str, str]]:
    lines = (directory / "out/results.jsonl").read_text().splitlines()
    return [(line["grade"], line["model"]) for line in map(json.loads, lines)]


@pytest.mark.thorough
def test_a_forgotten_server_and_a_dead_one_cost_no_result(tmp_path: Path) -> None:
    write_specs(tmp_path, 2)
    writer = Writer()
    with serving() as provider:
        provider.script(writer)
        server = ("--api-base", provider.api_base)
        assert batch(tmp_path, *server)["exit_code"] == 0
        first = reported(tmp_path)
        code = (tmp_path / "out/specs/add-0/user_code.py").read_text()
        again = batch(tmp_path, *server, model="openai/other")
        assert (again["exit_code"], reported(tmp_path), sum(writer.asked.values())) == (0, first, 2)
        (note,) = again["notes"]
        assert note.startswith(
            "2 finished results were made by another model (openai/embedded) and stay: add-0, add-1"
        )
        provider.script(lambda handler: Fails(401, "dead")(handler))
        failed = batch(tmp_path, *server, "--redo", model="openai/other")
        assert failed["exit_code"] != 0
        assert reported(tmp_path) == first
        assert "came to no end, so the earlier results stay" in failed["notes"][-1]
        assert (tmp_path / "out/specs/add-0/user_code.py").read_text() == code
        provider.script(writer)
        redone = batch(tmp_path, *server, "--redo", model="openai/other")
        assert (redone["exit_code"], redone["notes"]) == (0, [])
        assert reported(tmp_path) == [("verified", "openai/other")] * 2


def test_entry_of_no_spec_has_no_other_model(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        unread = Entry("bad-1", "x.md", None, "x.md is empty")
        supplier = Supplier(tmp_path, [unread], journal, lambda _: "d1", "consensus")
        assert (supplier.digests, supplier.others) == ({"bad-1": "d1"}, {})
