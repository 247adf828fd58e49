"""greenloop as its users run it: `python main.py ...` as a process of its own, nothing of the user's in reach."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from .preloaded import POSSIBLE, Preloaded

ROOT = Path(__file__).parents[2]
REPLAYS = ROOT / "tests" / "replays"
"""Replies of the embedded model, recorded with `--record tests/replays`."""
RECORDED_ON = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the recorded prompts name Python 3.11, on which they were asked"
)

QUICKSORT = (
    "Implement quicksort(arr: list[int]) -> list[int] that returns a new sorted list. "
    "Do not use Python's built-in sort."
)
SLUGIFY = (
    "Implement slugify(text: str) -> str that lowercases, ascii-folds, replaces spaces with dashes "
    "and strips punctuation."
)
SLUGIFY_WITH_EXAMPLE = f'{SLUGIFY} slugify("A b") == "a-b"'
SUDOKU = "Implement is_valid_sudoku(board: list[list[int]]) -> bool, zero = empty."


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the tests' processes: an empty home, no key, no proxy, and no mutants by default."""
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**own, "GREENLOOP_MUTATION": "false", **(extra or {})}


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "main.py"), *arguments]


def greenloop(
    directory: Path,
    *arguments: str,
    stdin: str | None = "",
    extra: Mapping[str, str] | None = None,
    seconds: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run to the end in `directory`, which is its home too: as a fork of a process that has imported greenloop,
    unless its environment could have changed what it imports."""
    if POSSIBLE and stdin is not None and all(name.startswith(("GREENLOOP_", "OPENAI_")) for name in extra or ()):
        return _preloaded().run(list(arguments), directory, environment(directory, extra), stdin, seconds)
    return subprocess.run(
        command(*arguments),
        cwd=directory,
        env=environment(directory, extra),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


@cache
def _preloaded() -> Preloaded:
    process = Preloaded(environment(Path(tempfile.gettempdir())))
    atexit.register(process.close)
    return process


@contextmanager
def in_background(
    directory: Path, *arguments: str, extra: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run in `directory`, in a session of its own; killed at the end of the body."""
    with subprocess.Popen(
        command(*arguments),
        cwd=directory,
        env=environment(directory, extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def replayed(
    directory: Path, spec: str, *arguments: str, replays: Path = REPLAYS
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run a spec on recorded replies with --json; the process and its document."""
    ended = greenloop(directory, spec, "--model", f"recorded:{replays}", "--json", *arguments)
    document: dict[str, Any] = json.loads(ended.stdout)
    return ended, document


def processes_with(marker: str) -> Sequence[int]:
    """Processes whose command line or environment holds `marker`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            seen = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if marker.encode() in seen and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found
