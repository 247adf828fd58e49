"""`heal:` entries of a batch: beside specs, with the same journal and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..support.commands import greenloop
from ..support.provider import Provider, Streams, serving

BROKEN = "numbers = [3, 1, 2]\nprint('largest', max(number))\n"
FIXED = "numbers = [3, 1, 2]\nprint('largest', max(numbers))\n"
LIST = """\
- heal: broken.py
  id: largest
  expect: largest 3
- heal: fine.py
- heal: needs.py
  env: [GREENLOOP_TEST_PLACE]
- heal: absent.py
- heal: broken.py
  expects: largest 3
"""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        server.script(*[Streams([f"```python\n{FIXED}```\n"])] * 4)
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "fine.py").write_text("print('well')\n")
    (tmp_path / "needs.py").write_text("import os\nprint(os.environ['GREENLOOP_TEST_PLACE'])\n")
    (tmp_path / "list.yaml").write_text(LIST)
    return tmp_path


def run(folder: Path, provider: Provider, *more: str, extra: dict[str, str] | None = None) -> tuple[int, Any]:
    model = ("--model", "openai/tiny-1b", "--api-base", provider.api_base)
    keyed = {"OPENAI_API_KEY": "k", **(extra or {})}
    ended = greenloop(folder, "batch", "list.yaml", "--out", "out", "--json", *model, *more, extra=keyed)
    assert "Traceback (most recent" not in ended.stderr, ended.stderr
    return ended.returncode, json.loads(ended.stdout)


def test_heals_end_with_their_grades_and_bad_items_with_a_reason(folder: Path, provider: Provider) -> None:
    code, document = run(folder, provider, extra={"GREENLOOP_TEST_PLACE": "here"})
    assert code == 1
    by_id = {each["id"].split("-")[0]: each for each in document["results"] if not each["id"].startswith("heal")}
    healthy = {each["title"]: each for each in document["results"] if each["heal"] == "healthy"}
    assert by_id["largest"]["grade"] == "contested"  # one patch, and nothing that it could be tried on
    assert by_id["largest"]["exit_code"] == 1
    assert set(healthy) == {"heal fine.py", "heal needs.py"}
    assert all(each["exit_code"] == 0 for each in healthy.values())
    bad = [each["why"] for each in document["results"] if each["status"] == "bad"]
    assert any("absent.py" in why for why in bad)
    assert any("did you mean `expect`?" in why for why in bad)
    assert document["counts"] == {"bad": 2, "contested": 1, "healthy": 2}
    assert (folder / "broken.py").read_text() == BROKEN
    run_folder = folder / "out" / by_id["largest"]["run"]
    assert "+print('largest', max(numbers))" in (run_folder / "heal.patch").read_text()
    assert "healthy" in (folder / "out/report.html").read_text()


@pytest.mark.thorough
def test_what_is_done_is_not_done_again_until_its_file_changes(folder: Path, provider: Provider) -> None:
    run(folder, provider, extra={"GREENLOOP_TEST_PLACE": "here"})
    asked = len(provider.requests)
    run(folder, provider, extra={"GREENLOOP_TEST_PLACE": "here"})
    assert len(provider.requests) == asked
    (folder / "broken.py").write_text(BROKEN.replace("[3, 1, 2]", "[3, 0, 2]"))
    run(folder, provider, extra={"GREENLOOP_TEST_PLACE": "here"})
    assert len(provider.requests) > asked


@pytest.mark.thorough
def test_a_variable_that_is_not_set_is_said(folder: Path, provider: Provider) -> None:
    _, document = run(folder, provider)
    (named,) = [each for each in document["results"] if each["title"] == "heal needs.py"]
    assert named["status"] == "stopped"
    assert "GREENLOOP_TEST_PLACE is not set" in named["error"]["message"]


@pytest.mark.thorough
def test_a_heal_whose_budget_is_spent_keeps_its_patch(folder: Path, provider: Provider) -> None:
    (folder / "list.yaml").write_text("- heal: broken.py\n")
    _, document = run(folder, provider, "--max-tokens", "5")
    (stopped,) = document["results"]
    assert (stopped["status"], stopped["exit_code"], stopped["grade"]) == ("stopped", 5, None)
    assert "+print('largest', max(numbers))" in (folder / "out" / stopped["run"] / "heal.patch").read_text()


def test_check_lists_heals_and_asks_nothing(folder: Path, provider: Provider) -> None:
    ended = greenloop(folder, "batch", "list.yaml", "--check")
    assert ended.returncode == 1
    assert "largest (list.yaml:1): heal broken.py" in ended.stderr + ended.stdout
    assert provider.requests == []


def test_an_id_that_is_no_folders_name_is_refused_as_of_a_spec(folder: Path) -> None:
    (folder / "list.yaml").write_text("- heal: broken.py\n  id: con\n")
    ended = greenloop(folder, "batch", "list.yaml", "--check")
    assert ended.returncode == 2
    assert "the id `con` is a reserved name on Windows" in ended.stderr + ended.stdout
