"""`verify` on a user's own files, as a process: exit codes, and the JSON document."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import open_sandbox
from agents.sandbox.inside.processes import tree

from ..support.commands import ROOT, command, environment, greenloop

RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a - b\n"
HANGING = "def add(a, b):\n    while True:\n        pass\n"
TESTS = "from user_code import add\n\ndef test_a():\n    assert add(1, 2) == 3\n"
IN_ONE_PROCESS = TESTS + "\ndef test_b(monkeypatch):\n    monkeypatch.chdir('.')\n    assert add(2, 2) == 4\n"
SKIPPING = f"import pytest\n{TESTS}\n@pytest.mark.skip\ndef test_b():\n    assert add(1, 1) == 2\n"

Document = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def _a_sandbox() -> None:
    try:
        open_sandbox()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no sandbox here: {unavailable}")


def verified(
    directory: Path, code: str, tests: str, *options: str, extra: Mapping[str, str] | None = None
) -> tuple[int, Document]:
    """The exit code and the document; nothing else may be on standard output."""
    (directory / "code.py").write_text(code)
    (directory / "tests.py").write_text(tests)
    ended = greenloop(directory, "verify", "code.py", "tests.py", "--json", *options, extra=extra)
    document: Document = json.loads(ended.stdout)
    return ended.returncode, document


def test_right_code_is_exit_0_with_every_field_of_a_verdict(tmp_path: Path) -> None:
    exit_code, document = verified(tmp_path, RIGHT, TESTS)
    assert (exit_code, document["verdict"], document["error"]) == (0, "passed", None)
    assert document["tests"] == [{"id": "test_a", "outcome": "passed", "detail": ""}]
    assert (document["refused"], document["stopped"]) == ([], None)
    assert document["notes"] == ["The tests ask the code once: code that gets just that right would pass them."]
    assert (document["schema_version"], document["isolation"]) == (1, "isolated")
    assert document["backend"] in ("bubblewrap", "native")
    assert document["limits"]["wall_seconds"] == 10
    assert document["seconds"] > 0
    assert math.isfinite(document["seconds"])


def test_the_readmes_example_passes(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Verify\n") :]
    for name, block in zip(("ages.py", "test_ages.py"), section.split("```python\n")[1:3], strict=True):
        (tmp_path / name).write_text(block.split("```")[0])
    arguments = section.split("```console\npython main.py ")[1].split("\n")[0]
    ended = greenloop(tmp_path, *arguments.split())
    assert (ended.returncode, "noticed" in ended.stdout) == (0, True), ended.stdout


def test_tests_may_import_the_file_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(RIGHT)
    (tmp_path / "test_calc.py").write_text(TESTS.replace("user_code", "calc"))
    ended = greenloop(tmp_path, "verify", "calc.py", "test_calc.py")
    assert ended.returncode == 0, ended.stdout
    (tmp_path / "test_calc.py").write_text(TESTS.replace("user_code", "other"))
    ended = greenloop(tmp_path, "verify", "calc.py", "test_calc.py")
    assert ended.returncode == 1
    assert "it imports other.add, neither user_code nor named (--packages, --with)" in ended.stdout


def test_code_may_import_a_module_that_is_given_with_it(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text("def total(a, b):\n    return a + b\n")
    code = "import sums\n\n\ndef add(a, b):\n    return sums.total(a, b)\n"
    exit_code, document = verified(tmp_path, code, TESTS, "--with", "sums.py")
    assert (exit_code, document["verdict"], document["error"]) == (0, "passed", None)


@pytest.mark.parametrize("beside", ["sums.py", "sums"])
def test_a_module_beside_the_code_that_is_not_given_is_named(tmp_path: Path, beside: str) -> None:
    (tmp_path / beside).write_text("") if beside.endswith(".py") else (tmp_path / beside).mkdir()
    code = "from sums import add\nimport not_there\n"
    exit_code, document = verified(tmp_path, code, TESTS)
    assert exit_code == 1
    assert document["notes"] == [f"{beside} lies beside the code, which does not get it; give it: --with {beside}"]


def test_a_module_that_lies_nowhere_is_not_spoken_of(tmp_path: Path) -> None:
    assert verified(tmp_path, "from sums import add\n", TESTS)[1]["notes"] == []


def test_wrong_code_is_exit_1_with_the_facts_of_the_failure(tmp_path: Path) -> None:
    exit_code, document = verified(tmp_path, WRONG, TESTS)
    assert (exit_code, document["verdict"]) == (1, "failed")
    (test,) = document["tests"]
    assert (test["id"], test["outcome"]) == ("test_a", "failed")
    assert "got -1, expected 3" in test["detail"]


def test_a_skipped_test_is_exit_1_and_refused_with_the_reason(tmp_path: Path) -> None:
    exit_code, document = verified(tmp_path, RIGHT, SKIPPING)
    assert (exit_code, document["verdict"]) == (1, "refused")
    (refusal,) = document["refused"]
    assert refusal["id"] == "test_b"
    assert "skip" in refusal["reason"]


def test_the_document_says_what_each_test_noticed(tmp_path: Path) -> None:
    _, document = verified(tmp_path, RIGHT, TESTS)
    assert document["strength"]
    assert all(0 < one["noticed"] <= one["tried"] for one in document["strength"])


def test_the_lower_assurance_of_one_process_is_told(tmp_path: Path) -> None:
    exit_code, document = verified(tmp_path, RIGHT, IN_ONE_PROCESS)
    assert (exit_code, document["verdict"], document["isolation"]) == (0, "passed", "in-process")


@pytest.mark.thorough
def test_a_limit_that_was_overrun_is_exit_1_and_named(tmp_path: Path) -> None:
    exit_code, document = verified(tmp_path, HANGING, TESTS, "--seconds", "3")
    assert (exit_code, document["verdict"]) == (1, "stopped")
    assert document["limits"]["wall_seconds"] == 3
    assert document["stopped"]["limit"] == "wall"
    assert document["stopped"]["value"] >= document["stopped"]["allowed"]


@pytest.mark.parametrize("name", ["code.py", "tests.py"])
def test_a_missing_file_is_exit_2(tmp_path: Path, name: str) -> None:
    (tmp_path / ({"code.py": "tests.py", "tests.py": "code.py"}[name])).write_text("")
    ended = greenloop(tmp_path, "verify", "code.py", "tests.py")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert name in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_missing_file_is_a_document_too(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "verify", "code.py", "tests.py", "--json")
    document = json.loads(ended.stdout)
    assert ended.returncode == 2
    assert (document["schema_version"], document["verdict"], document["error"]["kind"]) == (1, None, "usage")
    assert "code.py" in document["error"]["message"]


def test_no_sandbox_is_exit_4_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing = {"PATH": str(tmp_path / "empty")}
    exit_code, document = verified(tmp_path, RIGHT, TESTS, "--sandbox", "bubblewrap", extra=nothing)
    assert (exit_code, document["verdict"], document["error"]["kind"]) == (4, None, "sandbox_unavailable")
    assert "install bubblewrap" in document["error"]["message"]


def test_an_interrupt_is_exit_130_and_a_document(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(HANGING)
    (tmp_path / "tests.py").write_text(TESTS)
    arguments = command("verify", "code.py", "tests.py", "--json", "--seconds", "60")
    with subprocess.Popen(
        arguments, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as tool:
        end = time.monotonic() + 30
        while len(tree(tool.pid)) == 1 and time.monotonic() < end:  # nothing runs in a sandbox yet
            time.sleep(0.01)
        tool.send_signal(signal.SIGINT)
        output, _ = tool.communicate(timeout=30)
    document = json.loads(output)
    assert (tool.returncode, document["verdict"], document["error"]["kind"]) == (130, None, "interrupted")


def test_without_json_a_person_reads_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(WRONG)
    (tmp_path / "tests.py").write_text(TESTS)
    ended = greenloop(tmp_path, "verify", "code.py", "tests.py")
    assert ended.returncode == 1
    assert "got -1, expected 3" in ended.stdout
    assert "failed: 1 of 1 tests fail" in ended.stdout


def test_no_protection_is_warned_of_and_recorded(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(RIGHT)
    (tmp_path / "tests.py").write_text(TESTS)
    ended = greenloop(tmp_path, "verify", "code.py", "tests.py", "--json", "--sandbox", "none")
    assert (ended.returncode, json.loads(ended.stdout)["backend"]) == (0, "none")
    assert "No sandbox" in ended.stderr
