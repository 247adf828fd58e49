"""Documentation that is generated or names options is held to the code."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from agents.cli.main import commands
from agents.llm_backends.providers import PROVIDERS
from agents.settings import Output, Use, uses

ROOT = Path(__file__).parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_documents_are_up_to_date() -> None:
    for name, make in generator().GENERATED.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == make(), "run: make docs"


MEASUREMENTS = {path.stem for path in (ROOT / "docs/measure").glob("*.py")}


@pytest.mark.parametrize("name", sorted(MEASUREMENTS - {"__init__", "evalplus_pairs", "repair"}))
def test_a_measuring_program_finds_what_it_imports(name: str) -> None:
    """`repair` is left out: it measures the installed package."""
    assert importlib.import_module(f"docs.measure.{name}").__doc__


SETTINGS = {**uses(), **uses(Output)}


@pytest.mark.parametrize("field", SETTINGS)
def test_every_setting_is_in_the_example_environment_where_it_counts(field: str) -> None:
    """In the part for a file, in that for the environment alone, or, where it is no variable, in none."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    of_a_file, _, of_the_environment = example.partition("=====")
    use, line = SETTINGS[field], f"\n# GREENLOOP_{field.upper()}="
    assert (line in of_a_file) == (Use.FILE in use)
    assert (line in of_the_environment) == (use & (Use.FILE | Use.ACT) == Use.NONE)


def test_every_providers_key_is_in_the_example_environment() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    for provider in PROVIDERS:
        assert f"{provider.key_variables[0]}=" in example


@pytest.mark.parametrize("document", ["README.md", "docs/generating.md", "docs/batches.md"])
def test_every_option_that_a_document_names_is_one(document: str) -> None:
    readme = (ROOT / document).read_text(encoding="utf-8")
    known = {name for arguments in commands().values() for argument in arguments for name in argument.names}
    known |= {"--help", "--install-completion"}
    assert set(re.findall(r"`(--[a-z-]+)", readme)) <= known


def test_links_in_the_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
