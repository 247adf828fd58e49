from __future__ import annotations

from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.records import UserModule
from agents.spec import read_modules, read_spec, read_spec_file, requirements
from agents.suite import example_tests


def package(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["numpy, pandas>=2,<3"], ("numpy", "pandas>=2,<3")),
        (["a[x,y]>1,b", "c", "b"], ("a[x,y]>1", "b", "c")),
        ([" , "], ()),
    ],
)
def test_requirements_are_taken_apart_at_commas_between_them(texts: list[str], found: tuple[str, ...]) -> None:
    assert requirements(texts) == found


def test_a_module_and_a_package_are_read_and_what_is_no_python_is_left_out(tmp_path: Path) -> None:
    single = tmp_path / "shapes.py"
    single.write_text("X = 'é'\n", encoding="utf-8")
    folder = package(tmp_path / "lib", __init__="", a="A = 1\n")
    package(folder / "inner", b="B = 1\n")
    package(folder / "__pycache__", c="")
    (folder / "data.json").write_text("{}")
    (folder / "linked.py").symlink_to("/etc/passwd")
    assert read_modules([single, folder]) == (
        UserModule("shapes", {"shapes.py": "X = 'é'\n"}),
        UserModule(
            "lib",
            {"lib/__init__.py": "", "lib/a.py": "A = 1\n", "lib/inner/b.py": "B = 1\n"},
            ("lib/data.json", "lib/linked.py"),
        ),
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("json.py", "name of a module that is there already, `json`"),
        ("pytest.py", "name of a module that is there already"),
        ("user_code.py", "name of a module that is there already"),
        ("my-shapes.py", "can't be imported as `my-shapes`"),
        ("class.py", "can't be imported"),
        ("notes.txt", "neither a Python file nor a package's folder"),
    ],
)
def test_names_that_cannot_be_are_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(UsageError, match=said):
        read_modules([tmp_path / name])


def test_a_module_that_cannot_be_compiled_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("def area(:\n")
    with pytest.raises(UsageError, match=r"shapes\.py can't be imported \(.*line 1"):
        read_modules([tmp_path / "shapes.py"])


def test_what_is_not_there_too_much_or_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.py does not exist"):
        read_modules([tmp_path / "none.py"])
    with pytest.raises(UsageError, match="holds no Python file"):
        read_modules([package(tmp_path / "empty")])
    many = package(tmp_path / "many", **{f"m{number}": "" for number in range(201)})
    with pytest.raises(UsageError, match="more than 200 files"):
        read_modules([many])
    long = package(tmp_path / "long", a="#" * 600_000, b="#" * 600_000)
    with pytest.raises(UsageError, match="or 1 MB"):
        read_modules([long])
    first, second = package(tmp_path / "x" / "lib", a=""), package(tmp_path / "y" / "lib", a="")
    with pytest.raises(UsageError, match="second module named `lib`"):
        read_modules([first, second])


def test_front_matter_names_packages_and_modules_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("A = 1\n")
    file = tmp_path / "spec.md"
    file.write_text("---\npackages: [numpy, 'pandas>=2']\nwith: shapes.py\n---\nImplement f(x: int) -> int.\n")
    spec = read_spec_file(file)
    assert spec.packages == ("numpy", "pandas>=2")
    assert spec.modules == (UserModule("shapes", {"shapes.py": "A = 1\n"}),)
    (tmp_path / "shapes.py").write_text("A = 2\n")
    assert read_spec_file(file).id != spec.id
    file.write_text("---\nwith: [../../etc]\n---\nImplement f(x: int) -> int.\n")
    with pytest.raises(UsageError, match="leads out of the spec's folder"):
        read_spec_file(file)


def test_modules_of_the_command_line_count_for_the_id() -> None:
    text = "Implement f(x: int) -> int."
    first, second = (
        read_spec(text, origin="argument", modules=(UserModule("a", {"a.py": source}),)) for source in ("1", "2")
    )
    assert len({first.id, second.id, read_spec(text, origin="argument").id}) == 3


def test_examples_may_use_the_packages_and_modules_that_are_named() -> None:
    shown = "area(Square(3)) == 9\narea(np.array([2])) == 4\narea(other(1)) == 1"
    text = f"Implement area(s: Square) -> float.\n\n{shown}"
    shapes = UserModule("shapes", {"shapes.py": "class Square:\n    pass\n\n\nclass _Own:\n    pass\n"})
    named = read_spec(text, origin="argument", modules=(shapes,), packages=("numpy>=1.20",))
    first, second = example_tests(named)
    assert first.preamble == "from shapes import Square\nfrom user_code import area"
    assert second.preamble == "import numpy as np\nfrom user_code import area"
    assert named.packages == ("numpy>=1.20",)
    assert read_spec(text, origin="argument").examples == ()
