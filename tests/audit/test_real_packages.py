"""`audit` on packages from PyPI: what it says of outcomes is what plain pytest says."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from .test_project import verified

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PACKAGES = {
    "inflection==0.5.1": "1a29730d366e996aaacffb2f1f1cb9593dc38e2ddd30c91250c6dde09ea9b417",
    "xmltodict==0.14.2": "201e7c28bb210e374999d1dde6382923ab0ed1a8a5faeece48ab525b7810a553",
    "parse==1.20.2": "b41d604d16503c79d81af5165155c0b20f6c8d6c559efa66b4b695c3e5a0a0ce",
}
"""SHA-256 of each sdist."""
EXCEPTIONS = {"parse==1.20.2": {"test_pickling_bug_110": "asserts nothing", "test_too_many_fields": "skipped"}}
"""The tests that don't count: one has no assertion, the other a mark."""


@pytest.mark.parametrize("requirement", PACKAGES)
def test_outcomes_are_those_of_plain_pytest(requirement: str, tmp_path: Path) -> None:
    asked = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", requirement]
    done = subprocess.run([sys.executable, "-m", "pip", *asked], cwd=tmp_path, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{requirement} can't be fetched: {done.stderr.strip()[-200:]}")
    [archive] = tmp_path.glob("*.tar.gz")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == PACKAGES[requirement]
    with tarfile.open(archive) as sdist:
        sdist.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4
        sdist.extractall(tmp_path)
    [root] = (path for path in tmp_path.iterdir() if path.is_dir())
    asked = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"]
    plain = subprocess.run(asked, cwd=root, capture_output=True, text=True)
    counts = Counter(line.split(" ")[0].lower() for line in plain.stdout.splitlines() if "::" in line)
    _, document = verified(root, "--seconds", "60")
    found = {test["id"].rpartition("::")[2]: test["status"] for test in document["tests"]}
    assert {name: status for name, status in found.items() if status != "counts"} == EXCEPTIONS.get(
        requirement, {}
    )
    passing = sum(status not in ("failed", "skipped") for status in (test["status"] for test in document["tests"]))
    assert passing == counts["passed"]
    assert 0 < document["mutation"]["noticed"] <= document["mutation"]["tried"]
