"""Measures what preloading packages in the warm worker saves: `python -m docs.measure.packages [PYTHON]`.

Prints the median time of a warm verification of code that imports numpy, and pandas, with and without it.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from agents.sandbox import open_sandbox
from agents.sandbox.packages import find_packages, open_interpreter
from agents.verifier import Verifier
from agents.verifier.importable import Importable

ROUNDS = 9
CODES = {
    "numpy": "import numpy as np\n\n\ndef f(xs):\n    return int(np.sum(xs))\n",
    "pandas": "import pandas as pd\n\n\ndef f(xs):\n    return int(pd.Series(xs).sum())\n",
}
TESTS = "from user_code import f\n\ndef test_a():\n    assert f([1, 2]) == 3\n"


class NotPreloaded(Importable):
    """The same packages, none of them imported beforehand."""

    preloaded = ()


def median_ms(package: str, kind: type[Importable], python: Path | None) -> float:
    """Median of ROUNDS warm verifications in milliseconds, after two that start the worker."""
    interpreter = open_interpreter(python)
    importable = kind(find_packages([package], interpreter))
    seconds = []
    with Verifier(open_sandbox("auto", interpreter), importable=importable) as verifier:
        for _ in range(ROUNDS + 2):
            begun = time.perf_counter()
            assert verifier.verify(CODES[package], TESTS).kind == "passed"
            seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds[2:]) * 1000


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for name in CODES:
        without, preloaded = (median_ms(name, kind, given) for kind in (NotPreloaded, Importable))
        print(f"{name}: {without:.0f} ms, preloaded {preloaded:.0f} ms")
