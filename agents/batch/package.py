"""`--package DIR`: the results of a batch as one importable package, with its tests and a `pyproject.toml`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import GreenloopError, StorageFailed, UsageError
from ..files import read_regular
from ..records import Failure, Spec, UserModule, fingerprint
from ..settings import Settings
from ..spec.place import check_text
from ..storage.atomic import write_atomically
from ..storage.run_directory import RunDirectory
from ..syntax.imports import USER_MODULE, split_imports
from ..syntax.laid_out import LaidOut
from ..syntax.source import names_bound, parse
from ..verifier.verify import verify
from .journal import Journal
from .labels import has_reached
from .outcome import BatchResult, Packaged
from .supply import module_name

MANIFEST = ".greenloop-package.json"
"""In the package's folder: the files that greenloop wrote there, with fingerprints."""


@dataclass(frozen=True, slots=True)
class _Module:
    """A spec's code as the module `name` of the package."""

    name: str
    spec: Spec
    code: str
    tests: str


def check_package(directory: Path) -> None:
    """Raise UsageError where a package can't be written in `directory`: it has files of the user's, or no name."""
    if not module_name(directory.resolve().name or "_").isidentifier():
        raise UsageError(f"{directory} gives a package no name; choose another --package.")
    try:
        present = directory.exists() and any(directory.iterdir())
        for name, digests in (_manifest(directory) if present else {}).items():
            path = directory / name
            text = read_regular(path, directory).decode("utf-8", "replace") if path.exists() else None
            if text is not None and fingerprint(text) not in digests:
                raise UsageError(f"{path} was edited since; move it away, or choose another --package.")
    except OSError as error:
        raise UsageError(f"{directory} can't be read ({error.strerror}); choose another --package.") from error


def packaged(directory: Path, result: BatchResult, settings: Settings) -> BatchResult:
    """Write the package; return `result` with it, or with the reason why it was not written."""
    if result.error is not None:
        return result
    try:
        check_package(directory)
        return _packaged(directory, result, settings)
    except GreenloopError as error:
        failure = Failure(error.kind, str(error))
        return replace(result, exit_code=result.exit_code or error.exit_code, error=failure)


def _packaged(directory: Path, result: BatchResult, settings: Settings) -> BatchResult:
    """Write the specs that have the required grade, verify them in the package, and return `result` with the
    outcome. Raises UsageError where the folder has other files, and StorageFailed."""
    package = module_name(directory.resolve().name)
    with Journal(Path(result.directory or ""), read_only=True) as journal:
        specs = {task.entry.id: task.entry.spec for task in journal.tasks()}
    modules: dict[str, _Module] = {}
    for each in result.results:
        spec = specs[each.id] if each.run is not None and has_reached(each, settings.require) else None
        run = RunDirectory(Path(result.directory or "", each.run or ""))
        if spec is not None and (code := run.code()) is not None:
            modules[each.id] = _Module(module_name(each.id), spec, code, run.tests() or "")
    names = sorted({module.name for module in modules.values()})
    if len(names) < len(modules):
        raise UsageError("Two specs would be one module of the package; give one another id.")
    files = _files(package, list(modules.values()))
    failing = _failing(package, files, modules, settings)
    _write(directory, files)
    left_out = tuple(each.id for each in result.results if each.id not in modules)
    packaged = Packaged(str(directory), package, tuple(names), left_out, failing)
    if not failing:
        return replace(result, package=packaged)
    error = Failure("package", f"In the package {directory} the tests of {', '.join(failing)} do not pass.")
    return replace(result, package=packaged, exit_code=result.exit_code or 1, error=result.error or error)


def with_imports(source: str, moved: Mapping[str, str]) -> str:
    """Return `source` with its imports of modules that have `moved`, such as `shapes` to `mine.shapes`."""
    laid_out = LaidOut(source.replace("\r\n", "\n"))
    text = laid_out.text
    imports = [node for node in ast.walk(laid_out.tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in sorted(imports, key=lambda node: -laid_out.start(node)):
        entries = split_imports(node)
        if not any(entry.level == 0 and entry.module.split(".")[0] in moved for entry in entries):
            continue
        start = laid_out.start(node)
        end = laid_out.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        if isinstance(node, ast.ImportFrom):
            first, dot, rest = entries[0].module.partition(".")
            names = ", ".join(ast.unparse(alias) for alias in node.names)
            new = f"from {moved[first]}{dot}{rest} import {names}"
        else:
            new = "; ".join(_plain(alias, moved) for alias in node.names)
        text = text[:start] + new + text[end:]
    return text


def _plain(alias: ast.alias, moved: Mapping[str, str]) -> str:
    """Return the `import` of a module by its full name: the package has functions with their modules' names."""
    if alias.name not in moved:
        return f"import {ast.unparse(alias)}"
    package = ", __package__" if moved[alias.name].startswith(".") else ""
    loaded = f'__import__("importlib").import_module("{moved[alias.name]}"{package})'
    return f"{alias.asname or alias.name} = {loaded}"


def _files(package: str, modules: Sequence[_Module]) -> dict[str, str]:
    inner = {module.name: f".{module.name}" for module in modules}
    outer = {module.name: f"{package}.{module.name}" for module in modules}
    exported: dict[str, str] = {}
    files: dict[str, str] = {}
    for module in modules:
        name = module.name
        files[f"{package}/{name}.py"] = with_imports(module.code, inner)
        files[f"tests/test_{name}.py"] = with_imports(module.tests, {**outer, USER_MODULE: f"{package}.{name}"})
        if module.spec.signature is not None:
            exported.setdefault(module.spec.signature.name, name)
        for own in module.spec.modules:
            files |= own.files
    lines = [f"from .{name} import {each}\n" for each, name in sorted(exported.items())]
    names = "".join(f'    "{each}",\n' for each in sorted(exported))
    files[f"{package}/__init__.py"] = f"{''.join(lines)}\n__all__ = [\n{names}]\n"
    files["pyproject.toml"] = _pyproject(package, [module.spec for module in modules])
    return files


def _pyproject(package: str, specs: Sequence[Spec]) -> str:
    packages = sorted({each for spec in specs for each in spec.packages})
    return (
        '[build-system]\nrequires = ["setuptools>=61"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "{re.sub("_+", "-", package).strip("-")}"\nversion = "0.1.0"\n'
        f"dependencies = {json.dumps(packages)}\n\n"
        f'[tool.setuptools]\npackages = ["{package}"]\n\n'
        '[tool.pytest.ini_options]\npythonpath = ["."]\ntestpaths = ["tests"]\n'
    )


def _failing(
    package: str, files: Mapping[str, str], modules: Mapping[str, _Module], settings: Settings
) -> tuple[str, ...]:
    """Verify each module as it is in the package; return the ids of those whose tests do not pass there."""
    whole = UserModule(package, {name: text for name, text in files.items() if name.startswith(f"{package}/")})
    others = {module.name: f"{package}.{module.name}" for module in modules.values()}
    failing = []
    for entry_id, module in modules.items():
        tree = parse(files[f"{package}/{module.name}.py"])
        bound = sorted(frozenset().union(*map(names_bound, tree.body)) - {"*"})
        verdict = verify(
            f"from {package}.{module.name} import {', '.join(bound)}\n",
            with_imports(module.tests, others),
            sandbox=settings.sandbox,
            python=settings.python,
            packages=(*module.spec.packages, *settings.packages),
            modules=(whole, *module.spec.modules),
        )
        if verdict.kind != "passed":
            failing.append(entry_id)
    return tuple(failing)


def _manifest(directory: Path) -> dict[str, list[str]]:
    """Return the fingerprints that each file written by greenloop may have. Raises UsageError."""
    try:
        kept = json.loads(read_regular(directory / MANIFEST, directory))["files"]
        files = {str(name): [str(each) for each in digests] for name, digests in kept.items()}
        if any(Path(name).is_absolute() or ".." in Path(name).parts for name in files):
            raise ValueError("it leads out of the folder")
        check_text("".join(files), str(directory / MANIFEST))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{directory} has files that are not greenloop's; choose an empty folder for --package."
        ) from error
    return files


def _write(directory: Path, files: Mapping[str, str]) -> None:
    earlier = _manifest(directory) if (directory / MANIFEST).exists() else {}
    for name in files:
        if (directory / name).exists() and name not in earlier:
            raise UsageError(f"{directory / name} is not greenloop's; move it away, or choose another --package.")
    manifest = {name: [fingerprint(text), *earlier.get(name, [])[:1]] for name, text in files.items()}
    manifest |= {name: digests for name, digests in earlier.items() if name not in files}
    try:
        # Fingerprints of the old and the new text: after a kill in between the folder can be written again.
        write_atomically(directory / MANIFEST, json.dumps({"files": manifest}, indent=2) + "\n")
        for name, text in files.items():
            write_atomically(directory / name, text, directory)
        for name in earlier.keys() - files.keys():
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise StorageFailed(f"The package can't be written in {directory} ({error.strerror or error}).") from error
