"""Which tests work through the proxy, and which need one process."""

from __future__ import annotations

import pytest

from agents.records import Test
from agents.verifier.static.needs_one_process import why_one_process

HEAD = "import pytest\nfrom user_code import f\n"

APART = {
    "a path that is a name": (
        "from pathlib import Path\ndef test_a():\n    p = Path('a') / 'b.txt'\n"
        "    assert f(p) == Path('a/b.md') and isinstance(f('x'), Path)\n    assert f(p).name == 'b.md'\n"
    ),
    "a method called open": "def test_a():\n    assert f(1).open() == ['a']\n    f(2).open()\n",
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
    "a method decorated by the code": (
        "class A:\n    @f\n    def size(self):\n        return 1\ndef test_a():\n    assert A().size() == 1\n"
    ),
    "an import that is not used": "import threading\ndef test_a():\n    assert f(1) == 2\n",
}
TOGETHER = {
    "a property made by the code": (
        "class A:\n    @f\n    def size(self):\n        return 1\ndef test_a():\n    assert A().size == 1\n"
    ),
    "a relative path": "def test_a(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n    assert f('x')\n",
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
    "kinds of things": "import types\ndef test_a():\n    assert isinstance(f(), types.CoroutineType)\n",
    "a file where the code says": "def test_a():\n    assert f().read_text() == 'x'\n",
    "a folder where the code says": "def test_a():\n    place = f()\n    assert place.is_dir()\n",
    "a method called open whose file is read": "def test_a():\n    assert f(1).open().read() == 'x'\n",
    "a file of a path": "import pathlib\ndef test_a():\n    pathlib.Path('x').open('w')\n    assert f(1)\n",
}

PATHS = "import json, os, time\nfrom pathlib import Path\nimport user_code\nfrom user_code import Store\n"
FILES_APART = {
    "a folder": "assert f(tmp_path) == 2",
    "a file": "p = tmp_path / 'a'\n    p.write_text('x')\n    assert f(p) == 2",
    "a text": "assert f(str(tmp_path / 'a')) == 2\n    assert f(f'{tmp_path}/a') == 2",
    "opened": "f(tmp_path)\n    with open(tmp_path / 'a') as g:\n        assert json.load(g) == 2",
    "two at once": "a, b = tmp_path / 'a', tmp_path / 'b'\n    f(a, b)\n    assert b.read_text() == 'x'",
    "os.path": "p = os.path.join(tmp_path, 'a')\n    assert os.path.exists(p)",
    "a size": "f(tmp_path)\n    assert (tmp_path / 'a').stat().st_size == 1",
    "a listing": "f(tmp_path)\n    assert [p.read_text() for p in sorted(tmp_path.glob('*.txt'))] == ['x']",
    "numbered": "for i in range(3):\n        (tmp_path / f'{i:02}.txt').write_text('x')\n    f(tmp_path)",
}
FILES_APART_WHOLE = {
    "annotated": "def test_a(tmp_path: Path) -> None:\n    p: Path = tmp_path / 'a'\n    assert p.exists()\n",
    "cases": (
        "@pytest.mark.parametrize('name', ['a', 'b/c'])\ndef test_a(tmp_path, name):\n"
        "    assert not (tmp_path / name).exists()\n"
    ),
    "a fixture": (
        "@pytest.fixture\ndef held(tmp_path):\n    p = tmp_path / 'a'\n    p.write_text('x')\n"
        "    yield p\ndef test_a(held):\n    f(held)\n    assert held.read_text() == 'x'\n"
    ),
    "a function": (
        "def put(folder, name, text):\n    p = folder / name\n    p.write_text(text)\n    return p\n"
        "def test_a(tmp_path):\n    p = put(tmp_path, 'a', 'x')\n    assert p.read_text() == f(p)\n"
    ),
    "in a class": "class TestA:\n    def test_a(self, tmp_path):\n        assert (tmp_path / 'a').is_file()\n",
}
FILES_TOGETHER = {
    "a path from the code": "assert f(tmp_path).read_text() == 'x'",
    "one of two from the code": "a, b = tmp_path / 'a', f()\n    assert b.read_text() == 'x'",
    "two that the code gives": "a, b = f(tmp_path)\n    assert b.read_text() == 'x'",
    "a constant of the code": "assert 'x' in user_code.PATH.read_text()",
    "a name from the code": "assert (tmp_path / f()).read_text() == 'x'",
    "a name made later": "p = tmp_path / f()\n    assert open(p).read() == 'x'",
    "a number that leads out": "for i in range(9):\n        (tmp_path / f'{i:/>3}').touch()\n    assert f()",
    "a way out": "assert (tmp_path / '../x').read_text() == 'x'",
    "an absolute name": "assert (tmp_path / '/src/x').read_text() == 'x'",
    "a folder above": "assert (tmp_path.parent / 'x').read_text() == 'x'",
    "a pattern that leads out": "assert [p.read_text() for p in tmp_path.glob('../*')]",
    "another path": "assert Path('x').read_text() == f(tmp_path)",
    "the file of the tests": "assert Path(__file__).read_text() == f(tmp_path)",
    "a lambda": "assert f(tmp_path, lambda tmp_path: tmp_path.read_text())",
    "bound again": "tmp_path = f(tmp_path)\n    assert tmp_path.exists()",
    "read by name": "assert getattr(f(tmp_path), 'read_text')() == 'x'",
    "a time": "f(tmp_path)\n    time.sleep(1)\n    assert f(tmp_path)",
    "its time": "assert (tmp_path / 'a').stat().st_mtime == f(tmp_path)",
    "a link": "(tmp_path / 'a').symlink_to('/x')\n    assert f(tmp_path)",
    "a mode": "(tmp_path / 'a').mkdir(mode=0)\n    assert f(tmp_path)",
    "kept open": "g = open(tmp_path / 'a')\n    f(tmp_path)\n    assert g.read() == 'x'",
    "open meanwhile": "with open(tmp_path / 'a') as g:\n        f(tmp_path)\n        assert g.read()",
    "dropped": "Store(tmp_path / 'a').add(1)\n    assert (tmp_path / 'a').exists()",
    "deleted": "s = f(tmp_path)\n    del s\n    assert (tmp_path / 'a').exists()",
    "permissions": "with pytest.raises(PermissionError):\n        (tmp_path / 'a').write_text('x')",
    "a mode for a file": "(tmp_path / 'a').touch(0o600)\n    assert f(tmp_path)",
    "a function that opens": "with open(tmp_path / 'a', opener=f) as g:\n        assert g.read() == 'x'",
}
FILES_TOGETHER_WHOLE = {
    "given by the code": (
        "def put(p):\n    return p.read_text()\ndef test_a(tmp_path):\n    assert put(f(tmp_path))\n"
    ),
    "a name given by the code": (
        "def put(folder, name):\n    return (folder / name).read_text()\n"
        "def test_a(tmp_path):\n    assert put(tmp_path, 'a')\n    assert put(tmp_path, f())\n"
    ),
    "a callback": (
        "def tell(p):\n    return p.read_text()\ndef test_a(tmp_path):\n    assert f(tmp_path, tell)\n"
    ),
    "a default": "def test_a(tmp_path=user_code.PATH):\n    assert tmp_path.read_text() == 'x'\n",
    "a parameter": (
        "@pytest.mark.parametrize('tmp_path', [user_code.PATH])\ndef test_a(tmp_path):\n"
        "    assert tmp_path.read_text() == 'x'\n"
    ),
    "a parameter by a name": (
        "WHAT = 'tmp_path'\n@pytest.mark.parametrize(WHAT, [user_code.PATH])\ndef test_a(tmp_path):\n"
        "    assert tmp_path.read_text() == 'x'\n"
    ),
    "decorated by the code": "@user_code.give\ndef test_a(tmp_path):\n    assert tmp_path.read_text() == 'x'\n",
    "a class of the code's": (
        "class TestA(user_code.Base):\n    def test_a(self, tmp_path):\n        assert tmp_path.exists()\n"
    ),
    "a fixture called that": (
        "@pytest.fixture(name='tmp_path')\ndef given():\n    return f()\n"
        "def test_a(tmp_path):\n    assert tmp_path.read_text() == 'x'\n"
    ),
    "a method of that name": (
        "class A:\n    def put(p):\n        return p.read_text()\n"
        "def put(p):\n    return f(p)\n"
        "def test_a(tmp_path):\n    put(tmp_path)\n    assert A.put(f(tmp_path)) == 'x'\n"
    ),
    "a fixture of that name": (
        "@pytest.fixture\ndef tmp_path():\n    return f()\ndef test_a(tmp_path):\n    assert f()\n"
    ),
    "a replaced function": (
        "def test_a(tmp_path, monkeypatch):\n    monkeypatch.setattr(user_code.os, 'scandir', f)\n"
        "    assert f(tmp_path)\n"
    ),
    "another module": (
        "import zipfile\ndef test_a(tmp_path):\n    zipfile.ZipFile(tmp_path / 'a')\n    assert f()\n"
    ),
    "all of the code's": "from user_code import *\ndef test_a(tmp_path):\n    assert p.read_text() == 'x'\n",
}
for cases, bodies, whole in (
    (APART, FILES_APART, FILES_APART_WHOLE),
    (TOGETHER, FILES_TOGETHER, FILES_TOGETHER_WHOLE),
):
    cases |= {name: f"{PATHS}def test_a(tmp_path):\n    {body}\n" for name, body in bodies.items()}
    cases |= {name: PATHS + source for name, source in whole.items()}


def one(source: str) -> Test:
    return Test("test_a", source, "generated", HEAD)


@pytest.mark.parametrize("source", APART.values(), ids=APART)
def test_it_works_through_the_proxy(source: str) -> None:
    assert why_one_process(one(source)) is None


@pytest.mark.parametrize("source", TOGETHER.values(), ids=TOGETHER)
def test_it_needs_one_process(source: str) -> None:
    assert why_one_process(one(source)) is not None
