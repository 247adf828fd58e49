from __future__ import annotations

import hashlib

import pytest

from agents.records import Package, Spec, UserModule
from agents.roles.outline import LONGEST, outline
from agents.roles.prompt import messages

SOURCE = '''
from dataclasses import dataclass
SECRET = 1

@dataclass
class Circle:
    """A circle.

    More of it.
    """
    r: float = 1.0

    def area(self) -> float:
        """Its area."""
        return SECRET * self.r

    def _hidden(self): ...


async def unit(n: int = 1, *, key: str = "a") -> Circle:
    raise ImportError


def _private(): ...
'''


def test_it_has_signatures_and_first_lines_of_docstrings_and_no_bodies() -> None:
    text = outline((UserModule("shapes", {"shapes.py": SOURCE}),), "")
    assert "class Circle:" in text
    assert '"""A circle."""' in text
    assert "def area(self) -> float:" in text
    assert "async def unit(n: int=1, *, key: str='a') -> Circle:" in text
    for hidden in ("More of it", "SECRET", "_hidden", "_private", "raise"):
        assert hidden not in text


def test_what_the_spec_names_comes_first_and_it_is_bounded() -> None:
    source = "\n".join(f"def f{n}(a: int) -> int:\n    'Doc {n}.'\n    return {n}" for n in range(400))
    text = outline((UserModule("many", {"many.py": source}),), "It uses f250.")
    assert text.startswith("# many\ndef f250(")
    assert len(text) <= LONGEST
    assert text.endswith("more names")


def test_a_file_that_cannot_be_read_is_passed_over() -> None:
    files = {"lib/__init__.py": "from .a import A\n", "lib/a.py": "class A: ...\n", "lib/b.py": "def ("}
    assert outline((UserModule("lib", files),), "") == "# lib\nfrom .a import A\n# lib.a\nclass A:\n    ..."


def test_prompts_without_packages_and_modules_are_as_they_were() -> None:
    system, user = messages(Spec("f", "Implement f(x: int) -> int."), "code_writer")
    assert "for Python 3.11, with the standard library only, and pytest tests" in system.content
    assert "It may import" not in user.content
    # Keys of recorded replies hang on every byte.
    assert hashlib.sha256(system.content.encode()).hexdigest()[:16] == "fe3fa474077a38e5"
    assert hashlib.sha256(user.content.encode()).hexdigest()[:16] == "38ac877e4c46675b"


@pytest.mark.parametrize("task", ["code_writer", "critic"])
def test_roles_are_told_what_may_be_imported(task: str) -> None:
    spec = Spec(
        "f",
        "Circles.",
        modules=(UserModule("shapes", {"shapes.py": SOURCE}),),
        installed=(Package("numpy", "2.4.6", ("numpy",)), Package("pandas", "3.1", ("pandas",))),
        python="3.9",
    )
    system, user = messages(spec, task, code="", failures=[], note="", trace="", attempts=[])
    assert "for Python 3.9, with the standard library, numpy 2.4.6, pandas 3.1, the user's own shapes only" in (
        system.content
    )
    assert "class Circle" in user.content
