"""Measures what a batch gains from the embedded model's slots: `python -m docs.measure.embedded_batch`.

Eight specs with the options given (half an hour without any; `--strategy single` takes a few minutes), first with
`--jobs 1`, then with the default jobs, each in a process of its own, with nothing replayed. Prints of both the
seconds, the CPU seconds, the share of the processors' time that other guests of a virtual machine took, tokens and
grades; and the ratios. Means nothing on busy cores.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from docs.measure import ROOT

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


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and tokens of a batch."""

    seconds: float
    cpu: float
    tokens: int


def measured(folder: Path, *jobs: str) -> Cost:
    """Measure the batch with `jobs`."""
    out = folder / f"out{'-'.join(jobs)}"
    command = [sys.executable, str(ROOT / "main.py"), "batch", str(folder / "specs.jsonl"), "--out", str(out)]
    settings = ["--model", "embedded", "--no-mutation", *sys.argv[1:]]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GREENLOOP_")}
    started, cpu_before, (stolen_before, all_before) = time.monotonic(), cpu_of_children(), processors()
    subprocess.run([*command, *settings, *jobs], env=environ, stdout=subprocess.DEVNULL, check=False)
    seconds, cpu, (stolen, everything) = time.monotonic() - started, cpu_of_children(), processors()
    share = (stolen - stolen_before) / (everything - all_before)
    results = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    used: Counter[str] = Counter()
    for result in results:
        used.update({name: count for name, count in result["usage"].items() if name.endswith("tokens")})
    grades = dict(Counter(result["grade"] for result in results))
    print(
        f"{' '.join(jobs) or 'default jobs'}: {seconds:.0f} s, {cpu - cpu_before:.0f} s of CPU, {share:.0%} stolen"
    )
    print(f"  {dict(used)}, {grades}", flush=True)
    return Cost(seconds, cpu - cpu_before, used["completion_tokens"])


def cpu_of_children() -> float:
    """CPU seconds of the processes that this one waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def processors() -> tuple[int, int]:
    """Return the ticks that other guests took of the processors since the start, and all ticks (proc(5))."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    times = [int(field) for field in fields]
    return times[7], sum(times)


def main() -> None:
    """Measure both, and print their ratio."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "specs.jsonl").write_text("".join(json.dumps(spec) + "\n" for spec in SPECS), encoding="utf-8")
        alone, together = measured(folder, "--jobs", "1"), measured(folder)
    longer = together.tokens / alone.tokens
    seconds, cpu = together.seconds / alone.seconds, together.cpu / alone.cpu
    print(f"ratio of seconds: {seconds:.2f}, a token {seconds / longer:.2f}")
    print(f"ratio of CPU seconds: {cpu:.2f}, a token {cpu / longer:.2f}")


if __name__ == "__main__":
    main()
