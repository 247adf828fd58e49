"""A verdict where the kernel allows no namespaces: jobs then run in folders of the machine, as its user."""

from __future__ import annotations

from ..support.ordinary_user import told_by_ordinary_user

PROGRAM = """
import json, sys
from agents.errors import SandboxUnavailable
from agents.sandbox.backends.native import Native
from agents.verifier import Verifier
TESTS = "from user_code import f\\n\\n\\ndef test_a():\\n    assert f(1) == 2\\n    assert f(5) == 6\\n"
try:
    sandbox = Native(namespaces=False)
except SandboxUnavailable as error:
    json.dump(str(error), sys.stdout)
else:
    with Verifier(sandbox) as verifier:
        verdicts = [verifier.verify(f"def f(x):\\n    return x + {more}\\n", TESTS) for more in (1, 2)]
    json.dump([[verdict.kind, verdict.reason] for verdict in verdicts], sys.stdout)
"""
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "hypothesis", "sortedcontainers")


def test_right_code_passes_and_wrong_code_fails() -> None:
    told = told_by_ordinary_user(PROGRAM, packages=PYTEST)
    assert [kind for kind, _ in told] == ["passed", "failed"], told
