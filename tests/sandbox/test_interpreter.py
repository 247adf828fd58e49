from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from agents.sandbox.interpreter import python_parts, this_interpreter


def test_the_home_is_not_among_the_trees() -> None:
    home = Path.home().resolve()
    for tree in this_interpreter().trees:
        assert not home.is_relative_to(Path(tree).resolve())


def test_everything_on_the_way_to_the_interpreter_is_there() -> None:
    trees = [Path(tree) for tree in this_interpreter().trees]
    links = [Path(path) for path, _ in this_interpreter().links]
    for path in (Path(sys.executable), Path(sys.executable).resolve(), Path(sys.prefix), Path(sys.base_prefix)):
        assert any(path.is_relative_to(place) for place in [*trees, *links])


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
