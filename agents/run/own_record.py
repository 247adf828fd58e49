"""How often grades were right on a benchmark of the user's own: `--track-record`, a results.json of `bench`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UsageError
from ..judge.track_record import counted, kind_of
from ..records import TrackRecord
from ..spec.place import read_text

_LONGEST = 64_000_000


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """The results of greenloop in the file `name`: of each grade and kind, if they were right on hidden tests."""

    name: str
    right: Mapping[tuple[str, str], Sequence[bool]]

    def of(self, known: TrackRecord) -> TrackRecord:
        """Return the record of the grade and kind of `known`; an empty one where the file has none."""
        found = self.right.get((known.grade, known.kind))
        own = TrackRecord(known.model, known.grade, known.kind, benchmarks=(self.name,))
        return replace(own, **counted(found)) if found else own


def read_own_record(path: Path) -> OwnRecord:
    """Read the results.json of a benchmark of specs. Raises UsageError."""
    right: dict[tuple[str, str], list[bool]] = {}
    try:
        for row in json.loads(read_text(path, _LONGEST))["results"]:
            if row["strategy"] == "greenloop" and row["grade"] and row["hidden"]:
                key = row["grade"], kind_of(row["grade"], row["clauses"], row["alike"])
                right.setdefault(key, []).append(row["hidden"]["plus"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no results.json that `bench` wrote for greenloop; measure anew.") from error
    return OwnRecord(str(path), right)
