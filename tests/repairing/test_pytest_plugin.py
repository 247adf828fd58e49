"""The pytest plugin, in pytest processes of their own."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time

import pytest

from ..support.commands import ROOT, environment, greenloop
from ..support.heals import Heals

pytestmark = pytest.mark.thorough
CODE = "def price(text):\n    return float(text)\n\n\ndef other(x):\n    return x\n"
FIX = 'def price(text):\n    return float(text.replace("$", ""))\n'
TESTS = (
    "import pytest\nfrom prices import other, price\n\n\n@pytest.mark.parametrize('text', ['$1', '$2'])\n"
    "def test_price(text):\n    assert price(text) == int(text[1])\n\n\n"
    "def test_other():\n    assert other(1) == 1\n"
)


@pytest.fixture
def project(heals: Heals) -> Heals:
    heals.script(CODE, "prices.py")
    heals.script(TESTS, "tests/test_prices.py")
    heals.script("[tool.pytest.ini_options]\npythonpath = ['.']\n", "pyproject.toml")
    heals.replies(FIX)
    return heals


def ran(
    project: Heals, *arguments: str, plugin: bool = True, interrupted: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run pytest in the project; `interrupted` sends SIGINT once a model is asked."""
    extra = {
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "k",
        "GREENLOOP_MODEL": "openai/tiny-1b",
        "GREENLOOP_API_BASE": project.provider.api_base,
    }
    with_plugin = ["-p", "no:greenloop", "-p", "agents.repairing.pytest_plugin"] if plugin else []
    command = [sys.executable, "-m", "pytest", *with_plugin, *arguments]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        env=environment(project.folder, extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        if interrupted and project.provider.waits_for_requests(1, 60):
            process.send_signal(signal.SIGINT)
        out, error = process.communicate()
    ended = subprocess.CompletedProcess(command, process.returncode, out, error)
    assert "INTERNALERROR" not in ended.stdout + ended.stderr, ended.stdout
    return ended


def test_patches_are_shown_and_nothing_changes(project: Heals) -> None:
    ended = ran(project, "--heal")
    assert ended.returncode == 1
    assert ended.stdout.count("= heal =") == 1
    assert "healed, verified" in ended.stdout
    assert '+    return float(text.replace("$", ""))' in ended.stdout
    assert (project.folder / "prices.py").read_text() == CODE


def test_it_heals_where_pytest_rewrites_its_own_modules(project: Heals) -> None:
    project.script("import pytest\npytest.register_assert_rewrite('agents')\n", "conftest.py")  # as if installed
    assert "healed, verified" in ran(project, "--heal").stdout


def test_nothing_of_a_project_is_shown_raw(project: Heals) -> None:
    project.script(f"# \x1b[2J \u202e \x0b\n{CODE}", "prices.py")
    shown = ran(project, "--heal").stdout
    assert " # \\x1b[2J \\u202e \\x0b\n" in shown
    assert "\x1b" not in shown


def test_a_dotenv_file_of_the_project_sets_nothing_and_is_named(project: Heals) -> None:
    lines = ("GREENLOOP_MAX_SECONDS=0.001", "GREENLOOP_SANDBOX=none", "GROQ_API_KEY=k")
    (project.folder / ".env").write_text("\n".join(lines))
    ended = ran(project, "--heal")
    assert "healed, verified" in ended.stdout
    said = "nothing is taken here; ignored, unless you set it in the environment or by an option: "
    assert f"{said}GREENLOOP_MAX_SECONDS, GREENLOOP_SANDBOX, GROQ_API_KEY." in ended.stdout


def test_patches_are_written_and_pytest_passes_the_next_time(project: Heals) -> None:
    ended = ran(project, "--heal-apply")
    assert ended.returncode == 1
    assert (project.folder / "prices.py.heal-backup").read_text() == CODE
    assert ran(project).returncode == 0
    (run,) = re.findall(r"^Written: .*; undo: heal --undo (.*)", ended.stdout, re.MULTILINE)
    assert greenloop(project.folder, "heal", "--undo", *shlex.split(run)).returncode == 0
    assert (project.folder / "prices.py").read_text() == CODE


@pytest.mark.parametrize(
    ("arguments", "code", "sections"),
    [
        (["--heal", "-n", "2"], 1, 1),
        (["--heal", "-x", "-q", "--strict-markers", "-W", "error"], 1, 1),
        (["--heal", "--co"], 0, 0),
        (["--heal", "-p", "no:terminal"], 1, 0),
        (["--heal", "-k", "other"], 0, 0),
        (["--heal", "--heal-most", "0"], 1, 1),
        (["--heal", "--heal-most", "-1"], 4, 0),
        ([], 1, 0),
    ],
)
def test_the_exit_status_stays_pytests(project: Heals, arguments: list[str], code: int, sections: int) -> None:
    ended = ran(project, *arguments)
    assert ended.returncode == code, ended.stdout
    assert ended.stdout.count("= heal =") == sections
    assert (project.requests != []) == (sections == 1 and "0" not in arguments)


def test_a_model_that_cannot_be_reached_is_one_line(project: Heals) -> None:
    project.provider.shutdown()
    project.provider.server_close()
    ended = ran(project, "--heal")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stdout.partition("= heal =")[2]


def test_a_question_says_where_it_is_answered(project: Heals) -> None:
    project.script(TESTS.replace("['$1', '$2']", "['$1']"), "tests/test_prices.py")
    shown = ran(project, "--heal").stdout.splitlines()
    at = next(number for number, line in enumerate(shown) if line.startswith("Open: "))
    assert shown[at + 1].startswith(
        f"To answer, and to write the patch: heal --resume '{project.folder}/work_dir/runs/"
    )


def test_ctrl_c_ends_all_heals(project: Heals) -> None:
    project.script(TESTS + "\n\ndef test_wrong():\n    assert other(1) == 2\n", "tests/test_prices.py")
    project.answers(lambda handler: time.sleep(5))
    ended = ran(project, "--heal", interrupted=True)
    assert (ended.returncode, len(project.requests)) == (1, 1)
    assert "Interrupted; go on with heal --resume" in ended.stdout
    assert "= heal =" in ended.stdout
    assert "test_prices.py::test_wrong\n" not in ended.stdout.partition("= heal =")[2].partition("short test")[0]


def test_a_marker_names_the_function(project: Heals) -> None:
    marked = TESTS.replace("@pytest.mark.param", "@pytest.mark.heal(target='prices.price')\n@pytest.mark.param")
    project.script(marked, "tests/test_prices.py")
    assert "healed, verified" in ran(project, "--heal").stdout
    project.script(CODE, "../elsewhere.py")
    for other in ("nowhere", f"{project.folder.parent}/elsewhere"):
        project.script(marked.replace("prices.price'", f"{other}.price'"), "tests/test_prices.py")
        assert "is in no file" in ran(project, "--heal").stdout


def test_without_an_option_nothing_of_greenloop_is_imported() -> None:
    code = (
        "import sys, pytest; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); "
        "import agents.repairing.pytest_plugin; print(*sorted(set(sys.modules) - before))"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, check=True)
    assert {name for name in ended.stdout.split() if name.startswith("agents")} == {
        "agents",
        "agents.repairing",
        "agents.repairing.pytest_plugin",
    }
