"""Measures what a batch gains from the embedded model's slots: `python docs/measure_embedded_batch.py`.

Eight specs with the options given (`--strategy single` takes a few minutes), first with `--jobs 1`, then with the
default jobs, each in a process of its own, with nothing replayed; prints seconds, generated tokens and grades of
both, and the ratio. Means nothing on busy cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPECS = (
    "Implement clamp(n: int, low: int, high: int) -> int that limits n to the range. clamp(5, 1, 3) == 3",
    "Implement is_palindrome(text: str) -> bool that ignores case. is_palindrome('Anna') == True",
    "Implement count_vowels(text: str) -> int that counts a, e, i, o, u. count_vowels('banana') == 3",
    "Implement factorial(n: int) -> int for n >= 0. factorial(5) == 120",
    "Implement reverse_words(text: str) -> str that reverses the order of words. reverse_words('a b') == 'b a'",
    "Implement second_largest(items: list[int]) -> int of distinct items. second_largest([1, 3, 2]) == 2",
    "Implement flatten(rows: list[list[int]]) -> list[int]. flatten([[1], [2, 3]]) == [1, 2, 3]",
    "Implement to_binary(n: int) -> str without a prefix, for n >= 0. to_binary(5) == '101'",
)


def measured(folder: Path, *jobs: str) -> tuple[float, int]:
    """Seconds and generated tokens of the batch with `jobs`."""
    out = folder / f"out{'-'.join(jobs)}"
    command = [sys.executable, str(ROOT / "main.py"), "batch", str(folder / "specs.jsonl"), "--out", str(out)]
    settings = ["--model", "embedded", "--no-mutation", *sys.argv[1:]]
    started = time.monotonic()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GREENLOOP_")}
    subprocess.run([*command, *settings, *jobs], env=environ, stdout=subprocess.DEVNULL, check=False)
    seconds = time.monotonic() - started
    results = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    tokens = sum(result["usage"]["completion_tokens"] for result in results)
    grades = dict(Counter(result["grade"] for result in results))
    print(f"{' '.join(jobs) or 'default jobs'}: {seconds:.0f} s, {tokens} tokens, {grades}", flush=True)
    return seconds, tokens


def main() -> None:
    """Measure both, and print their ratio."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "specs.jsonl").write_text("".join(json.dumps(spec) + "\n" for spec in SPECS), encoding="utf-8")
        alone, alone_tokens = measured(folder, "--jobs", "1")
        together, together_tokens = measured(folder)
    print(f"ratio: {together / alone:.2f}; per token: {together * alone_tokens / (together_tokens * alone):.2f}")


if __name__ == "__main__":
    main()
