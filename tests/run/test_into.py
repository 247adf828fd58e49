"""A run's definition in the user's own file: verified there, written whole, or refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.records import RunResult
from agents.run.into import open_into
from agents.settings import Settings
from agents.spec import read_spec

CODE = "import math\n\n\ndef root(x: int) -> int:\n    return math.isqrt(x)\n"
TESTS = "from user_code import root\n\n\ndef test_root():\n    assert root(17) == 4\n    assert root(9) == 3\n"
SPEC = read_spec("Implement root(x: int) -> int.", origin="argument")


def result(work_dir: Path, code: str = CODE, **changes: object) -> RunResult:
    fields: dict[str, object] = {"exit_code": 0, "grade": "consensus", "code": code, "tests": TESTS}
    return RunResult(schema_version=1, run_dir=str(work_dir / "runs" / "1"), **{**fields, **changes})  # type: ignore[arg-type]


def test_two_thousand_lines_with_a_mark_change_in_the_definition_alone(tmp_path: Path) -> None:
    rows = [b"# row %d\r\n" % number for number in range(2000)]
    rows[0] = b"\xef\xbb\xbfimport math\r\n"
    old, new = b"def root(x):\r\n\treturn 0", b"def root(x: int) -> int:\r\n\treturn math.isqrt(x)"
    path = tmp_path / "mine.py"
    path.write_bytes(b"".join(rows) + old)
    written = open_into(path, SPEC).write(result(tmp_path), Settings())
    assert written.exit_code == 0
    assert path.read_bytes() == b"".join(rows) + new
    assert written.into is not None
    assert written.into.note is None
    assert Path(str(written.into.backup)).read_bytes() == b"".join(rows) + old
    assert "-def root(x):" in written.into.diff
    assert len(written.into.diff.splitlines()) < 15


def test_edited_meanwhile_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("X = 1\n")
    into = open_into(path, SPEC)
    path.write_text("X = 2\n")
    refused = into.write(result(tmp_path), Settings())
    assert path.read_text() == "X = 2\n"
    assert (refused.exit_code, refused.into, refused.code) == (1, None, CODE)
    assert refused.error is not None
    assert "was changed while the run was under way" in refused.error.message


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("def isqrt(x): return 0\nimport math\nmath.isqrt = isqrt\n", "test_root"),
        ("raise RuntimeError('no config')\n", "no config"),
        ("math = None\n", "`math` is another thing"),
    ],
)
def test_a_file_in_which_it_no_longer_works_stays_as_it_is(tmp_path: Path, before: str, reason: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(before)
    refused = open_into(path, SPEC).write(result(tmp_path), Settings())
    assert path.read_text() == before
    assert refused.exit_code == 1
    assert refused.error is not None
    assert reason in refused.error.message


def test_a_file_that_imports_what_the_sandbox_has_not_is_written_and_the_result_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import not_installed\nfrom . import near\n")
    written = open_into(path, SPEC).write(result(tmp_path), Settings())
    assert written.into is not None
    assert "it imports ., not_installed" in str(written.into.note)
    assert "def root" in path.read_text()


def test_a_result_below_what_is_required_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("X = 1\n")
    contested = result(tmp_path, exit_code=1, grade="contested")
    assert open_into(path, SPEC).write(contested, Settings()) == contested
    assert path.read_text() == "X = 1\n"


def test_what_a_file_has_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    written = open_into(path, SPEC).write(result(tmp_path), Settings())
    assert written.into is not None
    assert (written.into.diff, written.into.backup) == ("", None)
    assert not (tmp_path / "runs").exists()


def test_what_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("root = 1\n")
    with pytest.raises(UsageError, match="`root` is bound by something else"):
        open_into(path, SPEC)
    with pytest.raises(UsageError, match=r"--into .*mine\.py::NAME"):
        open_into(path, read_spec("Do something.", origin="argument"))
    with pytest.raises(UsageError, match="no class `Stack`"):
        open_into(Path(f"{path}::Stack.push"), SPEC)
