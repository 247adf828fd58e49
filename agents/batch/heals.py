"""An item of a list with `heal` -> the request of a heal, and what its result is in a batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ..errors import UsageError
from ..files import read_regular
from ..healing.request import resolved
from ..records import fingerprint
from ..records.heal import HealRequest
from ..spec.front_matter import Fields
from ..worktree.tree import MOST_BYTES, files_below
from .sources.item import Item


def heal_request(item: Item) -> HealRequest:
    """Read what is to be healed. Raises UsageError that names the line."""
    assert item.heal is not None
    read = Fields(item.keys, item.lines, item.place)
    item.place.file(item.heal.partition("::")[0], item.place.whole)
    for key in ("tests", "data", "stdin"):
        for file in read.texts(key):
            item.place.file(file.partition("::")[0], read.where(key))
    named = HealRequest(
        path=item.heal,
        tests=read.texts("tests"),
        arguments=read.texts("arguments"),
        stdin=read.text("stdin"),
        environment=read.texts("env"),
        data=read.texts("data"),
        may_change=read.texts("may_change"),
        keep=read.texts("keep"),
        expect=read.text("expect"),
        expect_output=_flag(read, "expect_output"),
        expect_exit=_exit_code(read),
        expect_file=read.texts("expect_file"),
        seconds=read.number("seconds") or HealRequest(path="").seconds,
    )
    try:
        request = resolved(named, item.place.folder)
    except UsageError as error:
        raise UsageError(f"{item.place.whole}: {error}") from error
    if not Path(request.path).exists():
        raise UsageError(
            f"{item.place.whole}: there is no {request.path}; name a script, FILE.py::NAME or a folder."
        )
    return request


def heal_content(request: HealRequest) -> str:
    """Fingerprint a request with the files that it names: changed ones make it another heal."""
    named = [request.path, *(each.partition("::")[0] for each in request.tests), *request.data]
    if request.stdin is not None:
        named.append(request.stdin)
    return fingerprint(json.dumps(asdict(request), sort_keys=True) + "".join(map(_bytes_of, dict.fromkeys(named))))


def environment_of(request: HealRequest, environ: Mapping[str, str]) -> dict[str, str]:
    """The values of the variables that a heal names. Raises UsageError where one is not set."""
    for name in request.environment:
        if name not in environ:
            raise UsageError(f"The variable {name} is not set here; set it, or take it out of `env`.")
    return {name: environ[name] for name in request.environment}


def _bytes_of(name: str) -> str:
    """Fingerprint a file, or a folder's Python files; what can't be read counts as empty, and the heal says so."""
    path = Path(name)
    folder, files = path.parent, [path.name]
    if path.is_dir():
        folder, files = path, sorted(each for each in files_below(path) if each.endswith(".py"))
    texts: list[str] = []
    room = MOST_BYTES
    for each in files:
        with suppress(OSError, UsageError):
            texts.append(read_regular(folder / each, folder, room).decode("latin-1"))
            room -= len(texts[-1])
    return fingerprint("\0".join(texts))


def _flag(read: Fields, key: str) -> bool:
    value = read.data.get(key)
    if value not in (None, True, False):
        raise read.complaint(key, "true or false")
    return value is True


def _exit_code(read: Fields) -> int | None:
    value = read.data.get("expect_exit")
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 256):
        raise read.complaint("expect_exit", "an exit code, 0 to 255")
    return value
