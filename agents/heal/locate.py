"""Where a case may be mended: places in files that may change, the most suspicious first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..records.heal import Observation, Place
from ..syntax.units import unit_at, unit_named, whole_file
from .tree import never_changes

MOST_PLACES = 3


def places(
    files: Mapping[str, str], seen: Observation, longest: int, target: tuple[str, str] | None = None
) -> tuple[Place, ...]:
    """At most three places: those of the traceback's frames, deepest first, then of the functions that the failing
    run reached, by their suspicion. `longest` is the room of a reply, in characters.

    With a `target`, path and name, that is the place. Without a traceback one short file is a place as a whole,
    unless tests fail, which tell the functions apart.
    """
    assert seen.symptom is not None
    if target is not None:
        path, name = target
        lines = [frame.line for frame in seen.symptom.frames if frame.path == path]
        return (unit_named(path, files[path], name, lines, longest),)
    told_apart = seen.symptom.kind == "tests" and bool(seen.reached)
    if not seen.symptom.frames and not told_apart and len(files) == 1:
        path, text = next(iter(files.items()))
        if len(text) <= longest // 2:
            return (whole_file(path, text),)
    found: list[Place] = []
    for path, line in _lines(seen):
        if path in files:
            place = unit_at(path, files[path], line, longest)
            if place not in found:
                found.append(place)
    if not found and len(files) == 1:
        path, text = next(iter(files.items()))
        found.append(unit_at(path, text, len(text.splitlines()), longest))
    return tuple(found[:MOST_PLACES])


def elsewhere(files: Mapping[str, str], seen: Observation) -> str | None:
    """The function in which a case fails, `path::name`, where its file may not change; None where it
    may, and where that file holds tests."""
    assert seen.symptom is not None
    deepest = next(iter(seen.symptom.frames), None)
    if deepest is None or deepest.path in files or never_changes(deepest.path):
        return None
    return f"{deepest.path}::{deepest.function}"


def _lines(seen: Observation) -> Iterator[tuple[str, int]]:
    assert seen.symptom is not None
    for frame in seen.symptom.frames:
        yield frame.path, frame.line
    for name, _ in sorted(seen.reached.items(), key=lambda item: -item[1]):
        path, _, line = name.rpartition("::")
        yield path, int(line)
