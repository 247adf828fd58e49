from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_file_that_is_no_module_is_shipped() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-data"
    ]
    for file in (ROOT / "agents").rglob("*"):
        if file.is_file() and file.suffix not in (".py", ".pyc"):
            package = ".".join(["greenloop", *file.parent.relative_to(ROOT / "agents").parts])
            assert any(fnmatch(file.name, pattern) for pattern in data.get(package, ())), file


def test_every_folder_with_modules_is_a_package() -> None:
    for module in (ROOT / "agents").rglob("*.py"):
        assert (module.parent / "__init__.py").is_file(), module
