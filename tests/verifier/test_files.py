"""Tests with `tmp_path` apart from the code: both see the same files, and what the code writes is data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import open_sandbox
from agents.sandbox.interface import SandboxLimits
from agents.verifier import Verifier

from ..support.sandboxes import ALL, BackendName, often, open_or_skip

CODE = """
import json, os, shutil, sys
from pathlib import Path
def size(path):
    return len(open(path, "rb").read())
def save(path, text):
    Path(path).write_text(text)
def append(path, text):
    with open(path, "a") as file:
        file.write(text)
def build(folder):
    (folder / "out" / "deep").mkdir(parents=True)
    (folder / "out" / "deep" / "a").write_bytes(b"\\xff\\0")
    (folder / "in").unlink()
    (folder / "link").symlink_to(folder / "out" / "deep" / "a")
def listed(folder):
    return os.listdir(folder)
def newest(folder):
    return max(folder.iterdir(), key=os.path.getmtime).name
def each(paths, tell):
    for path in paths:
        Path(path).write_text("seen")
        tell(path)
        yield Path(path).read_text()
def move(path, to):
    os.replace(path, to)
def clear(folder):
    shutil.rmtree(folder)
def replaced(path):
    path.unlink()
    path.mkdir()
class Store:
    def __init__(self, path):
        self.path = path
        self.held = json.loads(path.read_text()) if path.exists() else {}
    def set(self, key, value):
        self.held[key] = value
        self.path.write_text(json.dumps(self.held))
if __name__ == "__main__":
    Path(sys.argv[1]).write_text(sys.stdin.read())
"""
HEAD = """
import csv, json, os, subprocess, sys
import pytest
from user_code import Store, append, build, clear, each, listed, move, newest, replaced, save, size
"""
BODIES = {
    "what a test wrote": "(tmp_path / 'a').write_text('abc')\n    assert size(str(tmp_path / 'a')) == 3",
    "what the code wrote": "save(tmp_path / 'a', 'x')\n    assert (tmp_path / 'a').read_text() == 'x'",
    "what both wrote": (
        "path = tmp_path / 'a'\n    for n in range(3):\n        append(path, f'{n}')\n"
        "        path.write_text(path.read_text() + '-')\n    assert path.read_text() == '0-1-2-'"
    ),
    "folders, bytes and a link": (
        "(tmp_path / 'in').write_text('')\n    build(tmp_path)\n"
        "    assert sorted(p.name for p in tmp_path.iterdir()) == ['link', 'out']\n"
        "    with open(tmp_path / 'out' / 'deep' / 'a', 'rb') as file:\n"
        "        assert file.read() == b'\\xff\\0'\n"
        "    assert (tmp_path / 'link').read_bytes() == b'\\xff\\0'"
    ),
    "their order": (
        "for name in ('b', 'c', 'a'):\n        (tmp_path / f'{name}').mkdir()\n"
        "    assert listed(tmp_path) == os.listdir(tmp_path)"
    ),
    "a file rewritten": (
        "(tmp_path / 'a').write_text('1')\n    (tmp_path / 'b').write_text('1')\n    newest(tmp_path)\n"
        "    for n in range(1_000):\n        (tmp_path / 'a').write_text('1')\n    assert newest(tmp_path) == 'a'"
    ),
    "a callback that reads and writes": (
        "path = tmp_path / 'a'\n    got = []\n    def tell(given):\n        got.append(path.read_text())\n"
        "        path.write_text('told')\n"
        "    assert list(each([path], tell)) == ['told']\n    assert got == ['seen']"
    ),
    "a file that the test has removed, written by the code": (
        "(tmp_path / 'a').write_text('old')\n    assert size(tmp_path / 'a') == 3\n    (tmp_path / 'a').unlink()\n"
        "    save(tmp_path / 'a', 'new')\n    assert (tmp_path / 'a').read_text() == 'new'"
    ),
    "a file moved": (
        "(tmp_path / 'a').write_text('1')\n    move(tmp_path / 'a', tmp_path / 'b')\n"
        "    assert os.listdir(tmp_path) == ['b']\n    assert os.path.getsize(tmp_path / 'b') == 1"
    ),
    "a folder in place of a file": (
        "(tmp_path / 'a').write_text('1')\n    replaced(tmp_path / 'a')\n    assert (tmp_path / 'a').is_dir()"
    ),
    "all of it gone": "clear(tmp_path)\n    assert not tmp_path.exists()",
    "an object over a file": (
        "store = Store(tmp_path / 's')\n    store.set('k', 1)\n    assert Store(tmp_path / 's').held == {'k': 1}\n"
        "    (tmp_path / 's').unlink()\n    assert Store(tmp_path / 's').held == {}"
    ),
    "an error": "with pytest.raises(FileNotFoundError, match='none.txt'):\n        size(tmp_path / 'none.txt')",
    "a program": (
        "subprocess.run([sys.executable, 'user_code.py', str(tmp_path / 'a')], input=b'x')\n"
        "    assert (tmp_path / 'a').read_text() == 'x'"
    ),
}
WRONG = """
def nothing(*_): return None
Store = append = build = clear = each = listed = move = newest = replaced = save = size = nothing
"""
SAVED = (
    "import pytest\nfrom user_code import save\n\n"
    "def test_save(tmp_path):\n    (tmp_path / 'own').write_text('hello')\n    save(tmp_path / 'a')\n"
    "    assert (tmp_path / 'a').read_text() == 'hello'\n    assert (tmp_path / 'own').read_text() == 'hello'\n"
)
IN_THE_CODE = {
    "a link to what it can't read": "os.symlink('/src/test_user_code.py', path)",
    "a link to a device": "os.symlink('/dev/zero', path)",
    "a FIFO": "os.mkfifo(path)",
    "links in a circle": "os.symlink('.', path)",
    "a sparse file": "open(path, 'w').truncate(20 << 20)",
    "a file of 8 MB": "open(path, 'w').write('x' * (8 << 20))",
    "5,000 files": "os.mkdir(path)\n    for n in range(5000): open(path / str(n), 'w').close()",
    "deep folders": "for n in range(100): path = path / 'd'; os.makedirs(path, exist_ok=True)",
    "a folder that is a link": "shutil.rmtree(path.parent)\n    os.symlink('/usr/lib', path.parent)",
    "no folder": "shutil.rmtree(path.parent)\n    open(path.parent, 'w').write('hello')",
    "modules": (
        "for name in ('conftest', 'user_code', '__init__', 'json', 'pytest', 'test_user_code', 'sitecustomize'):\n"
        "        (path.parent / f'{name}.py').write_text('import os\\nos._exit(0)\\n')"
    ),
    "the test's own file": "path.write_text('hello')\n    (path.parent / 'own').write_text('x')",
}
RESPONDER = """
import gc
responder = next(found for found in gc.get_objects() if type(found).__name__ == "Responder")
def said(*changed):
    type(responder)._asked["files"] = lambda *_: changed if changed else "x"
class Own(Exception):
    pass
def fail(*_):
    raise Own
"""
OVER_THE_CHANNEL = {
    "an error of its own": ("type(responder)._asked['files'] = fail", "failed"),
    "no changes": ("said()", "forged"),
    "a way out": ("said(('../a', b'hello'))", "forged"),
    "a way down and out": ("said(('d/', b''), ('d/../../a', b'hello'))", "forged"),
    "an absolute path": ("said(('/tmp/pytest-of-tests/b', b'hello'))", "forged"),
    "a name with an end in it": ("said(('a\\0b', b'hello'))", "failed"),
    "a name too long": ("said(('a' * 300, b'hello'))", "failed"),
    "a name in a name": ("said((('a', 'b'), b'hello'))", "forged"),
    "text": ("said(('a', 'hello'))", "forged"),
    "the file itself for a folder": ("said(('a', b'hello'), ('a/b', b'hello'))", "failed"),
    "what is not there is gone": ("said(('b', None))", "failed"),
    "too many": ("said(*((f'{n}', b'') for n in range(2_000)))", "failed"),
    "too much": ("said(('a', b'hello'), ('b', b'x' * (5 << 20)))", "failed"),
}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    try:
        sandbox = open_sandbox()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with closing(sandbox), Verifier(sandbox, SandboxLimits(disk_bytes=64 << 20), call_seconds=2.0) as opened:
        yield opened


def with_bodies(*bodies: str) -> str:
    return HEAD + "".join(f"def test_{n}(tmp_path):\n    {body}\n" for n, body in enumerate(bodies))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_files_are_the_same_for_both(body: str, verifier: Verifier) -> None:
    verdict = verifier.verify(CODE, with_bodies(body))
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), verdict
    assert verifier.verify(WRONG, with_bodies(body)).kind == "failed"


def test_what_the_code_writes_is_an_answer(verifier: Verifier) -> None:
    (strength,) = verifier.verify(CODE, with_bodies(BODIES["what the code wrote"])).strength
    assert (strength.noticed, strength.tried) == (1, 1)
    verdict = verifier.verify(CODE, with_bodies("save(tmp_path / 'a', 'x')\n    assert tmp_path.exists()"))
    assert (verdict.kind, verdict.isolation) == ("refused", "isolated"), verdict


@pytest.mark.parametrize("name", often(ALL, "bubblewrap", "none"))
def test_they_are_in_every_sandbox(name: BackendName) -> None:
    with closing(open_or_skip(name)) as sandbox, Verifier(sandbox) as opened:
        verdict = opened.verify(CODE, with_bodies(*map(BODIES.__getitem__, ("what both wrote", "an error"))))
    isolation = "in-process" if name in ("native without namespaces", "none") else "isolated"
    assert (verdict.kind, verdict.isolation) == ("passed", isolation), verdict


@pytest.mark.parametrize("body", IN_THE_CODE.values(), ids=IN_THE_CODE)
def test_what_the_code_leaves_passes_nothing(body: str, verifier: Verifier) -> None:
    verdict = verifier.verify(f"import os, shutil\ndef save(path):\n    {body}\n", SAVED)
    assert (verdict.kind, verdict.isolation) == ("failed", "isolated"), verdict


@pytest.mark.parametrize(("said", "kind"), OVER_THE_CHANNEL.values(), ids=OVER_THE_CHANNEL)
def test_what_it_says_of_files_passes_nothing(said: str, kind: str, verifier: Verifier) -> None:
    verdict = verifier.verify(f"{RESPONDER}def save(path):\n    {said}\n", SAVED)
    assert (verdict.kind, verdict.isolation) == (kind, "isolated"), verdict


def test_code_that_fills_the_folder_keeps_its_process(verifier: Verifier) -> None:
    fill = "(path.parent / 'b').write_text('x' * 4_180_000)"
    more = "    (tmp_path / 'c').write_text('x' * 9)\n    save(tmp_path / 'd')\n"
    tests = SAVED.replace("    assert", f"{more}    assert", 1)
    verdict = verifier.verify(f"def save(path):\n    {fill}\n", tests)
    assert (verdict.kind, verdict.isolation) == ("failed", "isolated"), verdict


def test_a_test_that_fills_the_folder_moves_into_one_process(verifier: Verifier) -> None:
    body = "(tmp_path / 'a').write_text('x' * 9_000_000)\n    assert size(tmp_path / 'a') == 9_000_000"
    verdict = verifier.verify(CODE, with_bodies(body))
    assert (verdict.kind, verdict.isolation) == ("passed", "in-process"), verdict


def test_the_directory_of_another_test_is_no_reason_to_share_a_process(verifier: Verifier) -> None:
    tests = (
        "from user_code import save\nSEEN = []\ndef test_0(tmp_path):\n    SEEN.append(tmp_path)\n"
        "    save(tmp_path / 'a', 'x')\n    assert (tmp_path / 'a').read_text() == 'x'\n"
        "def test_1():\n    save(SEEN[0] / 'b', 'x')\n    assert (SEEN[0] / 'b').exists()\n"
    )
    verdict = verifier.verify(CODE, tests)
    assert (verdict.kind, verdict.isolation) == ("failed", "isolated"), verdict
