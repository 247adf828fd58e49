"""A cluster's worker without a cluster: it imports no Ray."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents import __version__
from agents.batch.ray.archive import pack, unpack
from agents.batch.ray.executor import RemoteRunner, for_the_cluster
from agents.batch.ray.worker import RayWorker, RemoteResult, RemoteTask
from agents.batch.records import Task
from agents.errors import UsageError
from agents.llm_backends.budget import TotalBudget
from agents.llm_backends.selection import Choice
from agents.records import Example, Signature, Spec, Usage
from agents.settings import Settings, Totals

from ..adders import Writer, writing
from ..made import entry

SPEC = Spec("add-7", "Implement add_7(x: int) -> int.", Signature("add_7", "function", "def add_7(x: int) -> int"))


def task() -> Task:
    example = Example("assert add_7(1) == 8", "add_7(1) == 8")
    spec = Spec(SPEC.id, SPEC.text, SPEC.signature, (example,))
    made = entry("add-7")
    return Task(type(made)(made.id, made.where, spec), "d1")


def settings(api_base: str) -> Settings:
    return Settings(model="openai/m", api_base=api_base, strategy="single", mutation=False)


def test_a_worker_sends_its_run_home_and_goes_on_with_what_it_is_sent(tmp_path: Path) -> None:
    writer = Writer()
    with writing(writer) as provider:
        worker = RayWorker(settings(provider.api_base), {"OPENAI_API_KEY": "k"})
        assert worker.open(__version__) is None
        first = worker.run(RemoteTask(task(), Totals()))
        assert first.run is not None
        again = worker.run(RemoteTask(task(), Totals(), first.run))
        worker.close()
    unpack(first.run, tmp_path / "run")
    assert (first.result.grade, again.result.grade) == ("verified", "verified")
    assert (tmp_path / "run" / "user_code.py").read_text() == "def add_7(x: int) -> int:\n    return x + 7\n"
    assert writer.asked == {7: 1}
    assert again.result.usage == first.result.usage


def test_a_worker_spends_no_more_than_what_is_left(tmp_path: Path) -> None:
    with writing(Writer()) as provider:
        worker = RayWorker(settings(provider.api_base), {"OPENAI_API_KEY": "k"})
        assert worker.open(__version__) is None
        delivery = worker.run(RemoteTask(task(), Totals(total_tokens=0)))
        worker.close()
    assert delivery.result.error is not None
    assert delivery.result.error.kind == "total_spent"
    assert provider.requests == []


def test_another_version_is_refused() -> None:
    refusal = RayWorker(Settings(), {}).open("0.0.0")
    assert refusal is not None
    assert "install the same on all" in refusal.message


def test_the_embedded_model_is_refused_on_a_cluster_but_for_its_cached_replies() -> None:
    choices = {role: Choice("embedded", "") for role in ("code_writer", "test_writer", "critic")}
    with pytest.raises(UsageError, match="give its address with --api-base"):
        for_the_cluster(Settings(), choices)  # type: ignore[arg-type]
    frozen = for_the_cluster(Settings(frozen=True, cache=Path("c")), choices)  # type: ignore[arg-type]
    assert frozen.cache == Path("c").absolute()


@pytest.mark.parametrize("link", ["", "replies"], ids=["the run", "a folder in it"])
def test_nothing_is_sent_or_kept_through_a_link_out_of_the_batch(tmp_path: Path, link: str) -> None:
    own, out, arrived = tmp_path / "own", tmp_path / "out", tmp_path / "arrived"
    for folder in (own / "rounds", (out / task().run).parent, arrived / "replies"):
        folder.mkdir(parents=True)
    (own / "run.json").write_text("mine")
    (arrived / "replies" / "run.json").write_text("another's")
    if link:
        (out / task().run).mkdir()
    (out / task().run / link).symlink_to(own)
    sent: list[bytes | None] = []

    class Pool:
        def run(self, make: Callable[[], RemoteTask]) -> RemoteResult:
            sent.append(make().run)
            return RemoteResult(task().unfinished(), pack(arrived))

    pool: Any = Pool()
    result = RemoteRunner(out, pool, TotalBudget(Totals(), Usage()), lambda *_: None)(task())
    assert result.error is not None
    assert "link out of" in result.error.message
    assert not any(sent)
    assert (own / "rounds").is_dir()
    assert (own / "run.json").read_text() == "mine"


def test_what_is_left_of_a_total() -> None:
    total = TotalBudget(Totals(total_tokens=10, total_cost=1.0), Usage(completion_tokens=4, cost_usd=2.0))
    assert total.left() == Totals(total_cost=0.0, total_tokens=6)


def test_a_run_without_files_is_an_empty_archive(tmp_path: Path) -> None:
    unpack(pack(tmp_path), tmp_path / "in")
    assert list((tmp_path / "in").iterdir()) == []
