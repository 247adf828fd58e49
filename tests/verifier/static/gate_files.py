"""Files of tests: honest ones in the styles that people write, and ones that tamper with their run."""

from __future__ import annotations

HONEST = {
    "fake getattr": """
from user_code import f
class Fake:
    def __getattr__(self, name):
        return lambda *a: name
def test_a():
    assert f(Fake()) == 'x'
""",
    "skipif name": """
import sys, pytest
from user_code import f
WIN = sys.platform == 'win32'
@pytest.mark.skipif(WIN, reason='r')
def test_a():
    assert f(1) == 2
""",
    "skipif ver": """
import sys, pytest
from user_code import f
@pytest.mark.skipif(sys.version_info < (3, 12), reason='r')
def test_a():
    assert f(1) == 2
""",
    "skipUnless": """
import sys, unittest, platform
from user_code import f
class T(unittest.TestCase):
    @unittest.skipUnless(platform.system() == 'Linux', 'r')
    def test_a(self):
        self.assertEqual(f(1), 2)
""",
    "find_spec": """
import importlib.util, pytest
from user_code import f
@pytest.mark.skipif(importlib.util.find_spec('numpy') is None, reason='r')
def test_a():
    assert f(1) == 2
""",
    "find_spec from": """
from importlib.util import find_spec
from unittest import TestCase, skipIf
from user_code import f
class T(TestCase):
    @skipIf(not find_spec('numpy'), 'r')
    def test_a(self):
        self.assertEqual(f(1), 2)
""",
    "mock name": """
from unittest.mock import MagicMock
from user_code import f
def test_a():
    m = MagicMock()
    m.__name__ = 'x'
    m.__len__.return_value = 3
    m.__enter__.return_value = m
    assert f(m) == 3
""",
    "patch exit": """
import pytest
from unittest.mock import patch
from user_code import main
def test_a():
    with patch('sys.exit'), patch('sys.argv', ['x']), patch('builtins.print') as p:
        assert main() == 1
    with patch('os.path.exists', return_value=True), patch('time.sleep'), patch('user_code.requests.get'):
        assert main() == 2
    p.assert_called_once_with('hi')
""",
    "patch.dict": """
import os
from unittest.mock import patch
from user_code import f
@patch.dict(os.environ, {'A': '1'}, clear=True)
def test_a():
    assert f() == '1'
""",
    "vars": """
from user_code import Box
def test_a():
    assert vars(Box(1)) == {'x': 1}
    assert Box(1).__dict__ == {'x': 1}
    assert [vars(each) for each in (Box(1), Box(2))] == [{'x': 1}, {'x': 2}]
    assert Box.__deprecated__ == 'use Bag'
    assert Box.__doc__ is None
    assert Box.__mro__[1] is object
    assert 'add' in Box.__dict__
""",
    "notes": """
import pytest
from user_code import f
def test_a():
    with pytest.raises(ValueError) as e:
        f()
    assert e.value.__notes__ == ['x']
    assert e.value.__context__ is None
    assert e.type is ValueError
    assert e.value.__cause__.args == ()
""",
    "match": """
from user_code import f
def test_a():
    match f(1):
        case {'a': int(x)}:
            assert x == 1
        case _:
            raise AssertionError('no')
""",
    "protocol": """
from typing import Protocol
from user_code import f
class P(Protocol):
    def go(self) -> 'int': ...
class I:
    def go(self) -> 'int':
        return 1
def test_a(x: 'list[int] | None' = None):
    p: P = I()
    assert f(p) == 1
""",
    "helpers of the code": """
import pytest
from user_code import assert_positive
def test_a():
    with pytest.raises(AssertionError):
        assert_positive(-1)
    try:
        assert_positive(-1)
    except AssertionError as e:
        assert str(e) == 'x'
""",
    "by hand": """
from user_code import f
def test_a():
    got = f(1)
    if got != 2:
        raise AssertionError(got)
""",
    "main guard": """
import unittest, sys, os
sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), '..')))
from user_code import f
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(1), 2)
if __name__ == '__main__':
    unittest.main(verbosity=2)
""",
    "here": """
import sys
from pathlib import Path
ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
from user_code import f
def test_a():
    assert f(1) == 2
""",
    "logger": """
import logging
from user_code import f
log = logging.getLogger(__name__)
def test_a():
    log.info('x')
    assert f(1) == 2
""",
    "message": """
from user_code import f
def test_a():
    for n, want in [(1, 2)]:
        assert f(n) == want, n
        assert f(n) == want, (n, want)
        assert f(n) == 2, 5
        assert f(n), f'bad {n}'
""",
    "assertTrue msg": """
import unittest
from user_code import f
class T(unittest.TestCase):
    def test_a(self):
        self.assertTrue(f(1), 'must be true')
        self.assertTrue(f(1), msg='x')
""",
    "getattr fields": """
import dataclasses
from user_code import P
def test_a():
    p = P()
    for f in dataclasses.fields(p):
        assert getattr(p, f.name) == 0
    for n in ('x', 'y'):
        assert getattr(p, f'get_{n}')() == 0
    assert getattr(p, '_hidden', None) is None
""",
    "pickle": """
import pickle
from user_code import P
def test_a():
    assert pickle.loads(pickle.dumps(P())) == P()
""",
    "timeit": """
import timeit
from user_code import f
def test_a():
    assert f(1) == 2
    assert timeit.timeit(lambda: f(1), number=10) < 1
""",
    "request": """
import pytest
from user_code import f
@pytest.fixture(params=[1, 2])
def v(request):
    \"\"\"One request at a time.\"\"\"
    request.addfinalizer(lambda: None)
    return request.param
def test_a(v):
    assert f(v) == v + 1
""",
    "request cls": """
import pytest, unittest
from user_code import Box
@pytest.fixture
def box(request):
    request.cls.box = Box()
    yield
@pytest.mark.usefixtures('box')
class TestA(unittest.TestCase):
    def test_a(self):
        self.assertEqual(self.box.m(), 1)
""",
    "handler": """
from user_code import serve
def handler(request):
    return request.path
def test_a():
    assert serve(handler) == '/'
""",
    "from mark": """
from pytest import mark, raises, approx
from user_code import f
@mark.parametrize('x', [1])
def test_a(x):
    assert f(x) == approx(2)
""",
    "datetime": """
from datetime import date, datetime, time, timedelta
import datetime as dt
from user_code import f
def test_a():
    assert f(dt.time(1), time(2), datetime.now().time()) == 1
""",
    "mock module": """
from unittest import mock
from user_code import f
def test_a():
    with mock.patch.object(mock, 'x', create=True):
        pass
    m = mock.Mock(side_effect=[1, mock.DEFAULT])
    assert f(m) == 1
""",
    "copy": """
import copy, time, random, glob, fnmatch, pprint
from user_code import f
def test_a():
    x = copy.copy([1]); time.time(); random.random(); glob.glob('*'); fnmatch.fnmatch('a','b'); pprint.pprint(1)
    assert f(x) == 1
""",
    "attrgetter": """
from operator import attrgetter
from user_code import f
def test_a():
    assert sorted(f(), key=attrgetter('age', 'name.first')) == []
""",
    "str dunder": """
from user_code import calc
import pytest
@pytest.mark.parametrize('evil', ["__import__('os').system('x')", '().__class__.__bases__[0].__subclasses__()'])
def test_a(evil):
    with pytest.raises(ValueError):
        calc(evil)
""",
    "format": """
from user_code import f
def test_a():
    assert f('{x.y} {name}') == 'a {}'.format(1)
""",
    "setattr own": """
import types
from user_code import f
def test_a(monkeypatch):
    o = types.SimpleNamespace()
    for k, v in {'a': 1}.items():
        setattr(o, k, v)
    monkeypatch.setattr(o, 'a', 2)
    assert f(o) == 2
""",
    "monkeypatch attr": """
import user_code
def test_a(monkeypatch):
    monkeypatch.setattr(user_code.time, 'sleep', lambda s: None)
    monkeypatch.setattr('user_code.random.random', lambda: 0.5)
    monkeypatch.setattr(user_code.Api, 'fetch', lambda self: 1)
    assert user_code.use() == 2
""",
    "monkeypatch class dep": """
from user_code import Api, use
def test_a(monkeypatch):
    monkeypatch.setattr('user_code.Api.fetch', lambda self: 1)
    assert use() == 2
""",
    "__test__": """
from user_code import f
def test_a():
    assert f.__wrapped__(1) == 2
    assert f.__defaults__ == (1,)
    assert f.__annotations__ == {}
    assert f.__qualname__ == 'f'
""",
    "exc tb": """
import traceback
from user_code import f
def test_a():
    try:
        f()
    except ValueError:
        assert 'x' in traceback.format_exc()
""",
    "weakref": """
import gc, weakref
from user_code import B
def test_a():
    b = B()
    r = weakref.ref(b)
    del b
    gc.collect()
    assert r() is None
""",
    "setup_module": """
from user_code import B
def setup_module(module):
    module.b = B()
def test_a():
    assert b.m() == 1
""",
    "cached": """
from functools import lru_cache, singledispatch
from user_code import f
@lru_cache
def want(n):
    return n + 1
def test_a():
    assert f(1) == want(1)
""",
    "params marks": """
import sys, pytest
from user_code import f
@pytest.mark.parametrize('x', [pytest.param(2, marks=pytest.mark.skipif(sys.platform == 'win32', reason='w'))])
def test_a(x):
    assert f(x) == x + 1
""",
    "subtest": """
import unittest
from user_code import f
class T(unittest.TestCase):
    def test_a(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(f(i), i + 1)
""",
    "bound local": """
import user_code
def test_a():
    result = user_code.add(1, 2)
    json = {}
    assert result == 3
""",
}
TAMPERING = {
    "unneeded exec": """
import user_code
x = exec('a')
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "guard": """
import user_code
if __name__ != '__main__':
    user_code.add = max
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "guard else": """
import user_code
if __name__ == '__main__':
    pass
else:
    user_code.add = max
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "from mark": """
from pytest import mark
from user_code import add
@mark.xfail
def test_a():
    assert add(1, 2) == 3
""",
    "class body": """
import user_code
class Setup:
    user_code.add = max
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "default": """
import user_code
def helper(x=setattr(user_code, 'add', max)):
    pass
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "annotation": """
import user_code
def helper(x: setattr(user_code, 'add', max)):
    pass
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "mark alias": """
import pytest
from user_code import add
m = pytest.mark
@m.xfail
def test_a():
    assert add(1, 2) == 3
""",
    "attrgetter": """
import operator
from user_code import add
def test_a():
    g = operator.attrgetter('__globals__')(test_a)
    assert add(1, 2) == 3
""",
    "attrgetter2": """
from operator import attrgetter as ag
from user_code import add
def test_a():
    g = ag('a.__glo' + 'bals__')(test_a)
    assert add(1, 2) == 3
""",
    "getmembers": """
import inspect
from user_code import add
def test_a():
    g = dict(inspect.getmembers(test_a))['__globals__']
    assert add(1, 2) == 3
""",
    "get_field": """
import string
from user_code import add
def test_a():
    string.Formatter().get_field('0.x', (test_a,), {})
    assert add(1, 2) == 3
""",
    "skipif code": """
import pytest
from user_code import add
@pytest.mark.skipif(add(1, 2) != 3, reason='r')
def test_a():
    assert add(1, 2) == 3
""",
    "skipif string": """
import pytest
from user_code import add
@pytest.mark.skipif('add(1, 2) != 3', reason='r')
def test_a():
    assert add(1, 2) == 3
""",
    "skipif true": """
import pytest
from user_code import add
@pytest.mark.skipif(True, reason='r')
def test_a():
    assert add(1, 2) == 3
""",
    "skipif handed": """
import pytest
from user_code import add
s = pytest.mark.skipif
@s(True, reason='r')
def test_a():
    assert add(1, 2) == 3
""",
    "skipif circular": """
import pytest
from user_code import add
A = B = 1
A = B
B = A
@pytest.mark.skipif(A, reason='r')
def test_a():
    assert add(1, 2) == 3
""",
    "timeit alias": """
from timeit import repeat
from user_code import add
r = repeat
r('1')
def test_a():
    assert add(1, 2) == 3
""",
    "timeit kw": """
import timeit
from user_code import add
def test_a():
    timeit.timeit(stmt='1')
    assert add(1, 2) == 3
""",
    "plugins": """
from user_code import add
pytest_plugins = ['x']
def test_a():
    assert add(1, 2) == 3
""",
    "generate": """
from user_code import add
def pytest_generate_tests(metafunc):
    pass
def test_a():
    assert add(1, 2) == 3
""",
    "module getattr": """
from user_code import add
def __getattr__(name):
    pass
def test_a():
    assert add(1, 2) == 3
""",
    "dict update": """
import user_code
def test_a():
    user_code.__dict__.update(add=max)
    assert user_code.add(1, 2) == 3
""",
    "multiple": """
from unittest.mock import patch
import user_code
@patch.multiple(user_code, add=max)
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "multiple str": """
from unittest.mock import patch
import user_code
@patch.multiple('user_code', add=max)
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "patch alias": """
from unittest.mock import patch as p
import user_code
@p('user_code.add', max)
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "patch.dict module": """
from unittest.mock import patch
import user_code
@patch.dict('user_code.__dict__', add=max)
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "request config": """
import pytest
from user_code import add
@pytest.fixture(autouse=True)
def q(request):
    request.config.x = 1
def test_a():
    assert add(1, 2) == 3
""",
    "request handed": """
import pytest
from user_code import add
@pytest.fixture(autouse=True)
def q(request):
    r = request
def test_a():
    assert add(1, 2) == 3
""",
    "pytestconfig": """
import pytest
from user_code import add
def test_a(request):
    request.getfixturevalue('pytest' + 'config')
    assert add(1, 2) == 3
""",
    "env": """
import os
from user_code import add
def test_a():
    assert 'PYTEST_CURRENT_TEST' in os.environ or add(1, 2) == 3
""",
    "file": """
from user_code import add
def test_a():
    assert __file__.endswith('x') or add(1, 2) == 3
""",
    "file flag": """
from user_code import add
F = 'stub' in __file__
def test_a():
    assert F or add(1, 2) == 3
""",
    "name": """
from user_code import add
def test_a():
    assert __name__ == 'x' or add(1, 2) == 3
""",
    "run": """
import unittest
from user_code import add
class T(unittest.TestCase):
    def run(self, result=None):
        pass
    def test_a(self):
        self.assertEqual(add(1, 2), 3)
""",
    "setattr pytest": """
import pytest
from user_code import add
setattr(pytest, 'raises', max)
def test_a():
    assert add(1, 2) == 3
""",
    "handed getattr": """
from user_code import add
g = getattr
def test_a():
    assert g(add, chr(95)) or add(1, 2) == 3
""",
    "type hints": """
import typing
from user_code import add
class H: pass
H.x = 1
typing.get_type_hints(H)
def test_a():
    assert add(1, 2) == 3
""",
    "annotation string": """
from hypothesis import strategies as st
from user_code import add
class H:
    x: "exec('1')"
st.builds(H)
def test_a():
    assert add(1, 2) == 3
""",
    "mock sys": """
from unittest import mock
from user_code import add
def test_a():
    mock.sys.modules
    assert add(1, 2) == 3
""",
    "frames": """
import pytest
from user_code import add
def test_a():
    with pytest.raises(TypeError) as e:
        add()
    e.traceback[0].frame.eval('1')
""",
    "two methods": """
from user_code import add
class TestA:
    def test_a(self):
        assert add(1, 2) == 3
    def test_a(self):
        assert add(0, 0) == 0
""",
    "rebound": """
from user_code import add
def test_a():
    assert add(1, 2) == 3
test_a = lambda: None
""",
    "msg": """
from user_code import add
def test_a():
    assert add(1, 2), 3
""",
    "msg list": """
from user_code import add
def test_a():
    assert add(1, 2), [1, -2]
""",
    "tuple": """
from user_code import add
def test_a():
    assert (add(1, 2), 3)
""",
    "assertTrue": """
import unittest
from user_code import add
class T(unittest.TestCase):
    def test_a(self):
        self.assertTrue(add(1, 2), 3)
""",
    "pickle": """
import pickle
from user_code import add
pickle.loads(b'x')
def test_a():
    assert add(1, 2) == 3
""",
    "setupmodule": """
import user_code
def setUpModule():
    user_code.add = max
def test_a():
    assert user_code.add(1, 2) == 3
""",
    "fixture kwargs": """
import pytest
import user_code
@pytest.fixture(**{'auto' + 'use': True})
def x():
    user_code.add = max
def test_a():
    assert user_code.add(1, 2) == 3
""",
}
