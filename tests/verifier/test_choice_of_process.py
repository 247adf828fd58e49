"""Which tests share a process with the code is decided by the tests alone, whatever the code answers."""

from __future__ import annotations

import pytest

from agents.verifier import Verifier

CODED = "from user_code import decode, encode\ndef test_b():\n    coded = encode('abc')\n"
CALLED = "def called(x): return x\ndef test_a(tmp_path):\n    assert encode(called) is None\n"
BY_THE_CODE = {
    "an error about weak references": (
        "def encode(x): raise TypeError(\"cannot create weak reference to 'int' object\")\ndecode = encode\n",
        CODED + "    assert coded == 'cba'\n",
    ),
    "the path of a temporary directory": (
        "def encode(x): return '/tmp/pytest-of-tests/a'\ndef decode(x): return 'abc'\n",
        CODED + "    assert decode(coded) == 'abc'\n    assert coded == 'cba'\n",
    ),
    "the path of an earlier test": (
        "seen = []\ndef encode(x):\n    seen.append(x)\n    return str(seen[0])\ndef decode(x): return 'abc'\n",
        "from user_code import encode\ndef test_a(tmp_path):\n    assert encode(tmp_path) == str(tmp_path)\n"
        + CODED
        + "    assert decode(coded) == 'abc'\n    assert coded == 'cba'\n",
    ),
    "a text that is too long where it is doubled": (
        "def encode(x): return 'x' * (5 << 20)\ndef decode(x): return 'abc'\n",
        CODED + "    assert decode(coded + coded) == 'abc'\n    assert coded == 'cba'\n",
    ),
    "what an earlier test passed to it": (
        "seen = []\ndef encode(x):\n    seen.append(x)\n    return seen[0] if x == 'abc' else None\n"
        "def decode(x): return 'abc'\n",
        "from user_code import encode\n"
        + CALLED
        + CODED
        + "    assert decode(coded) == 'abc'\n    assert coded == 'cba'\n",
    ),
    "a tuple of many levels": (
        "def encode(x):\n    t = ()\n    for _ in range(300): t = (t,)\n    return t\n"
        "def decode(x): return 'abc'\n",
        CODED + "    assert decode([coded]) == 'abc'\n    assert coded == 'cba'\n",
    ),
    "a view that looks like a class's": (
        "import types\nheld = {}\ndef encode(x): return types.MappingProxyType(held)\n"
        "def decode(x):\n    held['__module__'] = 'abc'\n    return 'abc'\n",
        CODED + "    assert decode(1) == 'abc'\n    assert decode(coded) == 'abc'\n    assert coded == 'cba'\n",
    ),
}


@pytest.mark.parametrize("case", BY_THE_CODE)
def test_what_the_code_answers_moves_no_test_into_its_process(case: str, verifier: Verifier) -> None:
    verdict = verifier.verify(*BY_THE_CODE[case])
    assert (verdict.kind, verdict.isolation) == ("failed", "isolated"), verdict


def test_weak_references_to_objects_of_the_tests_work_apart(verifier: Verifier) -> None:
    code = (
        "import weakref\nclass Bus:\n    def __init__(self):\n        self.seen = weakref.WeakKeyDictionary()\n"
        "    def add(self, each):\n        self.seen[each] = 1\n        return {}\n"
    )
    tests = (
        "from user_code import Bus\nclass Seen: pass\ndef test_a():\n    bus, one, two = Bus(), Seen(), Seen()\n"
        "    assert bus.add(one) == 1\n    assert bus.add(one) == 1\n    assert bus.add(two) == 2\n"
    )
    verdict = verifier.verify(code.format("len(self.seen)"), tests)
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), verdict
    assert verifier.verify(code.format("1"), tests).kind == "failed"
