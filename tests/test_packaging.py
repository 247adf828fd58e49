from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_package_and_every_prompt_is_shipped() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    found = {
        ".".join(["greenloop", *init.parent.relative_to(ROOT / "agents").parts])
        for init in (ROOT / "agents").rglob("__init__.py")
    }
    assert set(project["packages"]) == found
    assert project["package-data"]["greenloop.prompts"] == ["*.md"]
