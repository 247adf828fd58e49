"""Files that Python imports though no copy has them, or nobody can read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from ..errors import UsageError
from ..files import LONGEST, read_regular
from ..worktree.git import Repository
from ..worktree.tree import Tree, is_wanted

COMPILED = (".pyc", ".pyo")
_EXTENSIONS = (".so", ".pyd")
_IMPORTED = (*COMPILED, *_EXTENSIONS, ".py")


def is_in_place(path: str, *trees: Tree) -> bool:
    """Return True for an extension module that Python takes before a module of one of the trees."""
    folder, slash, name = path.rpartition("/")
    module = f"{folder}{slash}{name.partition('.')[0]}.py"
    return name.endswith(_EXTENSIONS) and any(module in tree.files for tree in trees)


def out_of_sight(repository: Repository, before: Mapping[str, str], commit: str) -> Iterator[str]:
    """Yield the files that git tracks, that Python imports and that lie where no copy looks (`__pycache__`,
    `node_modules`), where they are new or changed since the commit, which has the blobs `before`."""
    room = LONGEST
    for path, entry in repository.index.items():
        if is_wanted(path) or not path.endswith(_IMPORTED):
            continue
        with suppress(OSError, UsageError):  # no file of the folder
            data = read_regular(repository.folder / path, repository.folder, room)
            room -= len(data)
            blob = before.get(path, "")
            if not (repository.is_unchanged(path, blob, data, commit) if room else blob == entry.blob):
                yield path
