"""Verifies code many times in a row and tells what it holds before, between and after, as JSON:
`python -m tests.verifier.many_verifications bubblewrap 1000`. It has to run below an empty TMPDIR."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from agents.sandbox import open_sandbox
from agents.sandbox.interface import SandboxName
from agents.verifier import Verifier

from ..support.held import held, settled

APART = "from user_code import f\ndef test_a():\n    assert f(1) == 2\ndef test_b():\n    assert f(2) == 3\n"
TOGETHER = (
    APART + "def test_c(monkeypatch):\n    monkeypatch.chdir('/tmp')\n    open('x', 'w')\n    assert f(3) == 4\n"
)
CODES = {
    "passes": "def f(x):\n    return x + 1\n",
    "fails": "def f(x):\n    return x\n",
    "ends its process": "import os\ndef f(x):\n    os._exit(0)\n",
    "leaves daemons": (
        "import os, time\ndef f(x):\n    if os.fork() == 0:\n        os.setsid()\n        os.fork()\n"
        "        time.sleep(3600)\n    return x + 1\n"
    ),
    "leaves threads and files": (
        "import tempfile, threading, time\ndef f(x):\n"
        "    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n"
        "    tempfile.mkdtemp()\n    open('left', 'w').close()\n    return x + 1\n"
    ),
    "hangs": "def f(x):\n    while True:\n        pass\n",
}
_HANGS_EVERY = 25
_TOGETHER_EVERY = 7


def main(name: SandboxName, count: int) -> None:
    """Write the document to standard output."""
    directory = Path(tempfile.gettempdir())
    kinds: dict[str, dict[str, int]] = {label: {} for label in CODES}
    before = held(directory)
    begun = time.monotonic()
    box = open_sandbox(name)
    with Verifier(box, call_seconds=2.0) as verifier:
        for _ in range(3):  # a cold one, and from the second on a warm worker
            verifier.verify(CODES["passes"], APART)
        time.sleep(1)
        between = held(directory)
        for number in range(count):
            label = _label(number)
            tests = TOGETHER if number % _TOGETHER_EVERY == 0 else APART
            kind = verifier.verify(CODES[label], tests).kind
            kinds[label][kind] = kinds[label].get(kind, 0) + 1
        afterwards = settled(directory, between)
    box.close()
    seconds = time.monotonic() - begun
    states = {"before": before, "between": between, "afterwards": afterwards, "closed": settled(directory, before)}
    document = {"seconds": seconds, "kinds": kinds, **{key: asdict(state) for key, state in states.items()}}
    json.dump(document, sys.stdout)


def _label(number: int) -> str:
    if number % _HANGS_EVERY == _HANGS_EVERY - 1:
        return "hangs"
    labels = [label for label in CODES if label != "hangs"]
    return labels[number % len(labels)]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))  # type: ignore[arg-type]
