"""Which tests work through the proxy, and which need one process."""

from __future__ import annotations

import pytest

from agents.records import Test
from agents.verifier.static.needs_one_process import why_one_process

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
    "an object of the tests": "import types\ndef test_a():\n    assert f(types.SimpleNamespace(a=1)) == 1\n",
    "an enum of the tests": (
        "import enum\nclass E(enum.Enum):\n    A = enum.auto()\ndef test_a():\n    assert f(E.A) == 1\n"
    ),
    "an abstract class of the tests": (
        "from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n    def g(self): ...\n"
        "def test_a():\n    assert f(A) == 1\n"
    ),
    "a kind in an annotation": (
        "from collections.abc import Generator\n@pytest.fixture\ndef g() -> Generator[int, None, None]:\n"
        "    yield 1\ndef test_a(g):\n    assert f(g) == 2\n"
    ),
    "sleeping": "import time\ndef test_a():\n    time.sleep(0.1)\n    assert f() == 1\n",
    "a queue of the tests": "import queue\ndef test_a():\n    assert f(queue.Queue().qsize()) == 1\n",
    "a level": "import logging\ndef test_a():\n    assert f(logging.INFO) == 1\n",
    "joining paths": "import os\ndef test_a():\n    assert f('a') == os.path.join('a', 'b') + os.sep\n",
    "the platform": "import sys\ndef test_a():\n    assert f(sys.platform, sys.version_info) == 1\n",
    "a class": "import inspect\ndef test_a():\n    assert inspect.isclass(f)\n    assert inspect.getdoc(f)\n",
    "an asynchronous case": (
        "import unittest\nclass TestA(unittest.IsolatedAsyncioTestCase):\n"
        "    async def test_a(self):\n        self.assertEqual(await f(1), 2)\n"
    ),
    "the environment": "def test_a(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n    assert f() == 'b'\n",
    "an attribute of the code": (
        "import user_code\ndef test_a(monkeypatch):\n    monkeypatch.setattr(user_code, 'LIMIT', 1)\n"
        "    monkeypatch.setattr('user_code.SIZE', 1)\n    assert f() == 'b'\n"
    ),
    "a mock": (
        "from unittest.mock import Mock\ndef test_a():\n    m = Mock()\n    f(m)\n    m.assert_called_once()\n"
    ),
    "a stream of the test": (
        "import io, sys\ndef test_a():\n    sys.stdout = held = io.StringIO()\n    f()\n"
        "    sys.stdout = sys.__stdout__\n    assert held.getvalue() == 'x'\n"
    ),
    "an import that is not used": "import threading\ndef test_a():\n    assert f(1) == 2\n",
}
TOGETHER = {
    "tmp_path": "def test_a(tmp_path):\n    assert f(tmp_path) == 2\n",
    "monkeypatch of a module of all": (
        "import time\ndef test_a(monkeypatch):\n    monkeypatch.setattr(time, 'time', lambda: 1)\n"
        "    assert f() == 1\n"
    ),
    "monkeypatch of a builtin": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.input', lambda: '1')\n    assert f() == 1\n"
    ),
    "monkeypatch of a class": (
        "import user_code\ndef test_a(monkeypatch):\n"
        "    monkeypatch.setattr(user_code.Shop, 'tax', 1)\n    assert f()\n"
    ),
    "monkeypatch handed around": (
        "def test_a(monkeypatch):\n    prepare(monkeypatch)\n    assert f() == 1\n"
        "def prepare(given):\n    given.chdir('x')\n"
    ),
    "patch": "from unittest.mock import patch\ndef test_a():\n    with patch('time.time'):\n        assert f()\n",
    "caplog": "def test_a(caplog):\n    f()\n    assert 'x' in caplog.text\n",
    "threads": "import threading\ndef test_a():\n    threading.Thread(target=f).start()\n    assert f()\n",
    "seed": "import random\ndef test_a():\n    random.seed(1)\n    assert f() == 3\n",
    "a file": "import os\ndef test_a():\n    f('x')\n    assert os.path.exists('x')\n",
    "open": "def test_a():\n    assert f(open('x')) == 1\n",
    "pytest.warns": "def test_a():\n    with pytest.warns(UserWarning):\n        f()\n",
    "wait_for": "import asyncio\ndef test_a():\n    assert asyncio.run(asyncio.wait_for(f(), 1))\n",
    "asdict": "from dataclasses import asdict\ndef test_a():\n    assert asdict(f()) == {}\n",
    "a kind that is asked for": "from enum import Enum\ndef test_a():\n    assert issubclass(f, Enum)\n",
    "a signature": "import inspect\ndef test_a():\n    assert inspect.signature(f).parameters == {}\n",
    "tasks": (
        "import asyncio\nasync def go():\n    return await asyncio.create_task(f())\n"
        "def test_a():\n    assert asyncio.run(go())\n"
    ),
    "pickling": "import pickle\ndef test_a():\n    assert pickle.loads(pickle.dumps(f())) == f()\n",
    "a pool": (
        "from concurrent.futures import ThreadPoolExecutor\ndef test_a():\n"
        "    with ThreadPoolExecutor() as pool:\n        assert list(pool.map(f, [1])) == [2]\n"
    ),
    "a mock by its module": "from unittest import mock\ndef test_a():\n    assert f(mock.patch) == 1\n",
    "references": "import weakref\ndef test_a():\n    assert weakref.ref(f(1))() is None\n",
    "what an object holds": "def test_a():\n    assert vars(f(1)) == {}\n",
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
