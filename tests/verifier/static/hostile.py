# ruff: noqa: E501
"""Preambles of tests that reach the interpreter: each runs TEXT, which makes a file, in the process of the tests.

Each is followed by an honest test of `add`. They are named by the way that they take.
"""

from __future__ import annotations

HEAD = 'from user_code import add\nTEXT = \'import os; open(os.environ["REACHED"] + "/NAME", "w").close()\'\n'
TEST = "def test_add():\n    assert add(1, 2) == 3\n"

HOSTILE = {
    "timeit main": """
import timeit
timeit.main(['-n', '1', '-r', '1', TEXT])
""",
    "timeit text": """
import timeit
timeit.timeit(TEXT, number=1)
""",
    "timeit setup": """
import timeit
timeit.timeit(lambda: 1, TEXT, number=1)
""",
    "timeit setup by name": """
import timeit
timeit.timeit(lambda: 1, setup=TEXT, number=1)
""",
    "timeit globals": """
import timeit
timeit.timeit(lambda: 1, number=1, globals={}, setup=TEXT)
""",
    "timeit Timer": """
from timeit import Timer as T
T(stmt=TEXT).timeit(1)
""",
    "timeit star": """
from timeit import *
timeit(TEXT, number=1)
""",
    "timeit name bound twice": """
import timeit
def f():
    pass
f = TEXT
timeit.timeit(f, number=1)
""",
    "timeit name bound in a loop": """
import timeit
def f():
    pass
for f in [TEXT]:
    timeit.timeit(f, number=1)
""",
    "timeit name bound by match": """
import timeit
def f():
    pass
match TEXT:
    case f:
        timeit.timeit(f, number=1)
""",
    "timeit of the code's text": """
import timeit
from user_code import STATEMENT
timeit.timeit(STATEMENT, number=1)
""",
    "enum builtins": """
import enum
enum.bltns.exec(TEXT)
""",
    "enum sys": """
import enum
enum.sys.modules['builtins'].exec(TEXT)
""",
    "enum from": """
from enum import bltns as b
b.exec(TEXT)
""",
    "types function": """
import types
def f():
    pass
types.FunctionType(f.__code__, {}).__builtins__['exec'](TEXT)
""",
    "inspect getmembers": """
import inspect
def f():
    pass
[v for n, v in inspect.getmembers(f) if n[2:4] == 'bu'][0]['exec'](TEXT)
""",
    "inspect getattr_static": """
import inspect
name = 'eval exec'.split()[1]
inspect.getattr_static(inspect.builtins, name)(TEXT)
""",
    "inspect currentframe": """
import inspect
inspect.currentframe().f_builtins['exec'](TEXT)
""",
    "inspect stack": """
import inspect
inspect.stack()[0].frame.f_builtins['exec'](TEXT)
""",
    "inspect getmodule": """
import inspect
def f():
    pass
inspect.getmodule(dict).exec(TEXT)
""",
    "inspect signature": """
import inspect
def f(x: 'exec(TEXT)'):
    pass
inspect.signature(f, eval_str=True)
""",
    "inspect signature kwargs": """
import inspect
def f(x):
    pass
f.__annotations__['x'] = 'exec(TEXT)'
inspect.signature(f, **{'eval' + '_str': True})
""",
    "functools singledispatch": """
import functools
A = 'exec(TE' + 'XT)'
@functools.singledispatch
def f(x):
    pass
try:
    @f.register
    def g(x: A):
        pass
except TypeError:
    pass
""",
    "operator attrgetter": """
import operator
def f():
    pass
name = '_'.join(['', '', 'builtins', '', ''])
operator.attrgetter(name)(f)['exec'](TEXT)
""",
    "operator attrgetter alias": """
from operator import attrgetter as g
def f():
    pass
g(chr(95) * 2 + 'builtins' + chr(95) * 2)(f)['exec'](TEXT)
""",
    "operator attrgetter handed": """
from operator import attrgetter
def f():
    pass
for get in map(attrgetter, [chr(95) * 2 + 'builtins' + chr(95) * 2]):
    get(f)['exec'](TEXT)
""",
    "operator methodcaller": """
import operator
def f():
    pass
look = operator.methodcaller(chr(95) * 2 + 'getattribute' + chr(95) * 2, '_'.join(['', '', 'builtins', '', '']))
look(f)['exec'](TEXT)
""",
    "pickle": """
import pickle
pickle.loads(b'cbuiltins\\nexec\\n(V' + TEXT.encode() + b'\\ntR.')
""",
    "pickle without bytes": """
import pickle
make = type(pickle.dumps(0))
pickle.loads(make([ord(c) for c in 'cbuiltins\\nexec\\n(V' + TEXT + '\\ntR.']))
""",
    "pickle load": """
import io, pickle
buffer = io.BytesIO()
pickle.dump(0, buffer)
make = type(buffer.getvalue())
pickle.load(io.BytesIO(make([ord(c) for c in 'cbuiltins\\nexec\\n(V' + TEXT + '\\ntR.'])))
""",
    "pickle rebound": """
import pickle
data = pickle.dumps(0)
data = type(data)(map(ord, 'cbuiltins\\nexec\\n(V' + TEXT + '\\ntR.'))
pickle.loads(data)
""",
    "codecs": """
import codecs
codecs.builtins.exec(TEXT)
""",
    "runpy": """
import runpy, tempfile, pathlib
place = pathlib.Path(tempfile.mkdtemp()) / 'a.py'
place.write_text(TEXT)
runpy.run_path(str(place))
""",
    "pdb": """
import pdb, io
pdb.Pdb(stdin=io.StringIO('c\\n'), stdout=io.StringIO()).run(TEXT)
""",
    "bdb": """
import bdb
bdb.Bdb().run(TEXT)
""",
    "code": """
import code
code.InteractiveInterpreter().runsource(TEXT)
""",
    "cProfile": """
import cProfile, io, contextlib
with contextlib.redirect_stdout(io.StringIO()):
    cProfile.run(TEXT)
""",
    "profile": """
import profile, io, contextlib
with contextlib.redirect_stdout(io.StringIO()):
    profile.run(TEXT)
""",
    "trace": """
import trace
trace.Trace(count=0, trace=0).run(TEXT)
""",
    "zipimport": """
import zipimport, zipfile, tempfile
place = tempfile.mkdtemp() + '/a.zip'
with zipfile.ZipFile(place, 'w') as archive:
    archive.writestr('inside_zip.py', TEXT)
zipimport.zipimporter(place).load_module('inside_zip')
""",
    "an archive on the path": """
import sys, zipfile, tempfile
place = tempfile.gettempdir() + '/hostile_path.zip'
with zipfile.ZipFile(place, 'w') as archive:
    archive.writestr('graphlib.py', TEXT)
sys.path.insert(0, place)
import graphlib
""",
    "an archive beside": """
import os, sys, zipfile
place = os.path.join(os.path.dirname(__file__), 'hostile_here.zip')
with zipfile.ZipFile(place, 'w') as archive:
    archive.writestr('configparser.py', TEXT)
sys.path.insert(0, place)
import configparser
""",
    "a module written here": """
import sys, zipfile
with zipfile.ZipFile('hostile_written.zip', 'w') as archive:
    archive.writestr('tomllib.py', TEXT)
with zipfile.ZipFile('hostile_written.zip') as archive:
    archive.extractall('.')
sys.path.insert(0, '.')
import tomllib
""",
    "a module written as XML": """
import os, sys
import xml.etree.ElementTree as ET
item = ET.Element('a')
item.text = TEXT
ET.ElementTree(item).write('colorsys.py', method='text')
sys.path.insert(0, os.getcwd())
import colorsys
""",
    "the path by another name": """
from sys import path as place
import zipfile, tempfile
file = tempfile.gettempdir() + '/hostile_name.zip'
with zipfile.ZipFile(file, 'w') as archive:
    archive.writestr('sndhdr.py', TEXT)
place.insert(0, file)
import sndhdr
""",
    "pkgutil": """
import pkgutil
pkgutil.resolve_name('builtins:exec')(TEXT)
""",
    "importlib": """
import importlib
importlib.import_module('builtins').exec(TEXT)
""",
    "importlib reload": """
import importlib
importlib.sys.modules['builtins'].exec(TEXT)
""",
    "importlib name made": """
import importlib
name = 'user_code'
name = 'builtins'
importlib.import_module(name).exec(TEXT)
""",
    "ast and compile": """
import ast
exec(compile(ast.parse(TEXT), '', 'exec'))
""",
    "logging by module": """
import logging
logging.sys.modules['builtins'].exec(TEXT)
""",
    "mock getter": """
from unittest.mock import patch
patch('builtins.len').getter().exec(TEXT)
""",
    "mock target": """
from unittest.mock import patch
p = patch('os.getcwd')
p.start()
p.target.sys.modules['builtins'].exec(TEXT)
p.stop()
""",
    "mock original": """
from unittest.mock import patch
p = patch('os.system')
p.start()
f = p.temp_original
p.stop()
f('touch "$REACHED/NAME"')
""",
    "mock's record": """
import os
from unittest.mock import Mock
m = Mock()
m.setattr(os, 'getcwd', 1)
m.setattr.call_args.args[0].sys.modules['builtins'].exec(TEXT)
""",
    "mock patches sys modules": """
from unittest.mock import patch
with patch.dict('sys.modules') as modules:
    modules['builtins'].exec(TEXT)
""",
    "string Formatter": """
import string
def f():
    pass
string.Formatter().get_field('0.' + chr(95) * 2 + 'builtins' + chr(95) * 2, (f,), {})[0]['exec'](TEXT)
""",
    "string Formatter subclass": """
import string
def f():
    pass
found = []
class F(string.Formatter):
    def format_field(self, value, spec):
        found.append(value)
        return ''
F().format('{0.' + chr(95) * 2 + 'builtins' + chr(95) * 2 + '}', f)
found[0]['exec'](TEXT)
""",
    "typing get_type_hints": """
import typing
def f(x: 'exec(TEXT)'):
    pass
typing.get_type_hints(f)
""",
    "typing hints of the code": """
import typing
import user_code
user_code.add.__annotations__['q'] = 'exec(TEXT)'
typing.get_type_hints(user_code.add, {'TEXT': TEXT})
user_code.add.__annotations__.clear()
""",
    "typing argument": """
import typing
typing.List['exec(TEXT)'].__args__[0]._evaluate({'TEXT': TEXT}, {}, frozenset())
""",
    "typing sys": """
import typing
typing.sys.modules['builtins'].exec(TEXT)
""",
    "dataclass of a made class": """
import dataclasses
from dataclasses import dataclass
A = type('A', (), {chr(95) * 2 + 'annotations' + chr(95) * 2: {
    'a:exec(TEXT),b:\"\"\"': dataclasses.InitVar[int], 'c:0,d:\"\"\"': dataclasses.InitVar[int]}})
try:
    dataclass(repr=False, eq=False, match_args=False)(A)
except Exception:
    pass
""",
    "namedtuple": """
import collections
collections._sys.modules['builtins'].exec(TEXT)
""",
    "contextlib": """
import contextlib
contextlib.os.sys.modules['builtins'].exec(TEXT)
""",
    "contextlib generator": """
import contextlib
@contextlib.contextmanager
def c():
    yield
c().gen.gi_frame.f_builtins['exec'](TEXT)
""",
    "weakref": """
import weakref
weakref.sys.modules['builtins'].exec(TEXT)
""",
    "gc": """
import gc
[o for o in gc.get_objects() if isinstance(o, dict) and 'exec' in o][0]['exec'](TEXT)
""",
    "xml": """
import xml.etree.ElementTree as ET
ET.sys.modules['builtins'].exec(TEXT)
""",
    "subprocess": """
import subprocess, sys
subprocess.run([sys.executable, '-c', TEXT])
""",
    "subprocess by another list": """
import subprocess, sys
command = [sys.executable, 'user_code.py']
command = [sys.executable, '-c', TEXT]
subprocess.run(command)
""",
    "subprocess shell": """
import subprocess, sys
subprocess.getoutput(f'{sys.executable} -c ' + repr(TEXT))
""",
    "asyncio subprocess": """
import asyncio, sys
async def go():
    await (await asyncio.create_subprocess_exec(sys.executable, '-c', TEXT)).wait()
asyncio.run(go())
""",
    "asyncio loop": """
import asyncio, sys
loop = asyncio.new_event_loop()
async def go():
    t, p = await loop.subprocess_exec(asyncio.SubprocessProtocol, sys.executable, '-c', TEXT)
    await t._wait()
loop.run_until_complete(go())
""",
    "asyncio frames": """
import asyncio
async def go():
    asyncio.current_task().get_stack()[0].f_builtins['exec'](TEXT)
asyncio.run(go())
""",
    "threading settrace": """
import threading
def look(frame, event, arg):
    threading.settrace(None)
    frame.f_builtins['exec'](TEXT)
threading.settrace(look)
t = threading.Thread(target=print)
t.start()
t.join()
""",
    "sys settrace": """
import sys
def look(frame, event, arg):
    sys.settrace(None)
    frame.f_builtins['exec'](TEXT)
sys.settrace(look)
(lambda: 0)()
""",
    "sys modules": """
import sys
sys.modules['builtins'].exec(TEXT)
""",
    "sys exc_info": """
import sys
try:
    1 / 0
except ZeroDivisionError:
    sys.exc_info()[2].tb_frame.f_builtins['exec'](TEXT)
""",
    "site": """
import site
site.builtins.exec(TEXT)
""",
    "sysconfig": """
import sysconfig
sysconfig.sys.modules['builtins'].exec(TEXT)
""",
    "ctypes": """
import ctypes
ctypes.pythonapi.PyRun_SimpleString(TEXT.encode())
""",
    "ctypes by another module": """
import uuid
uuid.sys.modules['builtins'].exec(TEXT)
""",
    "random": """
import random
random._os.sys.modules['builtins'].exec(TEXT)
""",
    "json": """
import json
json.codecs.builtins.exec(TEXT)
""",
    "re": """
import re
re.enum.bltns.exec(TEXT)
""",
    "pytest importorskip": """
import pytest
pytest.importorskip('builtins').exec(TEXT)
""",
    "pytest raises frame": """
import pytest
with pytest.raises(ZeroDivisionError) as e:
    1 / 0
e.traceback[0].frame.eval('exec(TEXT)')
""",
    "pytest raises tb": """
import pytest
with pytest.raises(ZeroDivisionError) as e:
    1 / 0
e.tb.tb_frame.f_builtins['exec'](TEXT)
""",
    "pytest skipif text": """
import pytest
@pytest.mark.skipif('exec(TEXT)', reason='')
def test_b():
    pass
""",
    "pytest skipif by alias": """
import pytest
mark = pytest.mark.skipif
@mark('exec(TEXT)', reason='')
def test_b():
    pass
""",
    "capsys request": """
import pytest
@pytest.fixture(autouse=True)
def look(capsys):
    capsys.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "capsys passed on": """
import pytest
def run(c):
    c.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
@pytest.fixture(autouse=True)
def look(capsys):
    run(capsys)
""",
    "capsys kept": """
import pytest
@pytest.fixture(autouse=True)
def look(capsys):
    c = capsys
    c.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request by a fixture that is called": """
import pytest
def look(request):
    request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
looks = pytest.fixture(autouse=True)(look)
""",
    "request by another name of fixture": """
from pytest import fixture as made
@made(autouse=True)
def look(request):
    request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request by name": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    request.getfixturevalue('request').config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request's cache": """
import pytest
@pytest.fixture(autouse=True)
def look(cache):
    cache._config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "setup_module": """
def setup_module(module):
    vars(module)[chr(95) * 2 + 'builtins' + chr(95) * 2]['exec'](TEXT)
""",
    "setup_module passes on": """
def look(m):
    [v for k, v in m.__dict__.items() if k[2:5] == 'bui'][0]['exec'](TEXT)
def setup_module(module):
    look(module)
""",
    "setup_module imports": """
import random
def setup_module(module):
    module.random._os.sys.modules['builtins'].exec(TEXT)
""",
    "setup_module renamed": """
import enum
def setup_module(m):
    m.enum.bltns.exec(TEXT)
""",
    "hypothesis internals": """
import hypothesis.internal.reflection as r
r.inspect.builtins.exec(TEXT)
""",
    "hypothesis hints": """
from hypothesis import strategies as st
A = 'exec(TE' + 'XT)'
class C:
    def __init__(self, x: A):
        pass
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "hypothesis hints in quotes in quotes": """
from typing import List
from hypothesis import strategies as st
class C:
    def __init__(self, x: List['exec(TEXT)']):
        pass
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "hypothesis hints with a comment": """
from hypothesis import strategies as st
class C:
    def __init__(self, x: 'exec(TEXT) #'):
        pass
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "hypothesis hints with a star": """
from hypothesis import strategies as st
class C:
    def __init__(self, x: '*exec(TEXT)'):
        pass
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "hypothesis hints by a name in quotes": """
from typing import Optional
from hypothesis import strategies as st
A = Optional['exec(TEXT)']
class C:
    def __init__(self, x: 'A'):
        pass
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "hypothesis hints by a tuple in quotes": """
from typing import NamedTuple
from hypothesis import strategies as st
P = NamedTuple('P', [('a', 'exec(TEXT)')])
def make(x: 'P'):
    return P
try:
    st.builds(make).validate()
except Exception:
    pass
""",
    "the bound of a type variable": """
from typing import TypeVar
from hypothesis import strategies as st
T = TypeVar('T', bound='exec(TEXT)')
def make(x: T):
    return x
try:
    st.builds(make).validate()
except Exception:
    pass
""",
    "numpy f2py": """
import numpy
numpy.f2py.os.sys.modules['builtins'].exec(TEXT)
""",
    "numpy ctypeslib": """
import numpy as np
np.ctypeslib.ctypes.pythonapi.PyRun_SimpleString(TEXT.encode())
""",
    "numpy ctypes": """
import numpy as np
np.zeros(1).ctypes._ctypes.pythonapi.PyRun_SimpleString(TEXT.encode())
""",
    "numpy rundocs": """
import numpy as np
np.testing.runstring(TEXT, {})
""",
    "numpy measure": """
import numpy as np
np.testing.measure(TEXT)
""",
    "numpy handed": """
import numpy as np
n = np
n.f2py.os.sys.modules['builtins'].exec(TEXT)
""",
    "numpy load": """
import io
import numpy as np
np.load(io.BytesIO(b'cbuiltins\\nexec\\n(V' + TEXT.encode() + b'\\ntR.'), allow_pickle=True)
""",
    "pandas query": """
import pandas as pd
name = pd
try:
    pd.DataFrame({'a': [1]}).query('@name.io.common.os.sys.modules["builtins"].exec(@TEXT) == 1', engine='python')
except KeyError:
    pass
""",
    "pandas os": """
import pandas as pd
pd.io.common.os.sys.modules['builtins'].exec(TEXT)
""",
    "pandas read_pickle": """
import io
import pandas as pd
pd.read_pickle(io.BytesIO(b'cbuiltins\\nexec\\n(V' + TEXT.encode() + b'\\ntR.'))
""",
    "f-string's attribute": """
def f():
    pass
f"{f.__builtins__['exec'](TEXT)}\"
""",
    "match by name": """
def f():
    pass
match f:
    case object(__builtins__=found):
        found['exec'](TEXT)
""",
    "match by position": """
def f():
    pass
class M(type):
    def __instancecheck__(cls, other):
        return True
class A(metaclass=M):
    __match_args__ = (chr(95) * 2 + 'builtins' + chr(95) * 2,)
match f:
    case A(found):
        found['exec'](TEXT)
""",
    "starred getattr": """
def f():
    pass
getattr(*[f, chr(95) * 2 + 'builtins' + chr(95) * 2])['exec'](TEXT)
""",
    "getattr in a loop": """
def f():
    pass
for name in ['_'.join(['', '', 'builtins', '', ''])]:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr from a literal that grows": """
def f():
    pass
names = []
names.append(chr(95) * 2 + 'builtins' + chr(95) * 2)
for name in names:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr of one of dir": """
def f():
    pass
[getattr(f, n) for n in dir(f) if n[2:4] == 'bu'][0]['exec'](TEXT)
""",
    "getattr in a helper given more": """
def f():
    pass
def look(names):
    for name in names:
        getattr(f, name)['exec'](TEXT)
look(names=[chr(95) * 2 + 'builtins' + chr(95) * 2])
look([])
""",
    "getattr in a helper given a list that grows": """
def f():
    pass
def look(names):
    for name in zip(names):
        pass
    for name, _ in zip(names[:], [1]):
        getattr(f, name)['exec'](TEXT)
names = []
def grow(given):
    for each in [1]:
        given.append(chr(95) * 2 + 'builtins' + chr(95) * 2)
grow(names)
look(names)
""",
    "getattr in a helper that is handed on": """
def f():
    pass
def look(name):
    getattr(f, name)['exec'](TEXT)
list(map(look, [chr(95) * 2 + 'builtins' + chr(95) * 2]))
if 0:
    look('push')
""",
    "getattr in a helper whose parameter is set": """
def f():
    pass
def look(names):
    names[:] = [chr(95) * 2 + 'builtins' + chr(95) * 2]
    for name in names:
        getattr(f, name)['exec'](TEXT)
look(['push'])
""",
    "getattr in a method called by its class": """
def f():
    pass
class A:
    def look(self, name, more=0):
        getattr(f, name)['exec'](TEXT)
A.look('push', chr(95) * 2 + 'builtins' + chr(95) * 2, 'pop')
""",
    "getattr of rows that change": """
def f():
    pass
rows = [['push', 1]]
for row in rows:
    row[0] = chr(95) * 2 + 'builtins' + chr(95) * 2
for name, _ in rows:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr with a rebound name": """
def f():
    pass
for name in ('push', 'pop'):
    name = chr(95) * 2 + 'builtins' + chr(95) * 2
    getattr(f, name)['exec'](TEXT)
    break
""",
    "getattr with a global": """
def f():
    pass
name = 'push'
def change():
    global name
    name = chr(95) * 2 + 'builtins' + chr(95) * 2
change()
getattr(f, name)['exec'](TEXT)
""",
    "getattr by another name": """
def f():
    pass
look = getattr
look(f, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec'](TEXT)
""",
    "getattr of a parameter that a test is called with": """
import pytest
def f():
    pass
@pytest.mark.parametrize('name', ['__doc__'])
def test_b(name):
    look = getattr(f, name)
    if look:
        look['exec'](TEXT)
test_b(chr(95) * 2 + 'builtins' + chr(95) * 2)
""",
    "globals": """
globals()['__builtins__']['exec'](TEXT)
""",
    "a global's builtins": """
__builtins__['exec'](TEXT)
""",
    "__import__": """
__import__('builtins').exec(TEXT)
""",
    "__loader__": """
__loader__.__class__.__init__.__builtins__['exec'](TEXT)
""",
    "shadowed import": """
import os as user_code_2
user_code_2.sys.modules['builtins'].exec(TEXT)
""",
    "an import under two names": """
import builtins as m
def never():
    import math as m
m.exec(TEXT)
""",
    "an import in a class": """
class A:
    import enum
A.enum.bltns.exec(TEXT)
""",
    "an import by a default": """
import enum
def f(m=enum):
    m.bltns.exec(TEXT)
f()
""",
    "an import in a list": """
import enum
for m in [enum]:
    m.bltns.exec(TEXT)
""",
    "an import through getattr": """
import enum
getattr(enum, 'blt' + 'ns').exec(TEXT)
""",
    "an import through an own method": """
import enum
class A:
    def __getattr__(self, name):
        return lambda *given: given[0]
A().object(enum).bltns.exec(TEXT)
""",
    "an alias of a type": """
import builtins
Kind = builtins
Kind.exec(TEXT)
""",
    "another spelling": """
ｅｘｅｃ(TEXT)
""",
    "another spelling of an attribute": """
def f():
    pass
f.__ｂuiltins__['exec'](TEXT)
""",
    "subclasses": """
found = [c for c in object.__subclasses__() if c.__name__ == '_wrap_close']
found[0].__init__.__globals__['sys'].modules['builtins'].exec(TEXT)
""",
    "a function's globals": """
def f():
    pass
f.__globals__['__builtins__']['exec'](TEXT)
""",
    "a builtin's self": """
print.__self__.exec(TEXT)
""",
    "a generator's frame": """
g = (x for x in [1])
g.gi_frame.f_builtins['exec'](TEXT)
""",
    "a coroutine's frame": """
async def c():
    pass
k = c()
k.cr_frame.f_builtins['exec'](TEXT)
k.close()
""",
    "an error's traceback": """
try:
    1 / 0
except ZeroDivisionError as e:
    e.__traceback__.tb_frame.f_builtins['exec'](TEXT)
""",
    "a descriptor": """
def f():
    pass
list(v for k, v in vars(type(f)).items() if k[2:4] == 'bu')[0].__get__(f)['exec'](TEXT)
""",
    "a list of descriptors": """
def f():
    pass
[vars(each) for each in (type(f), type(f))][0][chr(95) * 2 + 'builtins' + chr(95) * 2].__get__(f)['exec'](TEXT)
""",
    "a closure": """
def f():
    run = getattr(f, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec']
    return lambda: run
f().__closure__[0].cell_contents(TEXT)
""",
    "syspath_prepend": """
import pytest
@pytest.fixture(autouse=True)
def look(monkeypatch, tmp_path):
    (tmp_path / 'statistics.py').write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    import statistics
""",
    "os system": """
import os, sys
os.system(f"{sys.executable} -c '" + TEXT + "'")
""",
    "posix": """
import posix, sys
posix.system(f"{sys.executable} -c '" + TEXT + "'")
""",
    "pty": """
import os, sys, posixpath
posixpath.os.system(f"{sys.executable} -c '" + TEXT + "'")
""",
    "platform": """
import platform, sys
platform.os.system(f"{sys.executable} -c '" + TEXT + "'")
""",
    "cmd": """
import cmd
cmd.sys.modules['builtins'].exec(TEXT)
""",
    "unittest's module": """
import unittest
unittest.case.sys.modules['builtins'].exec(TEXT)
""",
    "inspect get_annotations": """
import inspect
def f(x: 'exec(TEXT)'):
    pass
inspect.get_annotations(f, eval_str=True)
""",
    "a fake monkeypatch": """
import os
from unittest.mock import Mock
def f(monkeypatch):
    monkeypatch.setattr(os, 'getcwd', 1)
m = Mock()
f(m)
m.setattr.call_args.args[0].sys.modules['builtins'].exec(TEXT)
""",
    "dataclass with a made base": """
import dataclasses
from dataclasses import dataclass
B = type('B', (), {chr(95) * 2 + 'annotations' + chr(95) * 2: {
    'a:exec(TEXT),b:\"\"\"': dataclasses.InitVar[int], 'c:0,d:\"\"\"': dataclasses.InitVar[int]}})
B = dataclass(init=False, repr=False, eq=False, match_args=False)(B)
try:
    @dataclass(repr=False, eq=False, match_args=False)
    class A(B):
        pass
except Exception:
    pass
""",
    "dataclass with set annotations": """
import dataclasses
from dataclasses import dataclass
@dataclass(repr=False, eq=False, match_args=False)
class A:
    x: int
    __annotations__ = {'a:exec(TEXT),b:\"\"\"': dataclasses.InitVar[int], 'c:0,d:\"\"\"': dataclasses.InitVar[int]}
""",
    "typing argument by get_args": """
from typing import Optional, get_args
get_args(Optional['exec(TEXT)'])[0]._evaluate({'TEXT': TEXT}, {}, frozenset())
""",
    "capsys given away": """
import pytest
@pytest.fixture
def given(capsys):
    return capsys
@pytest.fixture(autouse=True)
def look(given):
    given.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "capsys by name": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    c = request.getfixturevalue('capsys')
    c.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request by a name made": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    r = request.getfixturevalue('requ' + chr(101) + 'st')
    r.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request in a class": """
import pytest
class TestB:
    @pytest.fixture(autouse=True)
    def look(self, request):
        r = request
        r.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
    def test_b(self):
        pass
""",
    "setup_class": """
import pytest
import enum
class TestB:
    def setup_method(self, method):
        method.__globals__['enum'].bltns.exec(TEXT)
    def test_b(self):
        pass
""",
    "hypothesis type": """
from hypothesis import strategies as st
A = 'exec(TE' + 'XT)'
class C:
    def __init__(self, x: A):
        pass
try:
    st.from_type(C).validate()
except Exception:
    pass
""",
    "hypothesis type of a made class": """
from hypothesis import strategies as st
class C:
    def __init__(self, x):
        pass
setattr(C.__init__, chr(95) * 2 + 'annotations' + chr(95) * 2, {'x': 'exec(TEXT)'})
try:
    st.from_type(C).validate()
except Exception:
    pass
""",
    "hypothesis target with an own getattr": """
from hypothesis import strategies as st
class C:
    def __call__(self, x):
        return x
    def __getattr__(self, name):
        if name[2:5] == 'ann':
            return {'x': 'exec("import os; open(os.environ[chr(82)+\\'EACHED\\']+\\'/NAME\\',\\'w\\').close()")'}
        raise AttributeError(name)
try:
    st.builds(C()).validate()
except Exception:
    pass
""",
    "pandas query of the test's own": """
import enum
import pandas as pd
class Names:
    pass
n = Names()
n.m = enum
try:
    pd.DataFrame({'a': [1]}).query('@n.m.bltns.exec(@TEXT) == 1', engine='python')
except KeyError:
    pass
""",
    "match by position of a made class": """
def f():
    pass
A = type('A', (), {chr(95) * 2 + 'match_args' + chr(95) * 2: (chr(95) * 2 + 'builtins' + chr(95) * 2,)})
B = type(f)
class F(A):
    def __init__(self):
        self.f = f
def g():
    pass
match f:
    case object(__builtins__=found):
        found['exec'](TEXT)
""",
    "vars of the module": """
vars()[chr(95) * 2 + 'builtins' + chr(95) * 2]['exec'](TEXT)
""",
    "setattr of code": """
def f():
    return TEXT
def g():
    pass
setattr(g, chr(95) * 2 + 'code' + chr(95) * 2, getattr(f, chr(95) * 2 + 'code' + chr(95) * 2))
getattr(g, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec'](g())
""",
    "a text that is filled in": """
import enum
class Take:
    def __format__(self, spec):
        enum.bltns.exec(TEXT)
        return ''
'{}'.format(Take())
""",
    "a name bound by an import": """
import enum as __builtins_of_mine__
__builtins_of_mine__.bltns.exec(TEXT)
""",
    "a keyword of another name": """
import functools, enum
functools.partial(lambda m: m.bltns.exec(TEXT), m=enum)()
""",
    "a module in a mapping": """
import enum
modules = {'m': enum}
modules['m'].bltns.exec(TEXT)
""",
    "a module that is returned": """
import enum
def give():
    return enum
give().bltns.exec(TEXT)
""",
    "a module by walrus": """
import enum
(m := enum).bltns.exec(TEXT)
""",
    "a module by with": """
import enum, contextlib
with contextlib.nullcontext(enum) as m:
    m.bltns.exec(TEXT)
""",
    "a module by match": """
import enum
match enum:
    case m:
        m.bltns.exec(TEXT)
""",
    "a module by an error": """
import pytest
import random
with pytest.raises(AttributeError) as e:
    random.nothing
e.value.obj._os.sys.modules['builtins'].exec(TEXT)
""",
    "a module through a star": """
import enum
def f(*all):
    all[0].bltns.exec(TEXT)
f(*[enum])
""",
    "a submodule of a package": """
import concurrent.futures.thread as t
t.threading._sys.modules['builtins'].exec(TEXT)
""",
    "a module of a module": """
from os import path
path.os.sys.modules['builtins'].exec(TEXT)
""",
    "email": """
import email
email.message_from_string
import email.message as m
m.re.enum.bltns.exec(TEXT)
""",
    "http": """
import http.server as s
s.sys.modules['builtins'].exec(TEXT)
""",
    "zoneinfo": """
import zoneinfo
zoneinfo._common.struct
zoneinfo._tzpath.os.sys.modules['builtins'].exec(TEXT)
""",
    "tarfile": """
import tarfile
tarfile.bltn_open.__self__
tarfile.sys.modules['builtins'].exec(TEXT)
""",
    "fractions": """
from fractions import *
import fractions
fractions.sys.modules['builtins'].exec(TEXT)
""",
    "argparse": """
import argparse
argparse._sys.modules['builtins'].exec(TEXT)
""",
    "logging handlers": """
import logging.handlers as h
h.os.sys.modules['builtins'].exec(TEXT)
""",
    "multiprocessing": """
import multiprocessing as mp
mp.process.sys.modules['builtins'].exec(TEXT)
""",
    "asyncio's module": """
import asyncio
asyncio.base_events.sys.modules['builtins'].exec(TEXT)
""",
    "concurrent's module": """
import concurrent.futures
concurrent.futures._base.threading._sys.modules['builtins'].exec(TEXT)
""",
    "sqlite3's module": """
import sqlite3
sqlite3.dbapi2.datetime.sys.modules['builtins'].exec(TEXT)
""",
    "warnings' module": """
import warnings
warnings.sys.modules['builtins'].exec(TEXT)
""",
    "mock's record of patch": """
import os
from unittest.mock import Mock
patch = Mock()
patch.object(os, 'getcwd')
patch.object.call_args.args[0].sys.modules['builtins'].exec(TEXT)
""",
    "an autospec": """
import enum
from unittest.mock import create_autospec
m = create_autospec(enum)
import unittest
unittest.mock.sys.modules['builtins'].exec(TEXT)
""",
    "hasattr of one's own": """
import enum
def hasattr(module, name):
    module.bltns.exec(TEXT)
hasattr(enum, 'x')
""",
    "xunit by an alias": """
import enum
def prepare(m):
    m.enum.bltns.exec(TEXT)
setup_module = prepare
""",
    "request of a lambda": """
import pytest
look = pytest.fixture(autouse=True)(lambda request: request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT))
""",
    "request in keywords": """
import pytest
@pytest.fixture(autouse=True)
def look(*, request):
    r = request
    r.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request closed over": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    def inner():
        return request
    inner().config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request by a default": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    def inner(r=request):
        r.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
    inner()
""",
    "request by locals": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    locals()['request'].config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "request's instance": """
import pytest, enum
class TestB:
    e = enum
    @pytest.fixture(autouse=True)
    def look(self, request):
        request.instance.e.bltns.exec(TEXT)
    def test_b(self):
        pass
""",
    "a parameter's request": """
import pytest
@pytest.fixture(params=[1], autouse=True)
def look(request):
    request.node.session.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "a marked parameter": """
import pytest, enum
@pytest.mark.parametrize('m', [enum])
def test_b(m):
    m.bltns.exec(TEXT)
""",
    "caplog's item": """
import pytest
@pytest.fixture(autouse=True)
def look(caplog):
    caplog._item.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "tmp_path_factory's config": """
import pytest
@pytest.fixture(autouse=True)
def look(pytestconfig):
    pytestconfig.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "a plugin by name": """
import pytest
@pytest.fixture(autouse=True)
def look(request):
    p = request.getfixturevalue('pytestconfig')
    p.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "unittest's result": """
import unittest
class TestB(unittest.TestCase):
    def test_b(self):
        self._outcome.result.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "copy by state": """
import copy, enum
class A:
    def __reduce_ex__(self, protocol):
        return enum.bltns.exec, (TEXT,)
try:
    copy.copy(A())
except Exception:
    pass
""",
    "functools wraps a taker": """
import functools
def f():
    pass
taken = {}
class Take:
    def __setattr__(self, name, value):
        taken[name] = value
    def __getattribute__(self, name):
        return {}
functools.update_wrapper(Take(), f, ['_'.join(['', '', 'builtins', '', ''])])
list(taken.values())[0]['exec'](TEXT)
""",
    "functools wraps to globals": """
import functools
def f():
    pass
taken = {}
class Take:
    def __setattr__(self, name, value):
        taken[name] = value
    def __getattribute__(self, name):
        return {}
functools.partial(functools.update_wrapper, assigned=[chr(95) * 2 + 'builtins' + chr(95) * 2])(Take(), f)
list(taken.values())[0]['exec'](TEXT)
""",
    "a property's getter": """
import functools
def f():
    pass
class A:
    x = functools.cached_property(lambda self: getattr(f, chr(95) * 2 + 'builtins' + chr(95) * 2))
A().x['exec'](TEXT)
""",
    "reduce of getattr": """
import functools
def f():
    pass
functools.reduce(getattr, ['_'.join(['', '', 'builtins', '', ''])], f)['exec'](TEXT)
""",
    "a visitor": """
import ast
class Look(ast.NodeVisitor):
    pass
class A:
    pass
def f():
    pass
A.__name__ = 'x'
ast.NodeVisitor.visit
ast._splitlines_no_ff.__globals__['sys'].modules['builtins'].exec(TEXT)
""",
    "json's scanner": """
import json
json.decoder.scanner.re.enum.bltns.exec(TEXT)
""",
    "object's getattribute": """
def f():
    pass
object.__getattribute__(f, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec'](TEXT)
""",
    "super's getattribute": """
def f():
    pass
class A:
    def look(self):
        return super().__getattribute__('look')
A().look.__func__.__builtins__['exec'](TEXT)
""",
    "annotations of a class in a loop": """
from hypothesis import strategies as st
for A in ['exec(TE' + chr(88) + 'T)']:
    class C:
        def __init__(self, x: A):
            pass
    try:
        st.builds(C).validate()
    except Exception:
        pass
""",
    "annotations joined": """
from hypothesis import strategies as st
class C:
    def __init__(self, x: f'exec({"TEXT"})'):
        pass
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "a type's own names": """
def f():
    pass
look = [v for k, v in object.__dict__.items() if k[2:6] == 'geta'][0]
look(f, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec'](TEXT)
""",
    "a type's own names by a comparison": """
def f():
    pass
class Catch:
    def __eq__(self, other):
        self.other = other
        return True
c = Catch()
object.__dict__ == c
look = [v for k, v in c.other.items() if k[2:6] == 'geta'][0]
look(f, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec'](TEXT)
""",
    "a type's own names by a key": """
def f():
    pass
object.__dict__[chr(95) * 2 + 'getattribute' + chr(95) * 2](f, chr(95) * 2 + 'builtins' + chr(95) * 2)['exec'](TEXT)
""",
    "an argument parser's namespace": """
import argparse
def f():
    pass
p = argparse.ArgumentParser()
p.add_argument('--x', action='append', dest=chr(95) * 2 + 'builtins' + chr(95) * 2)
try:
    p.parse_args(['--x', '1'], f)
except AttributeError as e:
    e.obj['exec'](TEXT)
""",
    "hints set by a copy": """
import copy
from hypothesis import strategies as st
class C:
    def __init__(self, x):
        pass
class Set:
    def __new__(cls, *a):
        return C.__init__ if a == () else object.__new__(cls)
    def __deepcopy__(self, memo):
        return C
class R:
    def __reduce_ex__(self, protocol):
        return (lambda: C.__init__), (), (None, {chr(95) * 2 + 'annotations' + chr(95) * 2: {'x': 'exec(TEXT)'}})
copy.copy(R())
try:
    st.builds(C).validate()
except Exception:
    pass
""",
    "warnings' module kept": """
import warnings
c = warnings.catch_warnings()
c._module.sys.modules['builtins'].exec(TEXT)
""",
    "capsys kept by an object": """
import pytest
class A:
    pass
a = A()
@pytest.fixture(autouse=True)
def look(capsys):
    a.capsys = capsys
    c = a.capsys
    c.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "capsys passed to a class": """
import pytest
class A:
    def __init__(self, c):
        c.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
@pytest.fixture(autouse=True)
def look(capsys):
    A(capsys)
""",
    "capsys in a list": """
import pytest
@pytest.fixture(autouse=True)
def look(capsys):
    [capsys][0].request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "capsys by a keyword": """
import pytest
def run(c):
    c.request.config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
@pytest.fixture(autouse=True)
def look(capsys):
    run(c=capsys)
""",
    "capsys by methodcaller": """
import operator, pytest
@pytest.fixture(autouse=True)
def look(capsys):
    operator.attrgetter('request')(capsys).config.pluginmanager.get_plugin('skipping').os.sys.modules['builtins'].exec(TEXT)
""",
    "getattr from two literals in one": """
def f():
    pass
names = others = []
others.append(chr(95) * 2 + 'builtins' + chr(95) * 2)
for name in names:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr from a literal of a class": """
def f():
    pass
class A:
    names = ['__doc__']
    def grow():
        A.names[0] = chr(95) * 2 + 'builtins' + chr(95) * 2
    def look():
        for name in A.names:
            getattr(f, name)['exec'](TEXT)
A.grow()
A.look()
""",
    "getattr from a starred row": """
def f():
    pass
two = ('a', chr(95) * 2 + 'builtins' + chr(95) * 2)
for a, name, b in [(*two, '__doc__')]:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr by a starred target": """
def f():
    pass
for *a, name in [('x', '__doc__', chr(95) * 2 + 'builtins' + chr(95) * 2)]:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr by a module's attribute": """
import pytest
def f():
    pass
WANTED = '__doc__'
def setup_module(module):
    module.WANTED = chr(95) * 2 + 'builtins' + chr(95) * 2
@pytest.fixture(autouse=True)
def look():
    getattr(f, WANTED)['exec'](TEXT)
""",
    "getattr by walrus": """
def f():
    pass
with_names = (names := ['__doc__'])
with_names[0] = chr(95) * 2 + 'builtins' + chr(95) * 2
for name in names:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr by a parameter that another fixture gives": """
import pytest
def f():
    pass
@pytest.fixture
def name(request):
    return chr(95) * 2 + 'builtins' + chr(95) * 2
@pytest.mark.parametrize('name', ['__doc__'], indirect=True)
def test_b(name):
    getattr(f, name)['exec'](TEXT)
""",
    "getattr by a parameter that setup_method passes": """
import pytest
def f():
    pass
class TestB:
    def setup_method(self, method):
        method( chr(95) * 2 + 'builtins' + chr(95) * 2)
    @pytest.mark.parametrize('name', ['__doc__'])
    def test_b(self, name):
        found = getattr(f, name)
        if found:
            found['exec'](TEXT)
""",
    "getattr by a loop in a loop": """
def f():
    pass
for name in ['__doc__']:
    for name in [chr(95) * 2 + 'builtins' + chr(95) * 2]:
        getattr(f, name)['exec'](TEXT)
""",
    "getattr of a list that a helper adds to": """
def f():
    pass
KNOWN = ['__doc__']
def look(names):
    names *= 0
    names += [chr(95) * 2 + 'builtins' + chr(95) * 2]
look(KNOWN)
for name in KNOWN:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr of a list that a function called parametrize changes": """
def f():
    pass
KNOWN = ['__doc__']
def parametrize(names):
    names[0] = chr(95) * 2 + 'builtins' + chr(95) * 2
parametrize(KNOWN)
for name in KNOWN:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr of a list that the code changes by a method called parametrize": """
def f():
    pass
KNOWN = ['__doc__']
import user_code
user_code.parametrize(KNOWN)
for name in KNOWN:
    getattr(f, name)['exec'](TEXT)
""",
    "getattr of a list that a decorated helper is given": """
def f():
    pass
KNOWN = ['__doc__']
import user_code
@user_code.decorated
def look(names):
    for name in names:
        pass
look(KNOWN)
for name in KNOWN:
    getattr(f, name)['exec'](TEXT)
""",
}
