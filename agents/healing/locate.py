"""Where a case may be mended: places in files that may change, the most suspicious first."""

from __future__ import annotations

from collections.abc import Mapping

from ..records.heal import Place, Symptom
from ..syntax.units import unit_at, unit_named, whole_file
from ..worktree.tree import never_changes

MOST_PLACES = 3


def places(
    files: Mapping[str, str],
    symptom: Symptom,
    reached: Mapping[str, float],
    longest: int,
    target: tuple[str, str] | None,
) -> tuple[Place, ...]:
    """At most three places: those of the traceback's frames, deepest first, then of the functions that the failing
    run reached, by their suspicion. `longest` is the room of a reply, in characters.

    With a `target`, path and name, that is the place. Without a traceback one short file is a place as a whole,
    unless tests fail, which tell the functions apart.
    """
    if target is not None:
        path, name = target
        lines = [frame.line for frame in symptom.frames if frame.path == path]
        return (unit_named(path, files[path], name, lines, longest),)
    told_apart = symptom.kind == "tests" and bool(reached)
    if not symptom.frames and not told_apart and len(files) == 1:
        path, text = next(iter(files.items()))
        if len(text) <= longest // 2:
            return (whole_file(path, text),)
    found: list[Place] = []
    functions = (name.rpartition("::") for name in sorted(reached, key=lambda name: -reached[name]))
    seen = [(frame.path, frame.line) for frame in symptom.frames]
    for path, line in [*seen, *((path, int(line)) for path, _, line in functions)]:
        if path in files and (place := unit_at(path, files[path], line, longest)) not in found:
            found.append(place)
    if not found and len(files) == 1:
        path, text = next(iter(files.items()))
        found.append(unit_at(path, text, len(text.splitlines()), longest))
    return tuple(found[:MOST_PLACES])


def elsewhere(files: Mapping[str, str], symptom: Symptom) -> str | None:
    """The function in which a case fails, `path::name`, where its file may not change; None where it
    may, and where that file holds tests."""
    deepest = next(iter(symptom.frames), None)
    if deepest is None or deepest.path in files or never_changes(deepest.path):
        return None
    return f"{deepest.path}::{deepest.function}"
