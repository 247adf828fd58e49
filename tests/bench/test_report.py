"""The files of a report are read as they are meant to be: by people, by programs, by EvalPlus."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agents.bench.figures import tables
from agents.bench.report import document, samples, write_report

from .observed import RIGHT, WRONG, result, results

FOUND = [
    *results("single", [RIGHT, WRONG]),
    *[
        result(number, "best-of-n", seed=seed, grade="verified", claimed=True)
        for seed in (1, 0)
        for number in (0, 1)
    ],
]
READ = """
import importlib.util, json, sys, types
for name in ("tempdir", "wget", "appdirs"):  # for downloads: reading a file needs none of them
    sys.modules[name] = types.ModuleType(name)
sys.modules["appdirs"].user_cache_dir = str
place = importlib.util.find_spec("evalplus").submodule_search_locations[0] + "/data/utils.py"
spec = importlib.util.spec_from_file_location("utils", place)
utils = importlib.util.module_from_spec(spec)
spec.loader.exec_module(utils)
print(json.dumps([[sample["task_id"], sample["solution"]] for sample in utils.load_solutions(sys.argv[1])]))
"""


def test_a_report_is_a_page_a_document_and_samples(tmp_path: Path) -> None:
    written = write_report(tables(FOUND), FOUND, tmp_path / "new")
    names = ["results.md", "results.json", "samples-single.jsonl", "samples-best-of-n.jsonl"]
    assert [path.name for path in written] == names
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)
    assert written[0].read_text("utf-8").startswith("# HumanEval+\n")


def test_the_document_has_a_version_the_figures_and_every_observation(tmp_path: Path) -> None:
    write_report(tables(FOUND), FOUND, tmp_path)
    read = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert read == json.loads(json.dumps(document(tables(FOUND), FOUND)))
    assert (read["schema_version"], read["confidence"], read["title"]) == (1, 0.95, "HumanEval+")
    assert [row["strategy"] for row in read["strategies"]] == ["single", "best-of-n"]
    plus = read["strategies"][0]["plus"]
    assert (plus["count"], plus["total"], plus["share"]) == (1, 2, 0.5)
    assert plus["interval"]["low"] == 0.094531
    assert len(read["results"]) == len(FOUND)
    first = read["results"][0]
    assert first["hidden"] == {"base": True, "plus": True}
    assert first["usage"]["completion_tokens"] == 100
    assert "solution" not in first


def test_a_sample_is_a_line_with_what_the_strategy_says_of_it() -> None:
    (line,) = samples([result(3, "greenloop", grade="verified", claimed=True)]).splitlines()
    assert json.loads(line) == {
        "task_id": "HumanEval/3",
        "solution": "def f():\n    return 3\n",
        "grade": "verified",
        "claimed": True,
        "seed": 0,
    }


def test_seeds_are_lines_of_the_same_task_in_their_order() -> None:
    lines = [json.loads(line) for line in samples(FOUND[2:]).splitlines()]
    assert [(line["task_id"], line["seed"]) for line in lines] == [
        ("HumanEval/0", 0),
        ("HumanEval/1", 0),
        ("HumanEval/0", 1),
        ("HumanEval/1", 1),
    ]


def test_a_task_without_a_solution_has_a_sample_too() -> None:
    (line,) = samples([replace(result(), solution="")]).splitlines()
    assert json.loads(line)["solution"] == ""


@pytest.mark.skipif(importlib.util.find_spec("evalplus") is None, reason="evalplus is not installed (extra bench)")
def test_evalplus_reads_the_samples_as_they_are(tmp_path: Path) -> None:
    odd = [replace(one, solution="x = 'ä\u2028\\n'\n") for one in FOUND[2:]]
    write_report(tables(odd), odd, tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "samples-best-of-n.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ended.stdout.splitlines()[-1]) == [
        [task, "x = 'ä\u2028\\n'\n"] for _ in range(2) for task in ("HumanEval/0", "HumanEval/1")
    ]
