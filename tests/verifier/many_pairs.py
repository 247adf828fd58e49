"""Verifies many pairs of code and tests through one `Verifier`, one in a hundred hostile, and tells as JSON what
it holds on the way and which verdicts differ from those of a verifier of their own:
`python -m tests.verifier.many_pairs 10000`. It has to run below an empty TMPDIR."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents import Verdict, Verifier, verify

from ..support.held import held, settled, wait_until

TESTS = (
    "import pytest\nfrom user_code import f\n\n"
    "@pytest.mark.parametrize('n', range(3))\ndef test_many(n):\n    assert f(n) == 2 * n + 1\n\n"
    "def test_one():\n    assert f(10) == 21\n"
)
HONEST = (
    "def f(x):\n    return 2 * x + 1\n",
    "def f(x):\n    return 2 * x\n",
    "import math\ndef f(x):\n    return math.isqrt(4 * x * x) + 1\n",
    "def f(x):\n    return 1 if x < 5 else 21\n",
    "def f(x):\n    raise ValueError(x)\n",
    "def f(x):\n    return [1, 3, 5, 21][min(x, 3)]\n",
    "def g(x):\n    return 2 * x + 1\n",
)
_EQUAL = "class E(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n"
HOSTILE = {
    "forgery of equality": f"{_EQUAL}def f(x):\n    return E(0)\n",
    "forgery of the end": "import os\ndef f(x):\n    os._exit(0)\n",
    "forgery on every channel": (
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        try:\n"
        "            os.write(fd, b'R\\x00\\x00\\x00\\x02{}')\n        except OSError:\n            continue\n"
    ),
    "fork bomb": (
        "import os\ndef f(x):\n    while True:\n        try:\n            os.fork()\n        except OSError:\n"
        "            continue\n"
    ),
    "flood of output": "def f(x):\n    while True:\n        print('x' * 100000)\n",
    "flood of memory": "def f(x):\n    kept = []\n    while True:\n        kept.append(bytes(10_000_000))\n",
    "flood of files": (
        "import itertools\ndef f(x):\n    for n in itertools.count():\n"
        "        with open(f'/tmp/{n}', 'wb') as file:\n            file.write(bytes(1000))\n"
    ),
    "hang": "def f(x):\n    while True:\n        pass\n",
}
_HOSTILE_EVERY = 100
_LOOKS = 10


def pairs(count: int) -> Iterator[tuple[str, str]]:
    """The pairs; no code is there twice."""
    for number in range(count):
        yield f"{code_of(number)}# {number}\n", TESTS


def code_of(number: int) -> str:
    """The code of a pair but for the comment that tells it from others."""
    if number % _HOSTILE_EVERY == _HOSTILE_EVERY // 2:
        return list(HOSTILE.values())[number // _HOSTILE_EVERY % len(HOSTILE)]
    return HONEST[number % len(HONEST)]


def said(verdict: Verdict, code: str) -> object:
    """What of a verdict must not depend on what else is verified: all but times, how many changes there was time
    to try, and, of hostile code, words."""
    if code in HOSTILE.values():
        return verdict.kind != "passed"
    outcomes = [(each.test_id, each.status, each.detail) for each in verdict.outcomes]
    noticing = [each.test_id for each in verdict.strength if each.noticed]
    return [verdict.kind, verdict.reason, outcomes, verdict.refused, noticing, verdict.notes]


def main(count: int) -> None:
    """Write the document to standard output."""
    directory = Path(tempfile.gettempdir())
    alone = {code: said(verify(code, TESTS), code) for code in (*HONEST, *HOSTILE.values())}
    wait_until(lambda: held(directory).threads == 1, 10)
    before = held(directory)
    looks: list[dict[str, Any]] = []
    differing: list[Any] = []
    begun = time.monotonic()
    with Verifier(jobs=os.cpu_count()) as verifier:
        for number, verdict in enumerate(verifier.map(pairs(count))):
            code = code_of(number)
            if said(verdict, code) != alone[code]:
                differing.append([number, code, repr(verdict)])
            if number % max(1, count // _LOOKS) == 0:
                looks.append({"megabytes": resident(), "pairs": number, **asdict(held(directory))})
        seconds = time.monotonic() - begun
        time.sleep(1)
        idle = asdict(held(directory))
    after = settled(directory, before)
    cpu = [sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    document = {
        "seconds": seconds,
        "cpu": cpu,
        "hostile": [alone[code] for code in HOSTILE.values()],
        "differing": differing[:5],
        "looks": looks,
        "idle": idle,
        "before": asdict(before),
        "after": asdict(after),
    }
    json.dump(document, sys.stdout)


def resident() -> float:
    """Resident megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main(int(sys.argv[1]))
