"""Which tests work through the proxy, and which need one process."""

from __future__ import annotations

import pytest

from agents.records import Test
from agents.verifier.one_process import why_one_process

HEAD = "import pytest\nfrom user_code import f\n"

APART = {
    "plain data": "def test_a():\n    assert f(1) == 2\n",
    "capsys": "def test_a(capsys):\n    f()\n    assert capsys.readouterr().out == 'x'\n",
    "the path of imports": (
        "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\ndef test_a():\n    assert f(1)\n"
    ),
    "unittest": (
        "import unittest\nclass TestA(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertEqual(f(1), 2)\n"
    ),
    "asyncio.run": "import asyncio\ndef test_a():\n    assert asyncio.run(f()) == 1\n",
    "a clock": "import time\ndef test_a():\n    t = time.time()\n    f()\n    assert time.time() - t < 1\n",
    "an error by its name": "from dataclasses import FrozenInstanceError\ndef test_a():\n    assert f(1)\n",
}
TOGETHER = {
    "tmp_path": "def test_a(tmp_path):\n    assert f(tmp_path) == 2\n",
    "monkeypatch": "def test_a(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n    assert f() == 'b'\n",
    "mock": (
        "from unittest.mock import Mock\ndef test_a():\n    m = Mock()\n    f(m)\n    m.assert_called_once()\n"
    ),
    "caplog": "def test_a(caplog):\n    f()\n    assert 'x' in caplog.text\n",
    "threads": "import threading\ndef test_a():\n    threading.Thread(target=f).start()\n    assert f()\n",
    "seed": "import random\ndef test_a():\n    random.seed(1)\n    assert f() == 3\n",
    "a file": "import os\ndef test_a():\n    f('x')\n    assert os.path.exists('x')\n",
    "open": "def test_a():\n    assert f(open('x')) == 1\n",
    "pytest.warns": "def test_a():\n    with pytest.warns(UserWarning):\n        f()\n",
    "wait_for": "import asyncio\ndef test_a():\n    assert asyncio.run(asyncio.wait_for(f(), 1))\n",
    "asdict": "from dataclasses import asdict\ndef test_a():\n    assert asdict(f()) == {}\n",
    "kinds of things": "import types\ndef test_a():\n    assert isinstance(f(), types.GeneratorType)\n",
}


def one(source: str) -> Test:
    return Test("test_a", source, "generated", HEAD)


@pytest.mark.parametrize("source", APART.values(), ids=APART)
def test_it_works_through_the_proxy(source: str) -> None:
    assert why_one_process(one(source)) is None


@pytest.mark.parametrize("source", TOGETHER.values(), ids=TOGETHER)
def test_it_needs_one_process(source: str) -> None:
    assert why_one_process(one(source)) is not None
