"""Measures what a batch costs beside its model calls and verifications: `python -m docs.measure.batch [SPECS]`.

A provider on loopback writes 500 little functions at once, one spec after the other is done in the sandbox of this
machine, and what is left of the time is printed, with the memory of the tool after 50 specs and after all of them.
It takes some minutes on two idle cores, and means nothing on busy ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.batch.records import EntryResult


from tests.batch.made import Kept, uninterrupted

EARLY = 50


def main() -> None:
    """Measure, and print one line for each figure."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    from tests.batch.adders import KEY, Writer, write_specs, writing

    with tempfile.TemporaryDirectory() as directory, writing(Writer()) as provider:
        write_specs(Path(directory), count)
        child = [sys.executable, "-m", "docs.measure.batch", "do", directory, provider.api_base]
        ended = subprocess.run(child, env={**os.environ, **KEY}, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(ended.stdout.splitlines()[-1])
    timed = count - 1  # all but the first
    each = (found["seconds"] - found["calls"] - found["verifications"]) / timed * 1000
    print(f"{found['reached']} of {count} specs verified in {found['seconds']:.1f} s, one at a time")
    print(f"model calls: {found['calls'] / timed * 1000:.1f} ms a spec")
    print(f"verifications: {found['verifications'] / timed * 1000:.1f} ms a spec")
    print(f"all else: {each:.1f} ms a spec")
    early, late = found["memory"]
    print(f"memory of the tool: {early:.1f} MB after {min(EARLY, count)} specs, {late:.1f} MB after {count}")


def measure(directory: Path, api_base: str) -> dict[str, Any]:
    """Do the batch in this process; seconds of its parts, and resident megabytes."""
    from agents.batch.batch import run_batch
    from agents.batch.entries import read_entries
    from agents.batch.records import Batch
    from agents.settings import Settings
    from agents.verifier import Verifier

    spent: list[float] = []
    for name in ("board", "confirm"):
        setattr(Verifier, name, _timed(getattr(Verifier, name), spent))
    entries = read_entries([str(directory / "specs")], sys.stdin)
    settings = Settings(model="openai/m", api_base=api_base, strategy="single", mutation=False)
    batch = Batch(directory / "out", entries, settings, os.environ, jobs=1)
    watch = Watch(spent)
    result = run_batch(batch, watch.showing, uninterrupted)
    return {
        "reached": result.counts.get("verified", 0),
        "seconds": time.monotonic() - watch.started,
        "calls": result.usage.seconds - watch.first_calls,
        "verifications": sum(spent),
        "memory": [watch.early or resident(), resident()],
    }


class Watch(Kept):
    """A display that shows nothing, and looks at the memory after some specs. The clock starts at the first one's
    end, since that one imports and starts what the others use."""

    def __init__(self, spent: list[float]) -> None:
        super().__init__()
        self.started = time.monotonic()
        self.first_calls = 0.0
        self._spent = spent
        self.early = 0.0
        self._ended = 0

    def ended(self, result: EntryResult) -> None:
        """Look at the clock and the memory."""
        self._ended += 1
        if self._ended == 1:
            self.started, self.first_calls = time.monotonic(), result.usage.seconds
            self._spent.clear()
        if self._ended == EARLY:
            self.early = resident()


def _timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    @wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.monotonic()
        try:
            return function(*arguments, **named)
        finally:
            spent.append(time.monotonic() - started)

    return timed


def resident() -> float:
    """Resident megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    if sys.argv[1:2] == ["do"]:
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[3])))
    else:
        main()
