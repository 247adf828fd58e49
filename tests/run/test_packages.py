"""Specs with packages and modules of the user's from start to end, on a provider that answers by script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.errors import UsageError
from agents.sandbox.interpreter import this_interpreter
from agents.sandbox.packages import find_packages

from ..support.commands import greenloop, replayed
from ..support.interpreters import with_packages
from ..support.provider import Provider, Streams, serving

PACKAGE_SPECS = Path(__file__).parent / "packages"
AVERAGE = """\
import numpy as np


def moving_average(xs: list[float], n: int) -> list[float]:
    return np.convolve(np.asarray(xs, dtype=float), np.ones(n) / n, mode="valid").tolist()
"""
AVERAGE_SPEC = """\
Implement moving_average(xs: list[float], n: int) -> list[float], the moving average of a 1-D array.
moving_average([1.0, 2.0, 3.0, 6.0], 3) == [2.0, 3.6666666666666665]
"""
TOTALS = """\
import pandas as pd


def monthly_totals(rows: list[dict]) -> dict[str, float]:
    frame = pd.DataFrame(rows)
    months = pd.to_datetime(frame["day"]).dt.strftime("%Y-%m")
    return {str(month): float(total) for month, total in frame["value"].groupby(months).sum().items()}
"""
TOTALS_SPEC = """\
Implement monthly_totals(rows: list[dict]) -> dict[str, float], the monthly totals of a DataFrame of the rows.
monthly_totals([{"day": "2026-01-31", "value": 1.0}, {"day": "2026-01-01", "value": 2.5}]) == {"2026-01": 3.5}
"""
AREA = "from shapes import Circle\n\n\ndef area(r: int) -> int:\n    return Circle(r).area()\n"
SHAPES = """\
class Circle:
    \"\"\"A circle of a radius.\"\"\"

    def __init__(self, r: int) -> None:
        self.r = r

    def area(self) -> int:
        \"\"\"Three times the square of the radius.\"\"\"
        return 3 * self.r**2
"""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as opened:
        yield opened


def answering(provider: Provider, code: str, tests: str) -> None:
    """Answer for code with `code`, and for tests with `tests`."""

    def answer(handler: Any) -> None:
        asked = str(handler.body["messages"][-1]["content"])
        text = tests if "Write pytest tests for this spec" in asked else code
        Streams([f"```python\n{text}\n```"])(handler)

    provider.script(answer)


def run(directory: Path, provider: Provider, *arguments: str) -> tuple[int, Mapping[str, Any]]:
    ended = greenloop(
        directory, "--api-base", provider.api_base, "--model", "openai/m", "--json", "--effort", "low",
        "--drafts", "4", *arguments,
        extra={"OPENAI_API_KEY": "k"}, seconds=170,
    )  # fmt: skip
    assert ended.stdout, ended.stderr
    return ended.returncode, json.loads(ended.stdout)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("package", "spec", "code", "call"),
    [
        ("numpy", AVERAGE_SPEC, AVERAGE, "moving_average([2.0, 4.0], 1) == [2.0, 4.0]"),
        ("pandas", TOTALS_SPEC, TOTALS, "monthly_totals([{'day': '2025-12-05', 'value': 2.0}])['2025-12'] == 2.0"),
    ],
)  # fmt: skip
def test_a_spec_with_a_package_runs_from_start_to_end(
    tmp_path: Path, provider: Provider, package: str, spec: str, code: str, call: str
) -> None:
    python = with_packages(package)
    name = call.partition("(")[0]
    answering(provider, code, f"from user_code import {name}\n\ndef test_more():\n    assert {call}\n")
    file = tmp_path / "spec.md"
    file.write_text(f"---\npackages: [{package}]\n---\n{spec}", encoding="utf-8")
    exit_code, document = run(tmp_path, provider, "--file", str(file), "--python", python.executable)
    assert (exit_code, document["grade"]) == (0, "verified"), document
    assert document["isolation"] == "isolated"
    said = str(provider.requests[0]["messages"][0])
    version = ".".join(map(str, python.version[:2]))
    assert f"for Python {version}, with the standard library, {package} " in said


def test_without_the_package_no_model_is_asked(tmp_path: Path, provider: Provider) -> None:
    answering(provider, AVERAGE, "")
    exit_code, document = run(tmp_path, provider, AVERAGE_SPEC, "--packages", "no-such-package>=2")
    assert exit_code == 2
    assert "-m pip install 'no-such-package>=2'" in document["error"]["message"]
    assert not provider.requests
    assert not (tmp_path / "work_dir").exists()


@pytest.mark.thorough
def test_code_that_imports_what_is_not_named_fails_and_the_critic_is_told(
    tmp_path: Path, provider: Provider
) -> None:
    answering(provider, "import yaml\n\n\ndef f(x: int) -> int:\n    return yaml.safe_load(str(x))\n", "")
    exit_code, document = run(tmp_path, provider, "Implement f(x: int) -> int. f(1) == 1", "--max-rounds", "2")
    assert (exit_code, document["grade"]) == (1, "failed")
    asked = [str(request["messages"][-1]["content"]) for request in provider.requests]
    criticised = [text for text in asked if "Write the whole corrected file" in text]
    assert any("yaml may not be imported: the spec allows the standard library" in text for text in criticised)


@pytest.mark.thorough
def test_a_module_of_the_users_is_used_shown_in_outline_and_never_written(
    tmp_path: Path, provider: Provider
) -> None:
    shapes = tmp_path / "shapes.py"
    shapes.write_text(SHAPES, encoding="utf-8")
    shapes.chmod(0o444)
    before = shapes.stat()
    tests = (
        "from shapes import Circle\nfrom user_code import area\n\n"
        "def test_more():\n    assert area(1) == 3\n\ndef test_same():\n    assert area(2) == Circle(2).area()\n"
    )
    answering(provider, AREA, tests)
    spec = "Implement area(r: int) -> int, the area of a Circle. area(3) == 27"
    exit_code, document = run(tmp_path, provider, spec, "--with", str(shapes), "--mutation")
    assert (exit_code, document["grade"]) == (0, "verified"), document
    assert document["strength"]["line_coverage"] == 1.0
    assert "Circle(2).area()" in document["tests"]
    assert shapes.read_text(encoding="utf-8") == SHAPES
    assert (shapes.stat().st_mtime_ns, shapes.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    asked = str(provider.requests[0]["messages"][-1]["content"])
    assert "class Circle" in asked
    assert "A circle of a radius." in asked
    assert "self.r" not in asked
    shapes.chmod(0o644)
    shapes.unlink()
    resumed, again = run(tmp_path, provider, "--resume", Path(document["run_dir"]).name)
    assert (resumed, again["grade"]) == (0, "verified"), again


@pytest.mark.parametrize(
    ("spec", "requirement", "questions"),
    [
        ("moving_average", "numpy==2.4.6", 6),
        pytest.param("monthly_totals", "pandas==3.1.1", 3, marks=pytest.mark.thorough),
    ],
)
def test_a_spec_with_a_package_runs_on_recorded_replies(
    tmp_path: Path, spec: str, requirement: str, questions: int
) -> None:
    try:
        find_packages((requirement,), this_interpreter())
    except UsageError:
        pytest.skip(f"the replies are recorded with {requirement}, which the prompt names")
    ended, document = replayed(tmp_path, f"--file={PACKAGE_SPECS / spec}.md")
    assert ended.returncode == 1, ended.stderr
    assert (document["grade"], document["isolation"]) == ("contested", "isolated")
    assert document["usage"]["calls"] == document["usage"]["replayed"]
    assert len(document["disputes"]) == questions
