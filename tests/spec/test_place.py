"""Which files a spec may name: a stranger's must not reach what it was not given."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from agents.batch.entries import read_entries
from agents.errors import UsageError
from agents.spec import read_spec_file

TESTS = "from user_code import f\n\ndef test_f():\n    assert f(1) == 2\n"
SPEC = "---\ntests: {tests}\n---\nImplement f(n: int) -> int: n + 1."


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with specs/ and trusted/, and a file outside it."""
    (tmp_path / "outside.py").write_text(TESTS, encoding="utf-8")
    checkout = tmp_path / "checkout"
    for folder in ("specs", "trusted"):
        (checkout / folder).mkdir(parents=True)
        (checkout / folder / "t.py").write_text(TESTS, encoding="utf-8")
    monkeypatch.chdir(checkout)
    return checkout


@pytest.mark.parametrize("name", ["t.py", "../trusted/t.py", "./../specs/t.py"])
def test_tests_below_the_specs_folder_or_the_working_directory_are_read(checkout: Path, name: str) -> None:
    Path("specs/a.md").write_text(SPEC.format(tests=name), encoding="utf-8")
    assert read_spec_file(Path("specs/a.md")).user_tests is not None


@pytest.mark.parametrize("name", ["../../outside.py", "/etc/passwd", "/proc/self/environ", "link.py"])
def test_other_files_are_refused_with_the_line(checkout: Path, name: str) -> None:
    Path("specs/link.py").symlink_to(checkout.parent / "outside.py")
    Path("specs/a.md").write_text(SPEC.format(tests=name), encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.md, line 2: .* leads out of the spec's folder"):
        read_spec_file(Path("specs/a.md"))


def test_a_list_names_no_other_spec_files_either(checkout: Path) -> None:
    Path("list.yaml").write_text(f"- file: {checkout.parent / 'outside.py'}\n", encoding="utf-8")
    (entry,) = read_entries(["list.yaml"], io.StringIO())
    assert entry.error is not None
    assert "leads out of" in entry.error


@pytest.mark.parametrize("spec", ["specs", "specs/*.md"])
def test_a_link_among_the_specs_that_leads_out_is_a_bad_entry(checkout: Path, spec: str) -> None:
    Path("specs/secret.md").symlink_to(checkout.parent / "outside.py")
    Path("specs/within.md").symlink_to("good.txt")
    Path("specs/good.txt").write_text("Implement g(n: int) -> int: n + 2.", encoding="utf-8")
    read = {entry.where: entry for entry in read_entries([spec], io.StringIO())}
    assert "a link out of" in (read["specs/secret.md"].error or "")
    assert read["specs/within.md"].spec is not None
