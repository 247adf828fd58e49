"""The command `verify`, for a user's own files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TextIO

from cyclopts import Parameter

from ..events import Note
from ..settings import Positive, SandboxName, SandboxSettings
from ..terminal.console import Console
from .ending import conclude

if TYPE_CHECKING:
    from ..records import UserModule, Verdict
    from ..sandbox import SandboxLimits
    from ..verifier import Verifier


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(SandboxSettings):
    """The options of a verification of code against tests."""

    seconds: Positive = 10.0
    """Wall time for the whole run of tests."""
    packages: tuple[str, ...] = ()
    """What both may import; by default the code all, the tests nothing."""
    with_: Annotated[tuple[Path, ...], Parameter(name="--with")] = ()
    """A module or package of yours that the code may import."""

    @cached_property
    def limits(self) -> SandboxLimits:
        """The limits of a run of tests."""
        from ..sandbox import SandboxLimits

        return SandboxLimits(wall_seconds=self.seconds)

    @cached_property
    def named(self) -> tuple[str, ...] | None:
        """Return the packages as requirements; None without any. Raises UsageError."""
        from ..spec import requirements

        return requirements(self.packages) if self.packages else None

    @cached_property
    def modules(self) -> tuple[UserModule, ...]:
        """The user's modules. Raises UsageError."""
        from ..spec import read_modules

        return read_modules(self.with_)

    def verifier(self, jobs: int | None = 1) -> Verifier:
        """Open a verifier for `jobs` pairs at once. Raises UsageError and SandboxUnavailable."""
        from ..verifier import Verifier

        warn_without_sandbox(self.sandbox)
        return Verifier(
            self.sandbox, self.limits, jobs, python=self.python, packages=self.named, modules=self.modules
        )


def verify(code: Path, tests: Path, /, *, options: VerifyOptions = VerifyOptions(), json: bool = False) -> int:
    """Run a pytest file against a module in the sandbox, and say what can be believed: exit 0 only on `passed`.

    Args:
        code: The module; the tests import it as `user_code`, or by its own name.
        tests: The pytest file.
        json: Print one JSON document and nothing else.
    """
    from ..spec.place import read_text
    from ..storage.user_file import LONGEST
    from ..suite.own_name import as_user_code
    from ..verifier.document import verdict_document

    def work(stream: TextIO) -> int:
        with options.verifier() as verifier:
            module, source = read_text(code, LONGEST), read_text(tests, LONGEST)
            with suppress(ValueError):  # what is no Python is the verdict's matter
                source, module = as_user_code(source, code, module)
            verdict = verifier.verify(module, source)
        verdict = replace(verdict, notes=(*verdict.notes, *_not_given(verdict, code)))
        if json:
            Console().document(verdict_document(verdict, options.limits), stream)
        else:
            Console().verdict(verdict)
        return 0 if verdict.kind == "passed" else 1

    return with_verdict(json, work)


def _not_given(verdict: Verdict, code: Path) -> Iterator[str]:
    """Yield a note for each module or package beside `code` that its import did not find."""
    details = "\n".join(outcome.detail for outcome in verdict.outcomes)
    for name in sorted({*re.findall(r"No module named '(\w+)", details)}):
        for path in (code.with_name(f"{name}.py"), code.with_name(name)):
            if path.exists():
                yield f"{path} lies beside the code, which does not get it; give it: --with {quote(str(path))}"


def with_verdict(as_json: bool, work: Callable[[TextIO], int]) -> int:
    """Call `work` with the stream for its document, and return its exit code; print an error as a sentence, or
    with `as_json` as a document without a verdict."""

    def failed(**stop: object) -> dict[str, object]:
        return {**stop, "verdict": None, "schema_version": 1}

    return conclude(Console(), as_json, work, failed, "Interrupted before there was a verdict; run it again.")


def warn_without_sandbox(sandbox: SandboxName) -> None:
    """Warn on standard error where the sandbox is `none`."""
    if sandbox == "none":
        Console().emit(Note("No sandbox: the code and its tests run with all your rights.", warning=True))
