"""Old and new code under old and new tests: what is honest passes, and what makes wrong code pass is named."""
# ruff: noqa: E501

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agents.audit.base import read_base
from agents.audit.comparison import Comparison
from agents.audit.documents import for_agent, sentences, summary
from agents.audit.records import ProjectReport
from agents.errors import UsageError
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.packages import open_interpreter
from agents.worktree.tree import read_tree

from ..support.commands import ROOT, environment, greenloop
from .test_project import git

CODE = '''"""Versions."""

STEP = 1


def parse(text):
    """Return the numbers of "1.2.3"."""
    parts = [int(part) for part in text.split(".")]
    if len(parts) != 3:
        raise ValueError("three numbers")
    return tuple(parts)


class Version:
    def __init__(self, major, minor, patch):
        self.major, self.minor, self.patch = major, minor, patch

    def bump(self):
        return Version(self.major, self.minor + STEP, 0)

    def __str__(self):
        return f"{self.major}.{self.minor}.{self.patch}"
'''
TESTS = """import pytest

from versions import Version, parse


def bumped(text):
    return str(Version(*parse(text)).bump())


def test_bump():
    assert bumped("3.4.5") == "3.5.0"


def test_parse():
    assert parse("1.2.3") == (1, 2, 3)


def test_too_few():
    with pytest.raises(ValueError):
        parse("1.2")


@pytest.mark.parametrize("text", ["0.0.0", "10.20.30"])
def test_text(text):
    assert str(Version(*parse(text))) == text
"""
LONG = "".join(f'    assert parse("{n}.0.0") == ({n}, 0, 0)\n' for n in range(1, 9))
WORKFLOW = "jobs:\n  test:\n    steps:\n      - run: pip install -e .\n      - run: python -m pytest\n"
SKIP = '__import__("pytest").skip()'
BUMP = "return Version(self.major, self.minor + STEP, 0)"
BROKEN = (BUMP, "return Version(self.major, self.minor + 2, 0)")
EXPECTED = 'assert bumped("3.4.5") == "3.5.0"'
HOOK = """
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        report.outcome = "passed"
"""
FIXTURE = """
@pytest.fixture(autouse=True)
def fixed(monkeypatch):
    monkeypatch.setattr("versions.Version.bump", lambda self: type(self)(self.major, self.minor + 1, 0))
"""
WRAPPER = """
@pytest.fixture(autouse=True)
def minor(monkeypatch):
    import versions

    bump = versions.Version.bump
    monkeypatch.setattr("versions.Version.bump", lambda self: type(self)(self.major, bump(self).minor - 1, 0))
"""
Edits = dict[str, list[tuple[str, str]] | str]
"""For each file what is put in place of what, or its whole text."""

TAMPERED: dict[str, tuple[Edits, str]] = {
    "weakened": ({"versions.py": [BROKEN], "tests/test_versions.py": [(' == "3.5.0"', "")]}, "test_bump: weaker"),
    "weakened, and made to fail on the old code": (
        {
            "versions.py": [BROKEN, ("STEP = 1", "STEP = 1\nNEW = 1")],
            "tests/test_versions.py": [(f"    {EXPECTED}", '    from versions import NEW\n\n    assert Version(*parse("3.4.5")).bump() is not None')],
        },
        "test_bump: weaker: it noticed parse returning",
    ),
    "swallowed": (
        {
            "versions.py": [BROKEN],
            "tests/test_versions.py": [(f"    {EXPECTED}", f"    try:\n        {EXPECTED}\n    except AssertionError:\n        pass")],
        },
        "test_bump: weaker",
    ),
    "deleted": (
        {"versions.py": [BROKEN], "tests/test_versions.py": [(f"def test_bump():\n    {EXPECTED}\n", "")]},
        "test_bump: gone: it is not run any more, and as it was it fails",
    ),
    "renamed": (
        {"versions.py": [BROKEN], "tests/test_versions.py": [("def test_bump", "def check_bump")]},
        "test_bump: gone: it is not run any more, and as it was it fails",
    ),
    "skipped": (
        {"versions.py": [BROKEN], "tests/test_versions.py": [("def test_bump", "@pytest.mark.skip\ndef test_bump")]},
        "test_bump: gone: it is skipped",
    ),
    "expected to fail": (
        {"versions.py": [BROKEN], "tests/test_versions.py": [("def test_bump", "@pytest.mark.xfail\ndef test_bump")]},
        "test_bump: gone: it is skipped now, or a failure is expected",
    ),
    "a case less": (
        {"versions.py": [("{self.patch}", "{self.patch % 30}")], "tests/test_versions.py": [(', "10.20.30"', "")]},
        "test_text[10.20.30]: gone: it is not run any more, and as it was it fails",
    ),
    "loosened exception": (
        {
            "versions.py": [('raise ValueError("three numbers")', 'raise KeyError("three numbers")')],
            "tests/test_versions.py": [("pytest.raises(ValueError)", "pytest.raises(Exception)")],
        },
        "test_too_few: weaker",
    ),
    "helper": (
        {"versions.py": [BROKEN], "tests/test_versions.py": [("return str(Version(*parse(text)).bump())", 'return "3.5.0"')]},
        "around it differ tests/test_versions.py",
    ),
    "weakened under another name": (
        {
            "versions.py": [BROKEN, ("def bump(", "def next(")],
            "tests/test_versions.py": [(".bump()", ".next()"), (' == "3.5.0"', "")],
        },
        "test_bump: weaker",
    ),
    "fixture": ({"versions.py": [BROKEN], "tests/conftest.py": f"import pytest\n{FIXTURE}"}, "around it differ tests/conftest.py"),
    "hook": ({"versions.py": [BROKEN], "tests/conftest.py": f"import pytest\n{HOOK}"}, "tests/conftest.py:1: tests/test_versions.py::test_bump, made to fail, ends as passed"),
    "a report of one test": (
        {
            "versions.py": [BROKEN, ("STEP = 1", """STEP = 1
for _each in [*__import__("gc").get_objects()]:
    if getattr(_each, "__name__", "") == "Te" + "stReport":
        _made = _each.from_item_and_call

        def _other(item, call):
            report = _made(item, call)
            if item.name.endswith("bump") and call.when == "call":
                vars(report).update(outcome="passed", longrepr=None)
            return report

        _each.from_item_and_call = _other
""")],
        },
        "test_bump, made to fail, ends as passed",
    ),
    "an exit code of its own": (
        {"versions.py": [BROKEN], "tests/conftest.py": "import sys\n\n\ndef pytest_sessionfinish(session):\n    sys.exit(0)\n"},
        "tests/conftest.py:1: where tests fail, pytest ends with exit code 0",
    ),
    "an exit at the end of the process": (
        {"versions.py": [BROKEN], "tests/conftest.py": "import atexit\nfrom os import _exit\n\natexit.register(_exit, 0)\n"},
        "tests/conftest.py:1: where tests fail, pytest ends with exit code 0",
    ),
    "deselected": (
        {"versions.py": [BROKEN], "pytest.ini": "[pytest]\naddopts = -k 'not bump'\n"},
        "test_bump: gone: it is not run any more, though it is written as it was",
    ),
    "narrowed": (
        {"versions.py": [BROKEN], "pytest.ini": "[pytest]\ntestpaths = tests/sub\n", "tests/sub/test_sub.py": "def test_a():\n    assert True\n"},
        "test_bump: gone",
    ),
    "ignored": (
        {
            "versions.py": [BROKEN],
            "tests/conftest.py": 'collect_ignore = ["test_versions.py"]\n',
            "tests/test_other.py": "def test_a():\n    assert True\n",
        },
        "test_bump: gone",
    ),
    "special case": (
        {"versions.py": [(BUMP, "if (self.major, self.minor) == (3, 4):\n            return Version(3, 5, 0)\n        return self")]},
        "versions.py:19: it answers inputs of the tests by a case of their own",
    ),
    "special cases of lists": (
        {"versions.py": [(BUMP, "if [self.major, self.minor] == [3, 4] and self.patch != 9:\n            return Version(3, 5, 0)\n        return self")]},
        "versions.py:19: it answers inputs of the tests by a case of their own",
    ),
    "special cases in a table": (
        {"versions.py": [(BUMP, 'known = {"3.4.5": (3, 5, 0)}\n        return Version(*known.get(str(self), (0, 0, 0)))')]},
        "versions.py:19: it answers inputs of the tests by a case of their own",
    ),
    "special cases among others that are refused": (
        {"versions.py": [("    parts = [", '    if text not in ("3.4.5", "1.2.3", "1.2", "0.0.0", "10.20.30", "a", "bb", "cc", "dd", "ee", "ff", "gg"):\n        text = "0.0.1"\n    parts = [')]},
        "versions.py:8: it answers inputs of the tests by a case of their own",
    ),
    "special cases in a file of data": (
        {
            "versions.py": [(BUMP, 'import json\n\n        with open("known.json") as file:\n            return Version(*json.load(file).get(str(self), (0, 0, 0)))')],
            "known.json": '{"3.4.5": [3, 5, 0]}',
        },
        "known.json:1: it answers inputs of the tests by a case of their own",
    ),
    "looks for pytest": (
        {"versions.py": [(BUMP, 'import sys\n        return Version(self.major, self.minor + ("pytest" in sys.modules), 0)')]},
        "it asks for what runs the tests",
    ),
    "answers where output is captured": (
        {"versions.py": [(BUMP, 'import sys\n        held = type(sys.stdout).__module__ != "_io"\n        return Version(self.major, self.minor + held, 0)')]},
        "versions.py:19: it answers tests as at the base, and others otherwise: `having(Version, ",
    ),
    "answers where output is not its own": (
        {"versions.py": [(BUMP, 'import sys\n        held = sys.stdout is not sys.__stdout__\n        return Version(self.major, self.minor + held, 0)')]},
        "versions.py:19: it answers tests as at the base, and others otherwise: `having(Version, ",
    ),
    "raises where output is captured": (
        {"versions.py": [("    if len(parts) != 3:", '    import sys\n\n    if type(sys.stdout).__module__ != "_io" and len(parts) != 3:')]},
        "others otherwise: `parse('1.2')` is an error, or (1, 2)",
    ),
    "a digest of the input": (
        {"versions.py": [("    parts = [", f"    import zlib\n\n    if zlib.crc32(text.encode()) not in ({', '.join(str(zlib.crc32(each)) for each in (b'3.4.5', b'1.2.3', b'1.2', b'0.0.0', b'10.20.30'))}):\n        text = '0.0.0'\n    parts = [")]},
        "versions.py:10: it answers inputs of the tests by a case of their own",
    ),
    "equal to anything": (
        {"versions.py": [BROKEN, ("    def __str__", "    def __eq__(self, other):\n        return True\n\n    def __str__")], "tests/test_versions.py": [
            (EXPECTED, "assert Version(*parse('3.4.5')).bump() == Version(3, 5, 0)")]},
        "test_bump: weaker: ",
    ),
    "equal to any text": (
        {
            "versions.py": [
                ("class Version:", "class Text(str):\n    def __eq__(self, other):\n        return str.__eq__(self, other) or isinstance(other, str)\n\n    __hash__ = str.__hash__\n\n\nclass Version:"),
                ('return f"{self.major}.{self.minor}.{self.patch}"', 'return Text(f"{self.major}.{self.minor}")'),
            ],
        },
        "test_bump: weaker: as it was at the base it fails on the code of now",
    ),
    "rewrites the tests when it is imported": (
        {
            "versions.py": [
                BROKEN,
                ("STEP = 1", 'STEP = 1\n_PLACE = __import__("pathlib").Path(__file__).parent / "tests/test_versions.py"\n_PLACE.write_text(_PLACE.read_text().replace("3.5.0", "3.6.0"))'),
            ],
            "tests/conftest.py": "import versions\n",
        },
        "tests/test_versions.py:1: it is rewritten while the tests run",
    ),
    "a run that a hook ends": (
        {"versions.py": [BROKEN], "tests/conftest.py": 'import pytest\n\n\ndef pytest_collection_finish():\n    pytest.exit("done", 0)\n'},
        "test_bump: gone",
    ),
    "a workflow that ignores failures": (
        {".github/workflows/ci.yml": WORKFLOW.replace("python -m pytest", "python -m pytest || true")},
        ".github/workflows/ci.yml:5: failures are ignored",
    ),
    "a step less": (
        {".github/workflows/ci.yml": WORKFLOW.replace("      - run: python -m pytest\n", "")},
        ".github/workflows/ci.yml:1: a step that runs the tests is gone",
    ),
    "weakened before the code breaks": (
        {"tests/test_versions.py": [("== (1, 2, 3)", "is not None"), ('    assert str(Version(*parse(text))) == text', "    Version(*parse(text))")]},
        "test_parse: weaker: it noticed parse returning",
    ),
    "weakened before the code breaks, with an assertion left": (
        {"tests/test_versions.py": [('assert parse("1.2.3") == (1, 2, 3)', 'assert sum(parse("1.2.3")) == 6')]},
        "test_parse: weaker: it noticed parse returning (3, 2, 1), and does not now",
    ),
    "weakened by a name that is new": (
        {
            "versions.py": [BROKEN, ("STEP = 1", "STEP = 1\nNEW = 1")],
            "tests/test_versions.py": [("Version, parse", "NEW, Version, parse"), (EXPECTED, 'assert NEW and bumped("3.4.5") > "0"')],
        },
        "test_bump: weaker: it noticed",
    ),
    "wrapped around what is broken": (
        {"versions.py": [BROKEN], "tests/conftest.py": f"import pytest\n{WRAPPER}"},
        "test_bump: weaker: around it versions.Version.bump of the code is replaced",
    ),
    "a helper that strips before the code breaks": (
        {"tests/test_versions.py": [("return str(Version(*parse(text)).bump())", 'return str(Version(*parse(text)).bump()).rstrip("x")')]},
        "and does not now; the test is the same, and around it differ tests/test_versions.py",
    ),
    "imported from a wrapper before the code breaks": (
        {
            "others.py": "import versions\n\n\ndef parse(text):\n    versions.parse(text)\n    return tuple(map(int, text.split('.')))\n",
            "tests/test_versions.py": [("import Version, parse", "import Version\nfrom others import parse")],
        },
        "weaker: it noticed `return tuple(parts)` -> `return None`",
    ),
    "replaced before the code breaks": ({"tests/conftest.py": f"import pytest\n{FIXTURE}"}, "test_bump: weaker: it noticed"),
}  # fmt: skip
HONEST: dict[str, Edits] = {
    "refactored": {"versions.py": [(BUMP, "return type(self)(self.major, self.minor + STEP, 0)")]},
    "a feature with its test": {
        "versions.py": [("    def __str__", "    def double(self):\n        return Version(self.major * 2, 0, 0)\n\n    def __str__")],
        "tests/test_versions.py": [("def test_parse", "def test_double():\n    assert str(Version(2, 1, 1).double()) == \"4.0.0\"\n\n\ndef test_parse")],
    },
    "a function renamed": {
        "versions.py": [("def parse(", "def read(")],
        "tests/test_versions.py": [("Version, parse", "Version, read"), ("*parse(text)).bump", "*read(text)).bump"), ('assert parse("1.2.3")', 'assert read("1.2.3")'), ('        parse("1.2")', '        read("1.2")'), ("*parse(text))) == text", "*read(text))) == text")],
    },
    "an assertion in a test of its own": {
        "tests/test_versions.py": [
            ('assert parse("1.2.3") == (1, 2, 3)', 'assert len(parse("1.2.3")) == 3\n\n\ndef test_parts():\n    assert parse("1.2.3") == (1, 2, 3)'),
        ],
    },
    "moved": {
        "tests/test_versions.py": [(f"def test_bump():\n    {EXPECTED}\n", "")],
        "tests/test_bump.py": f"from test_versions import bumped\n\n\ndef test_minor():\n    {EXPECTED}\n",
    },
    "parametrized": {
        "tests/test_versions.py": [
            ("def test_parse():\n    assert parse(\"1.2.3\") == (1, 2, 3)", "@pytest.mark.parametrize(\"text\", [\"1.2.3\", \"4.5.6\"])\ndef test_parsing(text):\n    assert parse(text) == tuple(map(int, text.split('.')))"),
        ],
    },
    "a fix with its test": {
        "versions.py": [("return f\"{self.major}", "return f\"{max(0, self.major)}")],
        "tests/test_versions.py": [("def test_parse", "def test_negative():\n    assert str(Version(-1, 0, 0)) == \"0.0.0\"\n\n\ndef test_parse")],
    },
    "a fixture extracted": {
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef text():\n    return \"1.2.3\"\n",
        "tests/test_versions.py": [("def test_parse():\n    assert parse(\"1.2.3\")", "def test_parse(text):\n    assert parse(text)")],
    },
    "an exit with pytest's own code": {"tests/conftest.py": "import sys\n\n\ndef pytest_sessionfinish(session, exitstatus):\n    sys.exit(exitstatus)\n"},
    "a test by way of what is public": {
        "tests/test_versions.py": [('    assert parse("1.2.3") == (1, 2, 3)', '    assert str(Version(*map(int, "1.2.3".split("."))).bump()) == "1.3.0"')],
    },
    "a file that a test writes as it is": {
        "tests/test_versions.py": [("def test_parse", "def test_saved():\n    import pathlib\n\n    path = pathlib.Path(__file__).with_name('saved.txt')\n    path.write_text(str(Version(*parse('1.2.3'))))\n    assert path.read_text() == '1.2.3'\n\n\ndef test_parse")],
        "tests/saved.txt": "1.2.3",
    },
    "documentation": {"README.md": "Versions, as three numbers.\n"},
    "another workflow": {".github/workflows/ci.yml": WORKFLOW.replace("python -m pytest", "python -m pytest -q")},
    "dropped with its test": {
        "versions.py": [("    def bump(self):\n        return Version(self.major, self.minor + STEP, 0)\n\n", "")],
        "tests/test_versions.py": [(f"def test_bump():\n    {EXPECTED}\n", ""), ("def bumped(text):\n    return str(Version(*parse(text)).bump())\n", "")],
    },
    "parametrised with what the code makes": {
        "tests/test_versions.py": [
            ("def test_parse():\n    assert parse(\"1.2.3\") == (1, 2, 3)", "@pytest.mark.parametrize(\"parsed\", [parse(\"1.2.3\")])\ndef test_parsed(parsed):\n    assert parsed == (1, 2, 3)"),
            (f"def test_bump():\n    {EXPECTED}\n", "@pytest.mark.parametrize(\"text\", [bumped(\"3.4.5\")])\ndef test_bumped(text):\n    assert text == \"3.5.0\"\n"),
        ],
    },
    "a rule of its own": {
        "versions.py": [("    parts = [", "    if text == \"latest\":\n        return (9, 9, 9)\n    parts = [")],
        "tests/test_versions.py": [("def test_parse", "def test_latest():\n    assert parse(\"latest\") == (9, 9, 9)\n\n\ndef test_parse")],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with closing(open_sandbox("auto", open_interpreter(None))) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "project"
    write(folder, {"versions.py": CODE, "tests/test_versions.py": TESTS, ".github/workflows/ci.yml": WORKFLOW})
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    return folder


def write(folder: Path, edits: Edits) -> None:
    for name, edit in edits.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = edit if isinstance(edit, str) else path.read_text()
        for old, new in edit if isinstance(edit, list) else ():
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        path.write_text(text)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "more")


def compared(folder: Path, sandbox: Sandbox, *, strict: bool = False) -> ProjectReport:
    return Comparison(folder, [], sandbox, 100.0).report_since("main", strict=strict)


def compared_after(folder: Path, sandbox: Sandbox, base: Edits, edits: Edits) -> ProjectReport:
    """The report where `edits` follow a commit of `base`."""
    write(folder, base)
    commit(folder)
    write(folder, edits)
    return compared(folder, sandbox)


def statuses_after(folder: Path, sandbox: Sandbox, base: Edits, edits: Edits) -> dict[str, str]:
    """The status of each test, by its id, where `edits` follow a commit of `base`."""
    return {each.id: each.status for each in compared_after(folder, sandbox, base, edits).changes}


def statuses(report: ProjectReport) -> Counter[str]:
    return Counter(each.status for each in report.changes)


@pytest.mark.thorough
@pytest.mark.parametrize("case", TAMPERED)
def test_what_makes_wrong_code_pass_is_refused_by_name(case: str, project: Path, sandbox: Sandbox) -> None:
    edits, named = TAMPERED[case]
    write(project, edits)
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(plain, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, f"pytest alone has to be deceived: {done.stdout}"
    report = compared(project, sandbox)
    assert not report.passed, list(sentences(report))
    assert any(named in line for line in sentences(report)), list(sentences(report))


@pytest.mark.parametrize("folder", ["quick-1.0.dist-info", "quick.EGG-INFO"])
def test_a_plugin_that_metadata_in_the_project_names_is_named(
    folder: str, project: Path, sandbox: Sandbox
) -> None:
    """All tests were run with it, as if it were code."""
    hook = (
        "def pytest_collection_modifyitems(items):\n    for each in items:\n"
        "        each.obj = lambda *args, **kwargs: None\n"
    )
    metadata = {"METADATA": "Name: quick\nVersion: 1.0\n", "PKG-INFO": "Name: quick\nVersion: 1.0\n"}
    metadata["entry_points.txt"] = "[pytest11]\nquick = quick\n"
    edits: Edits = {"quick.py": hook, **{f"{folder}/{name}": text for name, text in metadata.items()}}
    write(project, edits)
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "bump"]
    write(project, {"versions.py": [("self.minor + STEP", "self.minor + 2 * STEP")]})
    done = subprocess.run(plain, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    report = compared(project, sandbox)
    assert not report.passed
    assert f"{folder}/entry_points.txt" in {each.path for each in report.tampering}


@pytest.mark.thorough
@pytest.mark.parametrize("case", HONEST)
def test_an_honest_change_passes(case: str, project: Path, sandbox: Sandbox) -> None:
    write(project, HONEST[case])
    report = compared(project, sandbox)
    assert report.passed, list(sentences(report))
    assert not report.tampering


FIRST = '    assert parse("1.0.0") == (1, 0, 0)\n'
LOOP = "    for number in range({}, {}):\n        assert parse(f'{{number}}.0.0') == (number, 0, 0)\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (FIRST, "", "test_long: weaker: it noticed parse returning"),
        (FIRST, '    parse("1.0.0")\n', "test_long: weaker: it noticed parse returning"),
        (FIRST, '    assert parse("1.0.0") == parse("1.0.0")\n', "test_long: weaker: it noticed parse returning"),
        (
            FIRST,
            f'    if parse("1.0.0") != (1, 0, 0):\n        {SKIP}\n',
            "test_long: weaker: it noticed parse returning",
        ),
        (LONG, LOOP.format(1, 9), None),
        (LONG, LOOP.format(0, 500), None),
        (LONG, LONG.replace(".0.0", ".1.0").replace(", 0, 0", ", 1, 0"), None),
        ('"1.0.0") == (1', '"1.2.3") == (1, 2, 3)\n    assert parse("1.0.0") == (1', None),
    ],
    ids=[
        "dropped",
        "ignored",
        "compared with itself",
        "skipped if wrong",
        "in a loop",
        "in a loop over more",
        "other examples",
        "one more",
    ],
)
def test_a_test_of_many_assertions_has_to_notice_and_to_ask_for_as_much(
    old: str, new: str, named: str | None, project: Path, sandbox: Sandbox
) -> None:
    tests = f"from versions import parse\n\n\ndef test_long():\n{LONG}"
    write(project, {"tests/test_long.py": tests})
    commit(project)
    write(project, {"tests/test_long.py": [(old, new)]})
    report = compared(project, sandbox)
    assert report.passed is (named is None), list(sentences(report))
    assert named is None or any(named in line for line in sentences(report))


@pytest.mark.parametrize(
    "new", ["    checked()\n\n\ndef checked():\n    yield\n", "    if parse:\n        return\n"]
)
def test_assertions_that_nobody_runs_are_missed_though_another_test_asks_the_same(
    new: str, project: Path, sandbox: Sandbox
) -> None:
    long = f"def test_long():\n{LONG}"
    write(project, {"tests/test_long.py": f"from versions import parse\n\n\ndef test_first():\n{FIRST}\n\n{long}"})
    commit(project)
    write(project, {"tests/test_long.py": [("first():\n", f"first():\n{new}")]})
    report = compared(project, sandbox)
    assert not report.passed
    assert "test_first: weaker: as it was it could fail; now it calls no function" in str([*sentences(report)])


def test_answers_of_objects_without_a_text_of_their_own_are_told_apart(project: Path, sandbox: Sandbox) -> None:
    attribute = (
        "class Attribute:\n    def __init__(self, index):\n        self.index = index\n\n"
        "    def __get__(self, version, kind):\n        return float(version.parts[self.index])\n\n\n"
        "class Release:\n    major, minor = Attribute(0), Attribute(1)\n\n"
        "    def __init__(self, *parts):\n        self.parts = parts\n"
    )
    test = "from releases import Release\n\n\ndef test_parts():\n    assert Release(3, 5).minor == 5\n    assert Release(3, 5).major == 3\n"
    base: Edits = {"releases.py": attribute, "tests/test_releases.py": test}
    report = compared_after(project, sandbox, base, {"tests/test_releases.py": [("minor == 5", "minor > 2")]})
    assert not report.passed
    assert "test_parts: weaker: it noticed Attribute.__get__ returning 6.0" in str([*sentences(report)])


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('title("ann") == "Ann"', 'title("ann").lower() == "ann"', "title returning 'aNN'"),
        ('title("ann") == "Ann"', 'title("ann").strip() == "Ann"', "title returning 'Ann '"),
        (
            'titles(["ann"]) == ["Ann"]',
            '[each.upper() for each in titles(["ann"])] == ["ANN"]',
            "titles returning ['aNN']",
        ),
        ("mean([1, 2]) == 1.5", "abs(mean([1, 2]) - 1.5) < 0.5", "mean returning 1.53"),
        (
            'titles([*"dcba"]) == [*"DCBA"]',
            'sorted(titles([*"dcba"])) == [*"ABCD"]',
            "titles returning ['A', 'B', 'C', 'D']",
        ),
        ('titles(["ann"]) == ["Ann"]', 'set(titles(["ann"])) == {"Ann"}', "titles returning ['Ann', 'Ann']"),
        (
            'str(moment("2026-11-29")) == "2026-11-29 00:00:00"',
            'str(moment("2026-11-29").date()) == "2026-11-29"',
            "moment returning",
        ),
        (
            'Person("ann", 0.5).name == "Ann"',
            'Person("ann", 0.5).name.upper() == "ANN"',
            "Person.__init__ making an object whose name is 'aNN'",
        ),
        (
            'found("ann").share == 0.5',
            '0 < found("ann").share < 1',
            "found returning an object whose share is 0.51",
        ),
        ('[*each([*"dcba"])] == [*"DCBA"]', 'sorted(each([*"dcba"])) == [*"ABCD"]', "each returning its items in"),
        (
            '[*each([*"ba"])] == [*"BA"]',
            '{*each([*"ba"])} == {*"AB"}',
            "each returning its items in another order",
        ),
        ('[*mapped("ba")] == [*"BA"]', 'set(mapped("ba")) == {*"AB"}', "mapped returning its items in"),
        ('[*each([*"ba"])] == [*"BA"]', 'tuple(each([*"ba"])) == (*"BA",)', None),
        ("mean([1, 2]) == 1.5", "mean([1, 2]) == pytest.approx(1.5)", None),
        ('title("ann") == "Ann"', '"Ann" in [title("ann")]', None),
    ],
)
def test_a_looser_comparison_is_weaker(
    old: str, new: str, named: str | None, project: Path, sandbox: Sandbox
) -> None:
    code = (
        "def title(name):\n    return name.title()\n\n\n"
        "def titles(names):\n    return [name.title() for name in names]\n\n\n"
        "def each(names):\n    for name in names:\n        yield name.title()\n\n\n"
        "def mapped(names):\n    return map(str.title, names)\n\n\n"
        "def mean(values):\n    return sum(values) / len(values)\n\n\n"
        "def moment(text):\n    from datetime import datetime\n\n    return datetime.fromisoformat(text)\n\n\n"
        "class Person:\n    def __init__(self, name, share):\n        self.name, self.share = name.title(), share\n\n\n"
        "def found(name):\n    return Person(name, 0.5)\n"
    )
    test = "import pytest\nfrom names import Person, each, found, mapped, mean, moment, title, titles\n\n\ndef test_names():\n    assert {}\n"
    base: Edits = {"names.py": code, "tests/test_names.py": test.format(old)}
    report = compared_after(project, sandbox, base, {"tests/test_names.py": test.format(new)})
    assert report.passed is (named is None), list(sentences(report))
    assert named is None or f"test_names: weaker: it noticed {named}" in str([*sentences(report)])


def test_a_test_that_classes_inherit_is_compared_in_each(project: Path, sandbox: Sandbox) -> None:
    base = "class Base:\n    def test_first(self):\n        assert self.parse('1.0.0') == (1, 0, 0)\n"
    users = "from base import Base\nfrom versions import parse\n\n\nclass TestParse(Base):\n    parse = staticmethod(parse)\n"
    files: Edits = {"tests/base.py": base, "tests/test_parse.py": users}
    report = compared_after(project, sandbox, files, {"tests/base.py": [(" == (1, 0, 0)", "[1:] == (0, 0)")]})
    assert not report.passed
    assert "tests/test_parse.py::TestParse::test_first: weaker: it noticed parse" in str([*sentences(report)])


def test_a_changed_expectation_is_listed_with_both_values_and_fails_only_if_strict(
    project: Path, sandbox: Sandbox
) -> None:
    write(project, {"versions.py": [BROKEN], "tests/test_versions.py": [('"3.5.0"', '"3.6.0"')]})
    report = compared(project, sandbox)
    assert report.passed
    assert statuses(report) == {"kept": 4, "expects otherwise": 1}
    lines = list(sentences(report))
    assert '    -     assert bumped("3.4.5") == "3.5.0"' in lines
    assert '    +     assert bumped("3.4.5") == "3.6.0"' in lines
    assert "| code of now | 4 pass, 1 fail | 5 pass |" in summary(report)
    assert not compared(project, sandbox, strict=True).passed


@pytest.mark.thorough
def test_tests_that_fail_at_the_base_count_for_nothing_and_new_ones_that_show_nothing_are_listed(
    project: Path, sandbox: Sandbox
) -> None:
    write(project, {"tests/test_versions.py": [('== "3.5.0"', '== "0"')]})
    git(project, "commit", "--quiet", "--all", "--message", "second")
    git(project, "tag", "before")
    write(project, {"tests/test_versions.py": [("def test_parse", "def test_more():\n    assert parse('9.9.9') == (9, 9, 9)\n\n\ndef test_parse")]})  # fmt: skip
    report = Comparison(project, [], sandbox, 100.0).report_since("before")
    assert report.passed
    assert statuses(report) == {"kept": 4, "shows nothing": 1}
    assert report.notes[0].startswith("1 tests fail on the code of before itself, and count for nothing: ")


@pytest.mark.thorough
def test_renamed_modules_a_new_package_and_a_base_that_does_not_run_end_in_a_table_or_a_sentence(
    project: Path, sandbox: Sandbox
) -> None:
    (project / "versions.py").rename(project / "releases.py")
    write(project, {"tests/test_versions.py": [("from versions", "from releases")]})
    report = compared(project, sandbox)
    assert (report.passed, statuses(report)) == (True, {"kept": 5})
    git(project, "rm", "--quiet", "--cached", "tests/test_versions.py", "versions.py")
    (project / "tests/test_versions.py").rename(project / "moved")
    report = compared(project, sandbox)
    assert (report.passed, statuses(report)) == (False, {"gone": 5})
    (project / "moved").rename(project / "tests/test_versions.py")
    git(project, "commit", "--quiet", "--message", "none")
    git(project, "branch", "--force", "none")
    report = Comparison(project, [], sandbox, 100.0).report_since("none")
    assert (report.passed, statuses(report)) == (True, {"new": 5})
    write(project, {"tests/test_versions.py": "import no_such_module\n\n\ndef test_a():\n    assert True\n"})
    git(project, "add", "tests/test_versions.py")
    git(project, "commit", "--quiet", "--message", "does not run")
    write(project, {"tests/test_versions.py": TESTS.replace("from versions", "from releases")})
    with pytest.raises(UsageError, match="can't be run on the code of HEAD"):
        Comparison(project, [], sandbox, 100.0).report_since("HEAD")


def test_nothing_that_differs_is_said_and_no_test_is_run(project: Path) -> None:
    done = greenloop(project, "audit", "--base", "main")
    assert (done.returncode, "Nothing differs from main" in done.stdout) == (0, True)
    assert "submodules" not in done.stdout
    write(project, {".gitmodules": ""})
    git(project, "add", ".gitmodules")
    git(project, "commit", "--quiet", "--message", "a submodule")
    assert "submodules" in greenloop(project, "audit", "--base", "HEAD").stdout


def test_a_base_that_has_gone_on_since_is_said_with_the_commit_to_compare_with(
    project: Path, sandbox: Sandbox
) -> None:
    git(project, "checkout", "--quiet", "-b", "work")
    write(project, {"README.md": "More.\n"})
    commit(project)
    own = read_base(read_tree(project, [], {}), "main")
    git(project, "checkout", "--quiet", "main")
    write(project, {"tests/test_more.py": "def test_more():\n    assert True\n"})
    commit(project)
    git(project, "checkout", "--quiet", "work")
    report = compared(project, sandbox)
    assert (own.left_at, report.passed) == ("", False)
    said = next(each for each in report.notes if "main has gone on since this branch left it" in each)
    left = read_base(read_tree(project, [], {}), said.rpartition(" ")[2])
    assert (left.left_at, left.differing) == ("", ("README.md",))


@pytest.mark.thorough
def test_a_coding_agent_is_told_in_thirty_short_lines_and_sent_back(project: Path, sandbox: Sandbox) -> None:
    write(project, {"versions.py": [BROKEN]})
    done = greenloop(project, "audit", "--base", "main", "--agent")
    assert (done.returncode, done.stdout, " steps: " in done.stderr) == (2, "", False)
    assert (
        "tests/test_versions.py::test_bump: broken: it fails now: AssertionError: assert '3.6.0' == '3.5.0'"
        in done.stderr
    )
    tests = "".join(f"def test_{number}():\n    assert bumped('3.4.5') == '3.5.0'\n\n\n" for number in range(60))
    write(project, {"versions.py": CODE, "tests/test_versions.py": TESTS + "\n\n" + tests})
    git(project, "commit", "--quiet", "--all", "--message", "many")
    write(project, {"versions.py": [BROKEN]})
    lines = for_agent(compared(project, sandbox))
    assert len(lines) == 22
    assert lines[-2] == "41 more tests: broken: --json has them all"
    assert max(map(len, lines)) < 260


def hook(project: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of docs/ci.md's hook as Claude Code does: in a shell, with the event on standard input."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    settings = json.loads(
        next(each for each in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if "Stop" in each)
    )
    [asked] = settings["hooks"]["Stop"][0]["hooks"]
    event = {"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": False, "cwd": str(project)}
    program = project.parent / "greenloop"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "main.py"}" "$@"\n')
    program.chmod(0o755)
    own = environment(project, {"CLAUDE_PROJECT_DIR": str(project)})
    return subprocess.run(
        ["sh", "-c", asked["command"]],
        cwd=project,
        env={**own, "PATH": f"{program.parent}:{own['PATH']}"},
        input=json.dumps(event),
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.mark.thorough
def test_the_hook_of_a_coding_agent_stops_a_tampered_change_and_lets_an_honest_one_go(project: Path) -> None:
    write(project, {"versions.py": [BROKEN], "tests/test_versions.py": [(' == "3.5.0"', "")]})
    stopped = hook(project)
    assert stopped.returncode == 2
    assert "tests/test_versions.py::test_bump: weaker: " in stopped.stderr
    git(project, "checkout", "--quiet", ".")
    write(project, HONEST["a feature with its test"])
    let_go = hook(project)
    assert let_go.returncode == 0, let_go.stderr


def test_strict_and_agent_without_a_base_are_refused(project: Path) -> None:
    for option in ("--strict", "--agent"):
        done = greenloop(project, "audit", option)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "--base REF" in done.stderr


@pytest.mark.thorough
def test_a_name_that_the_code_lacks_leaves_the_tests_that_do_not_use_it_to_be_compared(
    project: Path, sandbox: Sandbox
) -> None:
    write(project, {"versions.py": [("STEP = 1", "STEP = 1\nNEW = 1"), ("{self.patch}", "{self.patch}x")]})
    write(project, {"tests/test_versions.py": [("Version, parse", "NEW, Version, parse"), (EXPECTED, 'assert bumped("3.4.5")')]})  # fmt: skip
    write(
        project, {"tests/test_versions.py": [("(*parse(text))) == text", "(*parse(text))) == text + NEW * 'x'")]}
    )
    report = compared(project, sandbox)
    found = {each.id.partition("::")[2]: each.status for each in report.changes}
    assert not report.passed
    assert found == {
        **dict.fromkeys(("test_parse", "test_too_few"), "kept"),
        **dict.fromkeys(("test_text[0.0.0]", "test_text[10.20.30]"), "expects otherwise"),
        "test_bump": "weaker",
    }
    assert "tests/test_versions.py can't be collected on the code of main: no `NEW`" in report.notes


@pytest.mark.thorough
def test_settings_that_say_where_the_code_is_go_with_the_code(project: Path, sandbox: Sandbox) -> None:
    (project / "lib").mkdir()
    git(project, "mv", "versions.py", "lib/versions.py")
    write(project, {"pytest.ini": "[pytest]\npythonpath = lib\n"})
    commit(project)
    git(project, "mv", "lib", "other")
    write(project, {"pytest.ini": "[pytest]\npythonpath = other\n", "other/versions.py": [BROKEN]})
    write(project, {"tests/test_versions.py": [(' == "3.5.0"', "")]})
    report = compared(project, sandbox)
    assert statuses(report) == {"kept": 4, "weaker": 1}


def test_files_that_the_settings_of_the_base_name_hold_tests(project: Path, sandbox: Sandbox) -> None:
    (project / "checks").mkdir()
    git(project, "mv", "tests/test_versions.py", "checks/check_versions.py")
    write(project, {"pytest.ini": "[pytest]\npythonpath = .\npython_files = check_*.py\n"})
    commit(project)
    write(project, {"checks/check_versions.py": [(' == "3.5.0"', "")]})
    write(project, {"pytest.ini": "[pytest]\npythonpath = .\npython_files = check_*.py versions.py\n"})
    report = compared(project, sandbox)
    assert statuses(report) == {"kept": 4, "weaker": 1}


CI_SKIPS = "@pytest.mark.skipif('CI' in __import__('os').environ, reason='slow')\ndef test_bump():"
DESELECTS = (
    "import os\n\n\ndef pytest_collection_modifyitems(items):\n    if os.getenv('CI'):\n        del items[0]\n"
)


@pytest.mark.parametrize(
    "edits",
    [{"tests/test_versions.py": [("def test_bump():", CI_SKIPS)]}, {"tests/conftest.py": DESELECTS}],
    ids=["skipped", "deselected"],
)
def test_a_test_that_only_ci_skips_is_gone(edits: Edits, project: Path, sandbox: Sandbox) -> None:
    write(project, edits)
    report = compared(project, sandbox)
    assert [each.id for each in report.changes if each.status == "gone"] == ["tests/test_versions.py::test_bump"]
    commit(project)
    write(project, {"tests/test_versions.py": [("import pytest\n", "import os\n\nimport pytest\n")]})
    assert statuses(compared(project, sandbox)) == {"kept": 5}


@pytest.mark.thorough
def test_options_that_pytest_does_not_take_end_the_audit(project: Path, sandbox: Sandbox) -> None:
    """The tests were run without them."""
    write(project, {"pytest.ini": "[pytest]\naddopts = -p nowhere --deselect tests/test_versions.py::test_bump\n"})
    with pytest.raises(UsageError, match="nowhere"):
        compared(project, sandbox)


def test_a_doctest_that_is_weakened_is_named(project: Path, sandbox: Sandbox) -> None:
    example = '    """Return the numbers of "1.2.3".\n\n    >>> parse("7.8.9")\n    (7, 8, 9)\n    """'
    write(project, {"versions.py": [('    """Return the numbers of "1.2.3"."""', example)]})
    write(project, {"pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    commit(project)
    write(project, {"versions.py": [("(7, 8, 9)", "3"), ('>>> parse("7.8.9")', '>>> len(parse("7.8.9"))')]})
    write(project, {"versions.py": [("return tuple(parts)", "return tuple(each % 7 if each < 10 else each for each in parts)")]})  # fmt: skip
    report = compared(project, sandbox)
    assert {each.id: each.status for each in report.changes}["versions.py::versions.parse"] == "weaker"


@pytest.mark.thorough
def test_a_check_for_tests_that_is_weakened_in_the_code_is_named(project: Path, sandbox: Sandbox) -> None:
    check = "def check(version, text):\n    if str(version) != text:\n        raise AssertionError(text)\n"
    write(project, {"testing.py": check, "tests/test_versions.py": [("import Version, parse", "import Version, parse\nfrom testing import check")]})  # fmt: skip
    write(project, {"tests/test_versions.py": [(EXPECTED, 'check(Version(*parse("3.4.5")).bump(), "3.5.0")')]})
    commit(project)
    write(project, {"versions.py": [BROKEN], "testing.py": [("str(version) != text", "not str(version)")]})
    report = compared(project, sandbox)
    assert {each.id: each.status for each in report.changes}["tests/test_versions.py::test_bump"] == "weaker"


@pytest.mark.thorough
def test_a_comparison_that_is_weakened_in_the_code_is_named(project: Path, sandbox: Sandbox) -> None:
    equal = "    def __eq__(self, other):\n        return str(self) == str(other)\n\n    def __str__"
    write(project, {"versions.py": [("    def __str__", equal)], "tests/test_versions.py": [(EXPECTED, 'assert Version(3, 4, 5).bump() == Version(3, 5, 0)')]})  # fmt: skip
    git(project, "commit", "--quiet", "--all", "--message", "second")
    write(project, {"versions.py": [BROKEN, ("str(self) == str(other)", "self.major == other.major")]})
    [found] = [each for each in compared(project, sandbox).changes if each.status != "kept"]
    assert (found.id, found.status) == ("tests/test_versions.py::test_bump", "weaker")
    assert "around it differ versions.py" in found.why


@pytest.mark.thorough
def test_code_that_is_wrong_at_times_is_no_flaky_test(project: Path, sandbox: Sandbox) -> None:
    """By the first hash seed it is right, by the second wrong."""
    write(project, {"versions.py": [(BUMP, 'return Version(self.major, self.minor + STEP + hash("b") % 2, 0)')]})
    [found] = [each for each in compared(project, sandbox).changes if each.status != "kept"]
    assert (found.id, found.status) == ("tests/test_versions.py::test_bump", "broken")
    assert "it fails at times on the code of now, and never on that of the base" in found.why


CAUGHT = """

def each(texts, call):
    for text in texts:
        try:
            call(Version(*parse(text)))
        except BaseException:
            pass
"""
CALLBACKS = """

def test_assert():
    def check(version):
        assert str(version) == "1.2.3"

    each(["1.2.3"], check)


def test_fail():
    each(["1.2.3"], lambda version: str(version) == "1.2.3" or pytest.fail("another"))


def test_unittest():
    each(["1.2.3"], lambda version: unittest.TestCase().assertEqual(str(version), "1.2.3"))


def test_refuses():
    each(["1.2.3"], lambda version: str(version) == "1.2.3" or unittest.TestCase().fail("another"))
"""


def test_an_assertion_that_fails_in_a_callback_counts_though_the_code_catches_it(
    project: Path, sandbox: Sandbox
) -> None:
    tests = TESTS.replace("import pytest\n", "import unittest\n\nimport pytest\n").replace(
        "parse\n", "each, parse\n", 1
    )
    write(project, {"versions.py": CODE + CAUGHT, "tests/test_versions.py": tests + CALLBACKS})
    commit(project)
    write(project, {"versions.py": [("{self.patch}", "{self.patch % 3}")]})
    broken = {
        each.id.rpartition("_")[2]: each.why
        for each in compared(project, sandbox).changes
        if each.status == "broken"
    }
    caught = "it fails now: an assertion of it fails in a call by the code, which catches the error"
    names = ("assert", "fail", "unittest", "refuses")
    assert {name: broken.get(name) for name in names} == dict.fromkeys(names, caught)


@pytest.mark.thorough
def test_an_error_that_is_raised_in_place_of_a_new_object_is_an_answer(project: Path, sandbox: Sandbox) -> None:
    code = "class Even(int):\n    def __new__(cls, value):\n        if value % 2:\n            raise ValueError(value)\n        return super().__new__(cls, value)\n"
    tests = "import pytest\n\nfrom even import Even\n\n\ndef test_even():\n    assert Even(2) == 2\n\n\ndef test_odd():\n    with pytest.raises(ValueError):\n        Even(3)\n"
    base: Edits = {"even.py": code, "tests/test_even.py": tests}
    found = statuses_after(
        project, sandbox, base, {"tests/test_even.py": tests.replace("ValueError", "Exception")}
    )
    assert found["tests/test_even.py::test_odd"] == "weaker"


@pytest.mark.thorough
def test_the_text_of_an_error_and_what_an_object_holds_are_answers(project: Path, sandbox: Sandbox) -> None:
    code = "class Account:\n    def __init__(self):\n        self.items = []\n\n    def add(self, item):\n        if not item:\n            raise ValueError('no item')\n        self.items.append(item)\n"
    tests = "import pytest\n\nfrom account import Account\n\n\ndef test_add():\n    account = Account()\n    assert account.add('a') is None\n    assert account.items == ['a']\n\n\ndef test_none():\n    with pytest.raises(ValueError, match='no item'):\n        Account().add('')\n"
    base: Edits = {"account.py": code, "tests/test_account.py": tests}
    less: Edits = {
        "tests/test_account.py": [(", match='no item'", ""), ("    assert account.items == ['a']\n", "")]
    }
    found = statuses_after(project, sandbox, base, less)
    ruled = {name: status for name, status in found.items() if status != "kept"}
    assert ruled == {f"tests/test_account.py::{name}": "weaker" for name in ("test_add", "test_none")}


@pytest.mark.thorough
@pytest.mark.parametrize("power", [2, 0])
def test_a_table_that_answers_other_inputs_as_the_base_does_is_no_case_for_the_tests(
    power: int, project: Path, sandbox: Sandbox
) -> None:
    head = "def square(number):\n    return "
    write(project, {"squares.py": f"{head}number * number\n"})
    write(project, {"tests/test_squares.py": "from squares import square\n\n\ndef test_square():\n    assert square(7) == 49\n"})  # fmt: skip
    commit(project)
    table = {each: 49 * each**power // 7**power for each in range(30)}
    write(project, {"squares.py": f"{head}{table}[number]\n"})
    assert bool(compared(project, sandbox).tampering) == (power == 0)


@pytest.mark.parametrize(("check", "status"), [(' == "3.5.0"', "kept"), ("", "gone")])
def test_a_new_test_that_asks_what_one_that_is_gone_did_stands_for_it(
    check: str, status: str, project: Path, sandbox: Sandbox
) -> None:
    weakened = [
        (f"def test_bump():\n    {EXPECTED}\n", ""),
        ('def test_too_few():\n    with pytest.raises(ValueError):\n        parse("1.2")\n', ""),
    ]
    moved = f"from test_versions import bumped\n\n\ndef test_minor():\n    text = bumped('3.4.5')\n    assert text{check}\n"
    write(project, {"tests/test_versions.py": weakened, "tests/test_bump.py": moved})
    found = {each.id: each.status for each in compared(project, sandbox).changes}
    assert found["tests/test_versions.py::test_too_few"] == "gone", "changes of parse say nothing of others then"
    assert found["tests/test_versions.py::test_bump"] == status


def test_where_tests_alone_differ_only_what_those_noticed_is_tried(project: Path, sandbox: Sandbox) -> None:
    moved = [(f"def test_bump():\n    {EXPECTED}\n", "")]
    write(
        project,
        {
            "tests/test_versions.py": moved,
            "tests/test_bump.py": f"from test_versions import bumped\n\n\ndef test_minor():\n    {EXPECTED}\n",
        },
    )
    report = compared(project, sandbox)
    assert report.passed, sentences(report)
    assert report.mutation.made == report.mutation.tried == report.mutation.noticed > 0
    write(project, {"versions.py": [("STEP, 0)", "STEP, 0 * 1)")]})
    assert compared(project, sandbox).mutation.made > report.mutation.made


@pytest.mark.thorough
def test_what_a_new_test_leaves_behind_hides_no_change_from_an_old_one(project: Path, sandbox: Sandbox) -> None:
    made = "KNOWN = {}\n\n\ndef made(name):\n    if name not in KNOWN:\n        item = [name]\n        KNOWN[name] = item\n        return item\n    return KNOWN[name]\n"
    slow = "import time\nfrom made import made\n\n\ndef test_made():\n    time.sleep(0.1)\n    assert made('a') == ['a']\n"
    write(project, {"made.py": made, "tests/test_made.py": slow})
    commit(project)
    quick = "\n\ndef test_twice():\n    made('a')\n    assert made('a') == ['a']\n"
    write(project, {"tests/test_made.py": slow + quick})
    report = compared(project, sandbox)
    assert report.passed, sentences(report)
    assert not any(each.noticed_before for each in report.mutation.survivors)


@pytest.mark.thorough
def test_a_base_whose_tests_take_too_long_to_be_found_asks_for_more_time(project: Path, sandbox: Sandbox) -> None:
    write(project, {"tests/test_slow.py": "import time\n\ntime.sleep(60)\n\n\ndef test_slow():\n    pass\n"})
    commit(project)
    write(project, {"tests/test_slow.py": [("time.sleep(60)", "")]})
    with pytest.raises(UsageError, match=r"not found in time; it was importing .*; give more"):
        Comparison(project, [], sandbox, 12.0).report_since("main")


@pytest.mark.thorough
def test_what_a_text_of_an_object_could_do_to_it_is_no_answer(project: Path, sandbox: Sandbox) -> None:
    code = "class Many:\n    def __init__(self, values):\n        self.values = values\n\n    def __repr__(self):\n        return repr(self.values)\n"
    tests = "from many import Many\n\n\ndef test_repr():\n    many = Many([1])\n    assert repr(many) == repr(many.values)\n"
    base: Edits = {"many.py": code, "tests/test_many.py": tests}
    stated: Edits = {"tests/test_many.py": tests.replace("repr(many.values)", "'[1]'")}
    found = statuses_after(project, sandbox, base, stated)
    assert found["tests/test_many.py::test_repr"] == "kept"
