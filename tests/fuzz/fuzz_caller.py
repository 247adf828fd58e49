"""Fuzzes the test process's side of its channel to the code, guided by coverage; outside the test suite.

`pip install atheris`, then `python -m tests.fuzz.fuzz_caller -max_total_time=3600` (options are libFuzzer's; a
directory keeps the inputs found). Each input is a few frames that the code's process sends while it is asked; none
may make the test process act: open, execute or compile anything, or end other than with an answer or an exception.
"""

from __future__ import annotations

import json
import sys
from typing import Any

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed here: pip install atheris (Linux and macOS, CPython 3.11 to 3.13)")

with atheris.instrument_imports(include=["agents.verifier.inside"]):
    from ..verifier.test_hostile_code import FIRST, NAMES, TYPES, Hostile, Passed, acts

_TAGS = [*"tfmNsv@yTCKoxiucbrenDQP", "mv", "da", "dt", "ti", "td", "tz", "U", "PP", "F"]
_WHATS = ["call", "get", "set", "delete", "method", "special", "names", "operate", "subclass", "return", "raise"]
_WORDS = [*NAMES, "value", "method", "builtins", "int", "ValueError", "list", "__eq__", "__call__", "a" * 50]
_CLASS = {
    "name": "X", "qualname": "X", "module": "user_code", "doc": None, "specials": ["__eq__"], "methods": ["f"],
    "unhashable": False, "value": None, "error": None, "like": None, "compares": True, "checks": False,
    "truth": False,
}  # fmt: skip


def one_input(data: bytes) -> None:
    """Let a test call the code, which sends what `data` describes."""
    given = atheris.FuzzedDataProvider(data)
    passed = [Passed(), lambda *_: 1, iter([1, 2]), [1, [2]], ValueError("x")][given.ConsumeIntInRange(0, 4)]
    frames = [_frame(given) for _ in range(given.ConsumeIntInRange(0, 3))]
    Hostile(passed, _frame(given)).run(*frames)
    if found := acts():
        raise RuntimeError(f"the test process acted: {found}")


def _frame(given: Any) -> bytes:
    if given.ConsumeIntInRange(0, 20) == 0:
        return bytes(given.ConsumeBytes(60))
    what = _WHATS[given.ConsumeIntInRange(0, len(_WHATS) - 1)]
    trees = [_tree(given, 0) for _ in range(given.ConsumeIntInRange(0, 4))]
    body = ["t", FIRST, *trees] if given.ConsumeBool() else (trees or [None])[0]
    containers = [
        [
            given.ConsumeIntInRange(0, 12),
            ["list", "dict", "set", None][given.ConsumeIntInRange(0, 3)],
            None,
            *trees,
        ]
        for _ in range(given.ConsumeIntInRange(0, 2))
    ]
    return json.dumps([what, [body, containers, [given.ConsumeIntInRange(0, 12)]], []]).encode()


def _tree(given: Any, depth: int) -> Any:
    kind = given.ConsumeIntInRange(0, 9)
    if depth > 4 or kind == 0:
        return [None, True, 3, -0.5, "x", float("nan")][given.ConsumeIntInRange(0, 5)]
    if kind == 1:
        return _WORDS[given.ConsumeIntInRange(0, len(_WORDS) - 1)]
    if kind == 2:
        return TYPES[given.ConsumeIntInRange(0, len(TYPES) - 1)]
    if kind == 3:
        changed = dict(_CLASS)
        changed[list(_CLASS)[given.ConsumeIntInRange(0, len(_CLASS) - 1)]] = _tree(given, depth + 1)
        return ["K", given.ConsumeIntInRange(0, 12), changed, []]
    if kind == 4:
        return ["o", given.ConsumeIntInRange(0, 12), _tree(given, depth + 1), _tree(given, depth + 1)]
    if kind == 5:
        parts = [[], {"code": 1}, "", None, None, False, ["note"]]
        return ["x", ["T", "builtins", _WORDS[given.ConsumeIntInRange(0, len(_WORDS) - 1)]], parts]
    if kind == 6:
        return [["y", "@", "m", "N", "o", "K"][given.ConsumeIntInRange(0, 5)], given.ConsumeIntInRange(-1, 12)]
    tag = _TAGS[given.ConsumeIntInRange(0, len(_TAGS) - 1)]
    return [tag, *(_tree(given, depth + 1) for _ in range(given.ConsumeIntInRange(0, 4)))]


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], "-len_control=0", "-max_len=600", *sys.argv[1:]], one_input)
    atheris.Fuzz()
