"""The user's request: its signature, examples and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PROGRAM_FILE = "user_code.py"
"""The module under test, as a program."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The entry point that the spec names: `text` is a header line without the colon.

    Example: `def quicksort(arr: list[int]) -> list[int]`, or `class Stack`; `def chunk(...)` where the spec gives
    a function's name alone.
    """

    name: str
    kind: Literal["function", "class"]
    text: str

    @property
    def lacks_parameters(self) -> bool:
        """Return True if only the name of a function is known."""
        return "(...)" in self.text


@dataclass(frozen=True, slots=True)
class Example:
    """One example of the spec, as Python statements that right code passes (the last is an assert or a
    `with pytest.raises(...)` block). `source_line` is the text that states it."""

    code: str
    source_line: str
    answer: bool = False
    """An answer to an open question, from a file of answers."""
    told: bool = True
    """Shown in prompts. An answer to a running run is only a test, so that recorded replies still fit its
    requests."""

    @property
    def runs_program(self) -> bool:
        """Return True if it runs the module as a program."""
        return "subprocess." in self.code and PROGRAM_FILE in self.code


@dataclass(frozen=True, slots=True)
class UserModule:
    """A module or package of the user's that `user_code` may import as `name`.

    `files` maps paths below its import root (`shapes.py`, `shapes/__init__.py`) to their source text; `left_out`
    are files of it that are no Python source.
    """

    name: str
    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Package:
    """An installed third-party package. `imports` are the names it is imported by, `needs` those of the packages
    that it depends on."""

    name: str
    version: str
    imports: tuple[str, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecLimits:
    """Limits a spec's front matter may set; None leaves the setting as it is."""

    max_rounds: int | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """The user's request: its text, and what was read out of it."""

    id: str
    text: str
    signature: Signature | None = None
    examples: tuple[Example, ...] = ()
    wrong_tests: tuple[str, ...] = ()
    """Generated tests that are wrong by an answer: the source of a test, or the statements of a check."""
    unspecified: tuple[str, ...] = ()
    """Calls, after their steps, of which any outcome is right by an answer."""
    user_tests: str | None = None
    """Source of a pytest file given by the user: trusted."""
    packages: tuple[str, ...] = ()
    """Third-party packages that the code and its tests may import, as requirements (`pandas>=2`)."""
    modules: tuple[UserModule, ...] = ()
    """The user's own modules that the code may import."""
    program: bool = False
    """The module is run as a program, with arguments and standard input; what it prints is judged."""
    installed: tuple[Package, ...] = ()
    """`packages` as installed when the run began."""
    python: str = ""
    """The version of Python that the code is for (`3.9`); empty where none was asked for."""
    limits: SpecLimits = SpecLimits()
    origin: str = "argument"
    """Where the spec came from: `argument`, `stdin`, or a file's path."""
