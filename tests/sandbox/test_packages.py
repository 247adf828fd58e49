from __future__ import annotations

import ast
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import agents
from agents.errors import UsageError
from agents.sandbox import Job, Sandbox, open_sandbox
from agents.sandbox.container.told import read_description
from agents.sandbox.interpreter import OLDEST, other_interpreter, this_interpreter
from agents.sandbox.packages import find_packages, open_interpreter, with_pytest

from ..support.interpreters import with_packages
from ..support.sandboxes import open_or_skip

INSIDE = [
    *Path(agents.__path__[0]).glob("sandbox/inside/*.py"),
    *Path(agents.__path__[0]).glob("verifier/inside/**/*.py"),
    Path(agents.__path__[0], "strength", "under_coverage.py"),
]


@pytest.mark.parametrize("path", INSIDE, ids=lambda path: str(path.relative_to(agents.__path__[0])))
def test_what_runs_inside_is_syntax_of_the_oldest_python(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST)


@pytest.mark.parametrize("path", INSIDE, ids=lambda path: str(path.relative_to(agents.__path__[0])))
def test_what_runs_inside_joins_no_type_with_none_at_run_time(path: Path) -> None:
    """Python 3.9 has no `float | None` but in annotations, which are not evaluated here."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    parts = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    read = {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    unions = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)]
    sides = [(ast.unparse(node.left), ast.unparse(node.right)) for node in unions if id(node) not in read]
    assert not [pair for pair in sides if "None" in pair]


def test_a_package_is_found_with_its_version_and_the_names_it_is_imported_by() -> None:
    pyyaml, pytest_ = find_packages(["PyYAML>=5", "pytest"], this_interpreter())
    assert (pyyaml.name, pyyaml.imports) == ("PyYAML", ("_yaml", "yaml"))
    assert pytest_.version == pytest.__version__
    assert "pluggy" in pytest_.needs


@pytest.mark.parametrize(
    ("requirements", "said"),
    [
        (["no-such-package>=2"], "no-such-package>=2 is not installed in {python}; install what is missing: "
         "{python} -m pip install 'no-such-package>=2'"),
        (["pytest>=99"], "pytest>=99 is wanted and .* is installed in {python}; .* -m pip install 'pytest>=99'"),
        (["no_such", "pytest", "nor-this"], "{python} -m pip install no_such nor-this"),
        (["two words"], "`two words` names no package"),
        (["x @ https://example.org/x.whl"], "names a place"),
        (["pytest", "json"], "json comes with Python and is no package; leave it out."),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_with_the_command_that_installs_it(requirements: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said.format(python=re.escape(sys.executable))):
        find_packages(requirements, this_interpreter())


@pytest.mark.parametrize("need", ["beta @ https://example.org/beta.whl", "pytz (>dev)"])
def test_a_package_may_need_what_no_user_may_name(tmp_path: Path, need: str) -> None:
    (tmp_path / "alpha-1.dist-info").mkdir()
    metadata = f"Metadata-Version: 2.1\nName: alpha\nVersion: 1\nRequires-Dist: {need}\n"
    (tmp_path / "alpha-1.dist-info" / "METADATA").write_text(metadata)
    [alpha] = find_packages(["alpha"], replace(this_interpreter(), path=(str(tmp_path),)))
    assert (alpha.version, alpha.needs) == ("1", ())


def test_what_extras_of_a_package_need_is_found_where_it_is_also_needed_without_them(tmp_path: Path) -> None:
    needs = {"two": ['four; extra == "more"'], "three": ["two[more]"], "four": []}
    for order in (["two", "three"], ["three", "two"]):
        for name, required in {"one": order, **needs}.items():
            folder = tmp_path / f"{name}-1.dist-info"
            folder.mkdir(exist_ok=True)
            lines = [f"Name: {name}", "Version: 1", *(f"Requires-Dist: {each}" for each in required)]
            (folder / "METADATA").write_text("\n".join(lines))
            (folder / "top_level.txt").write_text(name)
        [one] = find_packages(["one"], replace(this_interpreter(), path=(str(tmp_path),)))
        assert one.needs == ("four", "three", "two")


def test_the_command_that_installs_runs_nothing_else() -> None:
    wanted = "x; python_version > '$(id)'"
    with pytest.raises(UsageError) as raised:
        find_packages([wanted], replace(this_interpreter(), executable="/my own/python", path=()))
    install = str(raised.value).partition("install what is missing: ")[2]
    assert shlex.split(install) == ["/my own/python", *["-m", "pip", "install"], wanted]
    assert '"$(' not in install


def test_the_packages_of_a_container_are_those_of_its_image() -> None:
    told = {"executable": "/usr/local/bin/python3", "version": [3, 13, 1], "magic": "", "shared": True}
    python, _ = read_description({**told, "modules": [], "distributions": []})
    with pytest.raises(UsageError, match=r"python main\.py sandbox build --packages 'pandas>=2,numpy' \("):
        find_packages(["pandas>=2", "numpy"], python)


@pytest.mark.parametrize("path", ["/bin/ls", "/no/such/python"])
def test_what_is_no_python_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match=f"{path} is no Python that can be used"):
        open_interpreter(Path(path))


def test_an_unsupported_version_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    facts = '{"executable": "/x", "implementation": "cpython", "version": [3, 8, 1], "magic": "", "prefixes": []}'
    old.write_text(f"#!/bin/sh\necho '{facts}'\n")
    old.chmod(0o755)
    with pytest.raises(UsageError, match=r"is Python 3\.8\.1; give a CPython from 3\.9 to 3\.14"):
        other_interpreter(old)


def test_pytest_is_lent_where_it_runs_and_asked_for_where_it_does_not() -> None:
    without = replace(this_interpreter(), executable="/other/python", path=())
    assert any(path.endswith("/pytest") for path in with_pytest(without).lent)
    with pytest.raises(UsageError, match=r"/other/python has no pytest.*/other/python -m pip install pytest"):
        with_pytest(replace(without, version=(3, 9, 1)))


@pytest.fixture(params=["bubblewrap", "native", "none"])
def with_pandas(request: pytest.FixtureRequest) -> Sandbox:
    open_or_skip(request.param)
    return open_sandbox(request.param, with_packages("numpy", "pandas"))


def test_numpy_and_pandas_work_within_the_limits(with_pandas: Sandbox) -> None:
    code = (
        "import numpy as np, pandas as pd\n"
        "print((np.ones((200, 200)) @ np.ones((200, 200))).sum(), pd.Series([1, 2]).sum())"
    )
    with with_pandas.launch(Job(["-I", "-c", code])) as running:
        ended = running.wait()
    assert (ended.stdout, ended.exit_code) == (b"8000000.0 3\n", 0), ended.stderr
