"""The gate: what it lets through, and what it refuses."""

from __future__ import annotations

import builtins
import importlib
import types
import warnings

import pytest

from agents.records import Test
from agents.suite import split
from agents.verifier.static.allowed import ROWS, WHOLE
from agents.verifier.static.gate import check_encoding, examine
from tests.verifier.static import gate_files

HEAD = "import pytest\nimport user_code\nfrom user_code import add\n"

HONEST = {
    "equality": "def test_a():\n    assert add(1, 2) == 3\n",
    "raises": "def test_a():\n    with pytest.raises(TypeError):\n        add('a', 1)\n",
    "module attribute": "def test_a():\n    assert user_code.LIMIT == 3\n",
    "helper": "def check(a, b):\n    assert add(a, 0) == b\ndef test_a():\n    check(1, 1)\n",
    "fixture": (
        "@pytest.fixture\ndef box():\n    return user_code.Box()\ndef test_a(box):\n    assert box.size == 0\n"
    ),
    "a name of underscores": "def test_a():\n    for __ in range(2):\n        assert add(1, 2) == 3\n",
    "loop": "def test_a():\n    for a, b in [(1, 2)]:\n        assert add(a, b) == 3\n",
    "intermediate": "def test_a():\n    r = add(1, 2)\n    s = r + 1\n    assert s == 4\n",
    "in place": "def test_a():\n    xs = [2, 1]\n    user_code.sort(xs)\n    assert xs == [1, 2]\n",
    "callback": (
        "def test_a():\n    n = []\n    def f():\n        n.append(1)\n"
        "    user_code.retry(f)\n    assert n == [1]\n"
    ),
    "expected error": (
        "def test_a():\n    try:\n        add(1, None)\n        assert False\n"
        "    except TypeError:\n        pass\n"
    ),
    "unittest": (
        "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertEqual(add(1, 2), 3)\n"
    ),
    "capsys": "def test_a(capsys):\n    user_code.greet()\n    assert capsys.readouterr().out == 'hi'\n",
    "tmp_path": "def test_a(tmp_path):\n    assert user_code.count(tmp_path / 'x') == 0\n",
    "input": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.input', lambda _: '4')\n"
        "    assert user_code.ask() == 5\n"
    ),
    "setattr of a dependency": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr(user_code, 'fetch', lambda: 1)\n"
        "    assert user_code.use() == 2\n"
    ),
    "the path of imports": (
        "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\ndef test_a():\n    assert add(1, 2) == 3\n"
    ),
    "a fixture of its own": (
        "@pytest.fixture\ndef mocker():\n    return 1\ndef test_a(mocker):\n    assert add(mocker, 2) == 3\n"
    ),
    "a method called kill": "def test_a():\n    p = user_code.Player()\n    p.kill()\n    assert not p.alive\n",
    "getattr of parameters": (
        "@pytest.mark.parametrize('name, want', [('size', 0), ('count', 1)])\ndef test_a(name, want):\n"
        "    assert getattr(user_code.Box(), name) == want\n"
    ),
    "getattr of names above": (
        "NAMES = ('size', 'count')\ndef test_a():\n    for name in NAMES:\n"
        "        assert getattr(user_code.Box(), f'get_{name}')() == 0\n"
    ),
    "getattr of the code's names": "def test_a(n=1):\n    assert getattr(user_code, f'solve_{n}')(1) == 1\n",
    "getattr in a loop": (
        "def test_a():\n    box = user_code.Box()\n    for name in ['size', 'count']:\n"
        "        assert getattr(box, name) == 0\n"
    ),
    "getattr in a function that is given the names": (
        "def run(names, given):\n    box = user_code.Box()\n"
        "    return [getattr(box, name)(*args) for name, args in zip(names[1:], given)]\n"
        "def test_a():\n    names = ['Box', 'put', 'get']\n    assert run(names, [(1,), ()]) == [None, 1]\n"
        "def test_b():\n    assert run(given=[()], names=['Box', 'get']) == [None]\n"
    ),
    "getattr in a function that is given a name": (
        "def call(name, *args):\n    return getattr(user_code.Box(), name)(*args)\n"
        "def test_a():\n    assert call('put', 1) is None\n    assert call('size') == 0\n"
    ),
    "input by its module": (
        "import builtins\ndef test_a(monkeypatch):\n    monkeypatch.setattr(builtins, 'input', lambda _: '4')\n"
        "    assert user_code.ask() == 5\n"
    ),
    "kinds of things": (
        "import types\ndef test_a():\n    assert isinstance(user_code.gen(), types.GeneratorType)\n"
    ),
    "private attribute of an object": "def test_a():\n    assert user_code.Box()._items == []\n",
}

GRAVE = {
    "a fixture that is not here": "def test_a(tmpdir):\n    assert add(1, 2) == 3\n",
    "skip mark": "@pytest.mark.skip\ndef test_a():\n    assert add(1, 2) == 3\n",
    "module skip": "pytestmark = pytest.mark.skip\ndef test_a():\n    assert add(1, 2) == 3\n",
    "xfail": "@pytest.mark.xfail\ndef test_a():\n    assert add(1, 2) == 3\n",
    "skip call": "def test_a():\n    pytest.skip('x')\n    assert add(1, 2) == 3\n",
    "rebinds in the test": "def test_a():\n    add = lambda a, b: a + b\n    assert add(1, 2) == 3\n",
    "rebinds at the top": "def add(a, b):\n    return a + b\ndef test_a():\n    assert add(1, 2) == 3\n",
    "rebinds an attribute": "user_code.add = lambda a, b: 3\ndef test_a():\n    assert user_code.add(1, 2) == 3\n",
    "parameter hides": "@pytest.mark.parametrize('add', [max])\ndef test_a(add):\n    assert add(1, 2) == 2\n",
    "setattr": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr(user_code, 'add', lambda a, b: 3)\n"
        "    assert user_code.add(1, 2) == 3\n"
    ),
    "patch": (
        "from unittest.mock import patch\n@patch('user_code.add', return_value=3)\n"
        "def test_a(m):\n    assert user_code.add(1, 2) == 3\n"
    ),
    "os._exit": "import os\ndef test_a():\n    os._exit(0)\n    assert add(1, 2) == 3\n",
    "unittest's skip": ("import unittest\n@unittest.skip('x')\ndef test_a():\n    assert add(1, 2) == 3\n"),
    "a builtin replaced": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('builtins.AssertionError', KeyError)\n"
        "    assert add(1, 2) == 3\n"
    ),
    "getattr of something hidden": (
        "def test_a():\n    name = '__globals__'\n    f = lambda: add(1, 2)\n    assert getattr(f, name)\n"
    ),
    "os through random": "import random\ndef test_a():\n    random._os._exit(0)\n    assert add(1, 2) == 3\n",
    "os through pathlib": "import pathlib\ndef test_a():\n    pathlib.os.abort()\n    assert add(1, 2) == 3\n",
    "a module handed on": "import random\ndef test_a():\n    m = random\n    assert add(1, 2) == m.x\n",
    "getattr": "import random\ndef test_a():\n    getattr(random, '_o' + 's')\n    assert add(1, 2) == 3\n",
    "starts a process": "import subprocess\ndef test_a():\n    subprocess.run(['true'])\n    assert add(1) == 3\n",
    "imports pytest's insides": "from _pytest import runner\ndef test_a():\n    assert add(1, 2) == 3\n",
    "globals": "def test_a():\n    globals()['add'] = max\n    assert add(1, 2) == 2\n",
    "exec": "def test_a():\n    exec('x = 1')\n    assert add(1, 2) == 3\n",
    "async": "async def test_a():\n    assert add(1, 2) == 3\n",
    "hook": "def pytest_runtest_makereport():\n    pass\ndef test_a():\n    assert add(1, 2) == 3\n",
    "not collected": "class TestA:\n    __test__ = False\n    def test_a(self):\n        assert add(1, 2) == 3\n",
    "the proxy's caller": "def test_a():\n    user_code.Box().add._peer._emit('x')\n    assert add(1, 2) == 3\n",
    "the caller by the module": "def test_a():\n    assert user_code._greenloop_caller and add(1, 2) == 3\n",
    "loops in a circle": (
        "for a in b:\n    pass\nfor b in a:\n    getattr(add, a)\ndef test_a():\n    assert add(1, 2) == 3\n"
    ),
    "too deep": f"def test_a():\n    assert getattr(add, {'a + ' * 900}'b')(1, 2) == 3\n",
    "no Python": "def test_a(:\n",
}


def one(source: str) -> Test:
    return Test("test_a", source, "generated", HEAD)


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_an_honest_test_is_accepted(source: str) -> None:
    assert examine(one(source)) is None


@pytest.mark.parametrize("source", GRAVE.values(), ids=GRAVE)
def test_a_test_that_reaches_for_the_run_is_refused(source: str) -> None:
    assert examine(one(source)) is not None


@pytest.mark.parametrize("source", gate_files.HONEST.values(), ids=gate_files.HONEST)
def test_no_honest_file_is_taken_for_one_that_tampers(source: str) -> None:
    found = [examine(test) for test in split(source, "user")]
    assert found
    assert [reason for reason in found if reason] == []


@pytest.mark.parametrize("source", gate_files.TAMPERING.values(), ids=gate_files.TAMPERING)
def test_a_file_that_tampers_is_refused(source: str) -> None:
    assert any(examine(test) for test in split(source, "user"))


@pytest.mark.parametrize("encoding", ["utf-7", "unicode_escape", "cp037", "nothing"])
def test_a_file_that_python_reads_otherwise_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match="encoding"):
        check_encoding(f"# coding: {encoding}\n+AGUAdgBhAGw-('1')  # \\u0041\n")


def test_text_that_no_file_holds_is_told_as_that() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        check_encoding("x = '\ud800'\n")


def test_utf_7_hides_a_call() -> None:
    assert b"# coding: utf-7\n+AGUAdgBhAGw-('1')".decode("utf-7").endswith("eval('1')")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_file_may_declare_an_encoding_that_changes_nothing(encoding: str) -> None:
    check_encoding(f"# -*- coding: {encoding} -*-\nimport math\n")


MODULES = [module for module in ROWS if not module.startswith(("@", "builtins"))]


@pytest.mark.parametrize("module", MODULES)
def test_no_name_of_the_table_is_a_module_or_runs_text(module: str) -> None:
    loaded = pytest.importorskip(module)
    texts = [builtins.exec, builtins.eval, builtins.compile, builtins.__import__, types.CodeType, types.FrameType]
    for name in ROWS[module].isolated | ROWS[module].shared:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            value = getattr(loaded, name, None)
        assert not (isinstance(value, types.ModuleType) and f"{module}.{name}" not in ROWS), name
        assert not any(value is text for text in texts), name


@pytest.mark.parametrize("module", sorted(WHOLE))
def test_a_star_import_brings_only_what_the_table_has(module: str) -> None:
    loaded = importlib.import_module(module)
    exported = getattr(loaded, "__all__", None) or [name for name in dir(loaded) if not name.startswith("_")]
    assert set(exported) <= ROWS[module].isolated | ROWS[module].shared


CHAINS = {
    "texts": ("a0 = ''", "a{1} = a{0} + a{0}", "assert getattr(user_code, a40)(1) == 2"),
    "long texts": ("a0 = 'x'", "a{1} = f'{{a{0}}}{{a{0}}}'", "assert getattr(user_code, a40)(1) == 2"),
    "classes": ("class a0: pass", "class a{1}(a{0}, a{0}): pass", "x: a40 = add(1, 2)\n    assert x == 3"),
    "programs": (
        "a0 = ['python', 'user_code.py']",
        "a{1} = [*a{0}, '1']\na{1} = [*a{0}, '2']",
        "assert subprocess.run(a40).returncode == 0",
    ),
}
"""What the first name is bound to, what each of the next forty is bound to twice, and a use of the last."""


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("first", "following", "use"), CHAINS.values(), ids=CHAINS)
def test_names_that_are_bound_to_names_twice_each_are_looked_at_once(first: str, following: str, use: str) -> None:
    chain = "\n".join([first, *(following.format(number, number + 1) for number in range(40))])
    imports = "import hypothesis, subprocess\n"
    examine(Test("test_a", f"def test_a():\n    {use}\n", "generated", f"{imports}{HEAD}{chain}"))
