"""The command `verify-pairs`: JSON Lines with code and tests in, verdicts out."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, BinaryIO

from cyclopts import Parameter

from ..errors import Interrupted, StorageFailed, UsageError
from ..files import lines_of, open_regular
from ..records import fingerprint
from ..settings import Count
from ..spec.place import opened
from ..syntax.clean_text import one_line
from ..terminal.console import Console
from .ending import document_alone
from .verify import VerifyOptions

FORM = '{"id": "a", "code": "...", "tests": "..."}'
_BEGIN = b'{"id": '

Key = tuple[str | int, str]
"""A pair's id, and the digest of its code, its tests and the options."""


def verify_pairs(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    out: Path | None = None,
    jobs: Count | None = None,
    options: VerifyOptions = VerifyOptions(),
) -> int:
    """Verify a stream of pairs of code and tests: a JSON document a line comes out, as of `verify --json`.

    Exit code 0 only if all passed, 1 if some did not, 2 if lines were no pairs.

    Args:
        file: Lines `{"id": "a", "code": "...", "tests": "..."}`; `-`: standard input.
        out: Where verdicts are kept. Given again, only what is new is done.
        jobs: Pairs at once; by default one for each core.
    """
    from ..verifier.document import verdict_document

    console = Console()
    kinds: set[str] = set()
    try:
        with ExitStack() as held:
            to = held.enter_context(document_alone(True))
            verifier = held.enter_context(options.verifier(jobs))
            # A verdict in `out` is reused for the same pair with the same options.
            terms = [asdict(options.limits), str(options.python), options.named, [*map(asdict, options.modules)]]
            lines = held.enter_context(nullcontext(sys.stdin.buffer) if str(file) == "-" else opened(file))
            known = known_verdicts(out) if out is not None else {}
            pairs = Pairs(lines, json.dumps(terms), known, console.error)
            if out is not None:
                append = open_regular(out, flags=os.O_WRONLY | os.O_APPEND)
                to = held.enter_context(os.fdopen(append, "a", encoding="utf-8"))
            count = held.enter_context(console.counting(None, "pair"))
            for verdict in verifier.map(pairs):
                name, digest = pairs.taken.popleft()
                line = {"id": name, "digest": digest, **verdict_document(verdict, options.limits)}
                try:
                    to.write(json.dumps(line) + "\n")
                    to.flush()
                except OSError as error:  # here, since `opened` takes it for one of reading
                    way = "mend that and run it again"
                    raise StorageFailed(f"The verdicts can't be written ({error.strerror}); {way}.") from error
                kinds.add(verdict.kind)
                count(f"{one_line(str(name))}: {verdict.kind}")
    except KeyboardInterrupt as stop:
        way = "run it again to go on" if out is not None else "with --out FILE it could be gone on with"
        raise Interrupted(f"Interrupted; {way}.") from stop
    if pairs.earlier:
        kinds.update(pairs.earlier)
        console.say(f"{len(pairs.earlier)} verdicts were in {out} before: {', '.join(sorted({*pairs.earlier}))}")
    if not kinds and not pairs.refused:
        where = "standard input" if str(file) == "-" else file
        raise UsageError(f"There is no pair in {where}; write lines such as {FORM}.")
    return UsageError.exit_code if pairs.refused else 0 if kinds == {"passed"} else 1


@dataclass(slots=True)
class Pairs:
    """Iterable of code and tests of the pairs in `file` without a verdict in `known`. `refuse` is called with a
    sentence for each line that is no pair."""

    file: BinaryIO
    terms: str
    known: Mapping[Key, str]
    refuse: Callable[[str], None]
    taken: deque[Key] = field(init=False, default_factory=deque)
    """Keys of pairs in verification, in order; the consumer removes the first with its verdict."""
    earlier: list[str] = field(init=False, default_factory=list)
    """The verdicts in `known` on pairs of this file."""
    refused: int = field(init=False, default=0)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        ids: set[str | int] = set()
        for number, line in enumerate(lines_of(self.file), start=1):
            if not line.strip():
                continue
            try:
                key, code, tests = _pair(line, self.terms)
                if key[0] in ids:
                    raise ValueError(f"the id {key[0]!r} was there before; give each pair its own")
            except (ValueError, RecursionError) as fault:
                self.refused += 1
                self.refuse(f"Line {number} is no pair and was passed over: {fault}.")
                continue
            ids.add(key[0])
            if key in self.known:
                self.earlier.append(self.known[key])
            else:
                self.taken.append(key)
                yield code, tests


def known_verdicts(out: Path) -> dict[Key, str]:
    """Return the verdicts in the file `out` of an earlier call; remove an unfinished last line. Raises UsageError
    where the file has other content."""
    known: dict[Key, str] = {}
    try:
        with os.fdopen(open_regular(out, flags=os.O_RDWR | os.O_CREAT, mode=0o666), "rb+") as file:
            for line in lines_of(file):
                if not line.endswith(b"\n"):
                    if not (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
                        raise ValueError
                    file.truncate(file.tell() - len(line))
                    break
                written = json.loads(line)
                known[written["id"], written["digest"]] = str(written["verdict"])
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise UsageError(f"{out} holds other things than verdicts; give --out another file.") from fault
    except OSError as error:
        raise UsageError(f"{out} can't be used ({error.strerror}); give --out another file.") from error
    return known


def _pair(line: bytes, terms: str) -> tuple[Key, str, str]:
    """Return key, code and tests of a line. Raises ValueError with the reason, and RecursionError."""
    try:
        read = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg}); write {FORM}, all on one line") from error
    if not isinstance(read, dict):
        raise ValueError(f"it is no JSON object; write {FORM}")
    if type(read.get("id")) not in (str, int):
        raise ValueError("`id` has to be a string or a whole number")
    for name in ("code", "tests"):
        if not isinstance(read.get(name), str):
            raise ValueError(f"`{name}` has to be a string, the source of a module")
    code, tests = read["code"], read["tests"]
    return (read["id"], fingerprint(json.dumps([code, tests, terms]))), code, tests
