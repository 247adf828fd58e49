"""The files of a case: those of a folder that are copied into the sandbox, and those that may change."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from ..errors import UsageError
from ..files import read_regular
from .git import open_repository
from .links import behind_links

MOST_FILES = 2000
MOST_BYTES = 32 << 20
_DEEPEST = 40
"""Levels of folders that are read."""
_NEVER = (".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "work_dir")
"""Folders that no case needs: version control, generated files, other programs' packages."""
_NEVER_CHANGED = ("conftest.py", "test_*.py", "*_test.py", "tests.py", "tests_*.py", "setup.py")
_OF_TESTS = ("test", "tests", "unittest", "unittests", "*_test", "*_tests")
_NO_PACKAGES = ("docs", "doc", "examples", "benchmarks", "scripts", "tools", "src")
_SECRETS = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", ".netrc", ".pypirc")
"""Files that are taken only by name."""
_DATA_ENDINGS = (
    *(".py", ".so", ".pyd", ".json", ".csv", ".tsv", ".txt", ".dat", ".bin", ".toml", ".yaml", ".yml", ".ini"),
    *(".cfg", ".xml", ".html", ".css", ".js", ".mo", ".npy", ".npz", ".gz", ".zip", ".db", ".sqlite"),
)
"""Endings of ignored files in a package that Python could import or read, which are taken, too."""
_GENERATED = re.compile(r"\..*|__pycache__|node_modules|build|dist|htmlcov|e?venv|work_dir")
"""Folders in a package of which no ignored files are taken."""
_PRIVATE = re.compile(r"secret|credential|passw|private|(^|[._-])(local|token)([._-]|$)")
_METADATA = ("PKG-INFO", "entry_points.txt", "top_level.txt", "requires.txt", "SOURCES.txt")
"""Files of an `.egg-info` folder, by which an editable install may be found."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Files below `root` by their path there (with `/`). `left_out` are paths that could not be taken; `named` are
    patterns of files with tests beside the usual ones."""

    root: Path
    files: Mapping[str, bytes]
    left_out: frozenset[str] = frozenset()
    modes: Mapping[str, int] = field(default_factory=dict)
    named: tuple[str, ...] = ()

    def holds_tests(self, path: str) -> bool:
        """Return True for files as in `never_changes`, and for those that `named` matches."""
        name = path.rpartition("/")[2]
        return never_changes(path) or any(fnmatch(path if "/" in each else name, each) for each in self.named)

    def code_in(self, functions: Iterable[str]) -> list[str]:
        """Return those of `functions` (path::line) that are not in files of tests."""
        return [each for each in functions if not self.holds_tests(each.partition("::")[0])]

    def archive(self, changed: Mapping[str, bytes]) -> bytes:
        """Return the files as a tar archive, with new contents of `changed` ones."""
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w") as archive:
            for path, data in {**self.files, **changed}.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(data)
                entry.mtime = 946_684_800  # of the year 2000: a zip file takes none before 1980
                entry.mode = 0o700 if self.modes.get(path, 0) & 0o100 else 0o600
                archive.addfile(entry, io.BytesIO(data))
        return written.getvalue()


def read_tree(root: Path, named: Sequence[str], extra: Mapping[str, Path]) -> Tree:
    """Read the files of the folder `root`, at most 2,000 and 32 MiB: those that git does not ignore, and ignored
    ones in packages that Python could import or read; without git all but folders that no case needs.

    `named` are always taken, and `extra`, files from elsewhere by their path in the tree. Raises UsageError if
    these alone are too many, or can't be read.
    """
    files: dict[str, bytes] = {}
    modes: dict[str, int] = {}
    left_out: set[str] = set()
    room = MOST_BYTES
    wanted = {path: (root / path, root) for path in named}
    wanted |= {path: (place, place.parent) for path, place in extra.items()}
    found = {path: (root / path, root) for path in _candidates(root) if path not in wanted}
    for path, (place, folder) in {**wanted, **found}.items():
        try:
            size = place.stat().st_size
            if len(files) >= MOST_FILES or size > room:
                raise UsageError(
                    f"{place} does not fit: a case has at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB."
                )
            files[path], modes[path] = read_regular(place, folder, room), place.stat().st_mode
            room -= len(files[path])
        except (OSError, UsageError) as error:
            if path in wanted:
                reason = getattr(error, "strerror", None)
                raise UsageError(
                    f"{place} can't be read ({reason}); name a file that can." if reason else str(error)
                ) from error
            left_out.add(path)
    return Tree(root, files, frozenset(left_out), modes)


def _candidates(root: Path) -> list[str]:
    """Return the paths of the files below `root`: Python first, as data may exceed the limit, then near ones."""
    paths: list[str] = []
    with suppress(UsageError), open_repository(root) as repository:

        def ignored(asked: list[str]) -> set[str]:
            nested = {path for path in asked if path[-1] == "/" and os.path.lexists(root / path / ".git")}
            return nested | repository.ignored(asked)

        # Checked here, since an index may name a million files that don't exist.
        named = [path for path in repository.index if os.path.lexists(f"{root}/{path}")]
        paths = [*named, *files_below(root, ignored)]
        paths += _ignored_in_packages(root, paths)
    real, paths = root.resolve(), paths or [*files_below(root)]
    links = {path: os.readlink(root / path) for path in paths if os.path.islink(root / path)}  # noqa: PTH114, PTH115
    paths += behind_links(links, paths)
    found = dict.fromkeys(path for path in paths if _is_taken(real, path))
    return sorted(found, key=lambda path: (not path.endswith(".py"), path.count("/"), path))


def _ignored_in_packages(root: Path, known: Sequence[str]) -> Iterator[str]:
    """Yield the unknown files in the packages among `known` that Python could import or read, without tests and
    modules that shadow a known one."""

    def unwanted(asked: list[str]) -> set[str]:
        return {path for path in asked if path[-1] == "/" and _GENERATED.fullmatch(Path(path).name)}

    packages = {Path(path).parent.as_posix() for path in known if path.endswith("/__init__.py")}
    eggs = (egg for top in (root, root / "src") for egg in top.glob("*.egg-info"))
    metadata = {egg.relative_to(root).as_posix() for egg in eggs}
    taken = {*known}
    modules = {_module(path) for path in known if path.endswith(".py")}
    for folder in sorted(packages | metadata):
        if str(Path(folder).parent) in packages:
            continue
        for below in files_below(root / folder, unwanted):
            path = f"{folder}/{below}"
            wanted = Path(below).name in _METADATA if folder in metadata else below.endswith(_DATA_ENDINGS)
            if path.endswith(".py") and (never_changes(path) or _module(path) in modules):
                continue
            if wanted and path not in taken and not _PRIVATE.search(below.lower()):
                yield path


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__")


def packages_of(tree: Tree) -> set[str]:
    """Return the import names of a project's top-level modules and packages, in its folder or `src`."""
    found = set()
    for path in tree.files:
        head, _, rest = path.removeprefix("src/").partition("/")
        if path.endswith(".py") and not never_changes(path):
            found.add(head if rest else head.removesuffix(".py"))
    return {name for name in found if name.isidentifier() and name not in _NO_PACKAGES}


def files_below(root: Path, ignored: Callable[[list[str]], set[str]] = lambda paths: set()) -> Iterator[str]:
    """Yield the paths of the files below a folder, level by level, without files and folders (ending with `/`)
    that are `ignored`. Links are not followed."""
    pending = [""]
    seen = 0
    for _ in range(_DEEPEST):
        if not pending or seen >= 10 * MOST_FILES:
            return
        level: list[str] = []
        for folder in pending:
            with suppress(OSError), os.scandir(root / folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    is_folder = entry.is_dir(follow_symlinks=False)
                    level.append(f"{folder}{entry.name}/" if is_folder else f"{folder}{entry.name}")
        seen += len(level)
        out = ignored(level)
        kept = [path for path in level if path not in out]
        yield from (path for path in kept if not path.endswith("/"))
        pending = [path for path in kept if path.endswith("/") and _is_entered(root, path)]


def _is_entered(root: Path, path: str) -> bool:
    """Return False for folders that no case needs, and virtual environments."""
    return Path(path).name not in _NEVER and not os.path.exists(root / path / "pyvenv.cfg")  # noqa: PTH110


def _is_taken(root: Path, path: str) -> bool:
    """Return True for a file that is wanted by its own name and by that of a link to it; and for a link to a
    folder elsewhere, which can't be read and so gets into `left_out`."""
    if os.path.isdir(root / path):  # noqa: PTH112 - raises nothing
        elsewhere = (root / path).is_symlink() and not (root / path).resolve().is_relative_to(root)
        return elsewhere and is_wanted(path) and _is_entered(root, f"{path}/")
    try:
        real = (root / path).resolve().relative_to(root).as_posix()
    except (OSError, ValueError, RuntimeError):
        real = path
    return is_wanted(path) and is_wanted(real)


def is_wanted(path: str) -> bool:
    """Return False for secrets, and for files in folders that no case needs."""
    *folders, name = path.split("/")
    return {*folders, name}.isdisjoint(_NEVER) and not any(fnmatch(name, pattern) for pattern in _SECRETS)


def never_changes(path: str) -> bool:
    """Return True for a file with tests, what lies beside them, or configuration."""
    *folders, name = path.split("/")
    named = any(fnmatch(folder, each) for folder in folders for each in _OF_TESTS)
    return named or folders[:1] == ["testing"] or any(fnmatch(name, each) for each in _NEVER_CHANGED)
