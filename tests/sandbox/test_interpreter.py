from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox.interpreter import open_parts, python_parts, this_interpreter


def test_the_home_is_not_among_the_trees() -> None:
    home = Path.home().resolve()
    for tree in this_interpreter().trees:
        assert not home.is_relative_to(Path(tree).resolve())


def test_everything_on_the_way_to_the_interpreter_is_there() -> None:
    trees = [Path(tree) for tree in this_interpreter().trees]
    links = [Path(path) for path, _ in this_interpreter().links]
    for path in (Path(sys.executable), Path(sys.executable).resolve()):
        assert any(path.is_relative_to(place) for place in [*trees, *links])
    for prefix in (Path(sys.prefix), Path(sys.base_prefix)):
        library = prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        assert any(library.is_relative_to(place) for place in [*trees, *links])


def test_of_a_prefix_that_holds_the_home_only_pythons_parts_are_taken(tmp_path: Path) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = tmp_path / "lib" / version
    library.mkdir(parents=True)
    assert python_parts(tmp_path, home=tmp_path / "user") == [library]
    assert python_parts(tmp_path, home=tmp_path) == [library]
    assert python_parts(tmp_path, home=Path("/elsewhere")) == [tmp_path]


def test_an_environment_below_the_home_is_taken_without_the_rest(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "home" / "venv")], check=True)
    (tmp_path / "home" / "secret").write_text("")
    code = "import sys; sys.path.insert(0, sys.argv[1])\nfrom agents.sandbox.interpreter import this_interpreter\n"
    code += "print(*this_interpreter().trees, sep='\\n')"
    python = tmp_path / "home" / "venv" / "bin" / "python"
    done = subprocess.run(
        [python, "-I", "-c", code, str(Path(__file__).parents[2])],
        env={"HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    )
    below = [tree for tree in done.stdout.split() if Path(tree).is_relative_to(tmp_path)]
    assert below == [str(tmp_path / "home" / "venv")]


def test_of_a_directory_closed_to_others_the_parts_are_taken(tmp_path: Path) -> None:
    library = tmp_path / "lib"
    library.mkdir()
    (tmp_path / "lib64").symlink_to("lib")
    (tmp_path / "private").touch(mode=0o600)
    (tmp_path / "gone").symlink_to("nowhere")
    tmp_path.chmod(0o755)
    assert open_parts(tmp_path) == [tmp_path]
    tmp_path.chmod(0o700)
    assert open_parts(tmp_path) == [library, tmp_path / "lib64"]


def test_a_python_that_only_its_owner_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for number in range(65):
        (tmp_path / str(number)).touch(mode=0o644)
    with pytest.raises(SandboxUnavailable, match=f"chmod -R o\\+rX {tmp_path}"):
        open_parts(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's jobs run as another user")
@pytest.mark.parametrize("backend", ["bubblewrap", "native"])
def test_root_runs_jobs_with_an_environment_that_only_root_may_enter(tmp_path: Path, backend: str) -> None:
    if backend == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    place = Path(tempfile.mkdtemp(prefix="greenloop-closed-", dir="/tmp"))  # mode 0700, as `mktemp -d` makes it
    try:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
        code = "import sys; sys.path.insert(0, sys.argv[1])\n"
        code += "from agents.sandbox import Job, open_sandbox\n"
        code += "with open_sandbox(sys.argv[2]).launch(Job(['-I', '-c', 'print(6 * 7)'])) as running:\n"
        code += "    print(running.wait().stdout)"
        argv = [str(place / "bin" / "python"), "-I", "-c", code, str(Path(__file__).parents[2]), backend]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(place)
    assert (done.stdout, done.stderr) == ("b'42\\n'\n", "")


def test_a_python_that_is_started_by_a_relative_path_is_there_by_its_real_one(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    ask = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom agents.sandbox.interpreter import this_interpreter as i"
    )
    done = subprocess.run(
        ["../venv/bin/python", "-c", f"{ask}\nprint(i().executable, *i().trees)", str(Path(__file__).parents[2])],
        cwd=tmp_path / "project",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == f"{tmp_path.resolve()}/venv/bin/python"
    assert ".." not in done.stdout


def test_a_user_may_have_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 123_456)
    with pytest.raises(RuntimeError):
        Path.home()
    assert this_interpreter.__wrapped__().executable == this_interpreter().executable
