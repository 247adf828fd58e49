"""Canary tests with known outcomes: a run that reports others is forged."""

from __future__ import annotations

import secrets

_FALSE = ("Equal(1, 2)", "True(0)", "False(1)", "In(1, ())", "Raises(ValueError, int)")


def plant(cases: bool = False) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return new canaries with random names, as two files (name -> source) to run before and after the tests, and
    their outcomes by node id. In each file one passes and two fail. With `cases` assertions of TestCase fail, too:
    code in the same process could have replaced them."""
    files: dict[str, bytes] = {}
    outcomes: dict[str, str] = {}
    for _ in range(2):
        name = f"test_{secrets.token_hex(6)}.py"
        left, right, third = (f"test_{secrets.token_hex(6)}" for _ in range(3))
        number = secrets.randbelow(1000)
        files[name] = (
            f"def {left}():\n    assert {number} + 1 == {number + 1}\n"
            f"def {right}():\n    assert {number} + 1 == {number}\n"
            f"def {third}():\n    raise LookupError\n"
        ).encode()
        for asserted in _FALSE if cases else ():
            case = f"test_{secrets.token_hex(6)}"
            text = (
                f"import unittest\nclass {case}(unittest.TestCase):\n    def {case}(self): self.assert{asserted}\n"
            )
            files[name] += text.encode()
            outcomes[f"{name}::{case}::{case}"] = "failed"
        outcomes |= {f"{name}::{left}": "passed", f"{name}::{right}": "failed", f"{name}::{third}": "failed"}
    return files, outcomes
