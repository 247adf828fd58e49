"""`--into FILE.py`: write a run's verified definition into a module of the user's."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from ..errors import GreenloopError, UsageError
from ..records import Failure, RunResult, Spec, Verdict, Written
from ..sandbox.packages import open_interpreter
from ..settings import Settings
from ..storage.user_file import UserFile, read_user_file
from ..syntax.changes import unified
from ..syntax.imports import split_imports
from ..syntax.source import parse
from ..syntax.splice import place_of, spliced
from ..verifier import Verifier
from .run import with_installed

FOLDER = "into"
"""Folder of the backups, in the run's directory."""


@dataclass(frozen=True, slots=True)
class Into:
    """The module that the definition `name` of a run of `spec` is written into."""

    file: UserFile
    name: str
    spec: Spec

    def write(self, result: RunResult, settings: Settings) -> RunResult:
        """Write the definition if `result` has the required grade; return `result` with what was written. A reason
        not to write is the result's error, with exit code 1."""
        if result.exit_code != 0 or result.code is None or result.run_dir is None:
            return result
        try:
            return replace(result, into=self._written(result.code, result.tests or "", result.run_dir, settings))
        except (GreenloopError, ValueError) as reason:
            told = f"Nothing was written into {self.file.path}: {str(reason).rstrip('.')}"
            way = f"mend that, and go on with --resume {quote(result.run_dir)} and --into"
            failure = Failure("into", f"{told}. The code is in {result.run_dir}; {way}.")
            return replace(result, exit_code=1, error=failure)

    def _written(self, code: str, tests: str, run_dir: str, settings: Settings) -> Written:
        path = self.file.path
        try:
            text = spliced(self.file.text, code, self.name)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        note = self._verify(code, text, tests, settings)
        self.file.check_unchanged()
        kept = self.file.replace(text, Path(run_dir) / FOLDER / path.name) if text != self.file.text else None
        diff = unified(self.file.text, text, path.as_posix())
        return Written(str(path), self.name, diff, str(kept) if kept else None, note)

    def _verify(self, code: str, text: str, tests: str, settings: Settings) -> str | None:
        """Run the surviving tests against the whole file; return why they can't be run, None if they were. Raises
        ValueError where tests fail."""
        spec = with_installed(self.spec, settings, open_interpreter(settings.python))
        importable = {name for package in spec.installed for name in (*package.imports, *package.needs)}
        importable.update(sys.stdlib_module_names, (module.name for module in spec.modules))
        imports = (entry for node in parse(text).body for entry in split_imports(node))
        loaded = {"." * entry.level + entry.module.split(".")[0] for entry in imports}
        if missing := sorted(loaded - importable):
            return f"The tests were not run against the whole file: it imports {', '.join(missing)}."
        with Verifier(
            settings.sandbox, python=settings.python, packages=spec.packages, modules=spec.modules
        ) as own:
            whole = own.verify(text, tests)
            if whole.kind == "passed":
                return None
            alone = own.verify(code, tests)
        if failing := [test_id for test_id in _failing(whole) if test_id not in _failing(alone)]:
            details = {outcome.test_id: outcome.detail for outcome in whole.outcomes}
            reason = (details.get(failing[0]) or "it does not end as before").strip().split("\n")[-1][:200]
            raise ValueError(f"in the whole file {failing[0]} fails ({reason})")
        if whole.kind != alone.kind:
            reason = whole.reason or "no reason given"
            raise ValueError(f"with the whole file the verdict is {whole.kind} ({reason})")
        return None


def open_into(path: Path, spec: Spec) -> Into:
    """Read what `--into` names, `FILE.py` or `FILE.py::NAME`, for a run of `spec`. Raises UsageError."""
    base, _, name = str(path).partition("::")
    name = name or (spec.signature.name if spec.signature else "")
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"What goes into {base} is not plain; name it: --into {base}::NAME.")
    file = read_user_file(Path(base))
    try:
        place_of(parse(file.text), name)
    except ValueError as error:
        raise UsageError(f"{base}: {error}; nothing can be written there.") from error
    return Into(file, name, spec)


def _failing(verdict: Verdict) -> list[str]:
    return [outcome.test_id for outcome in verdict.outcomes if outcome.status != "passed"]
