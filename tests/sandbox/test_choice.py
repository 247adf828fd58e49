from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agents.errors import SandboxBroken, SandboxUnavailable
from agents.sandbox import Job, Running, Sandbox, open_sandbox
from agents.sandbox.choice import choose, names, probe, probed, remedy
from agents.sandbox.conformance import Bare

from ..support.sandboxes import ISOLATING, BackendName, open_or_skip

ROOT = Path(__file__).parents[2]
WITHOUT_UNIX = """
import shutil  # Python 3.13's imports a module of Windows there
import sys
sys.platform = sys.argv[1]
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
from agents.errors import SandboxUnavailable
from agents.syntax.clean_text import clean
from agents.sandbox import Ended, Job, SandboxLimits, open_sandbox
clean("text"), SandboxLimits(), Job([])
try:
    open_sandbox()
except SandboxUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize(("system", "install"), [("darwin", "brew install podman"), ("win32", "Podman Desktop")])
def test_other_systems_can_import_and_say_what_to_install(system: str, install: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_UNIX, system],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert install in done.stdout
    assert "python main.py sandbox build" in done.stdout
    assert done.stdout.count("\n") == 1


def test_each_system_has_its_backends() -> None:
    assert names("auto", "linux") == ("bubblewrap", "native", "container")
    assert names("container", "linux") == names("auto", "darwin") == names("container", "win32") == ("container",)
    for name in ("bubblewrap", "native", "none"):
        with pytest.raises(SandboxUnavailable, match="works on Linux only, and this is macOS: use `container`"):
            names(name, "darwin")


@pytest.mark.parametrize("name", ISOLATING)
def test_a_working_backend_passes_the_probe(name: BackendName) -> None:
    with closing(open_or_skip(name)) as sandbox:
        assert probe(sandbox) is None


def test_a_backend_that_lets_the_probe_out_is_not_used() -> None:
    reason = probe(Bare())
    assert reason is not None
    assert "reach" in reason


class Opened(Sandbox):
    """A sandbox that counts how often it is closed, and breaks, or lets the probe out."""

    name = "none"

    def __init__(self, breaks: bool) -> None:
        self._bare = Bare()
        self._breaks = breaks
        self.interpreter = self._bare.interpreter
        self.closed = 0

    def launch(self, job: Job) -> Running:
        if self._breaks:
            raise SandboxBroken("It is gone.")
        return self._bare.launch(job)

    def close(self) -> None:
        self.closed += 1


def test_a_sandbox_that_fails_the_probe_is_closed() -> None:
    out, broken = Opened(breaks=False), Opened(breaks=True)
    assert isinstance(probed(out), str)
    with pytest.raises(SandboxBroken):
        probed(broken)
    assert (out.closed, broken.closed) == (1, 1)


def test_the_first_backend_without_a_reason_against_it_is_chosen() -> None:
    bare = Bare()
    assert choose(("broken", "good"), lambda name: "it is broken" if name == "broken" else bare) is bare


def test_without_a_backend_the_refusal_gives_every_reason_and_a_remedy() -> None:
    with pytest.raises(SandboxUnavailable) as refused:
        choose(("one", "two"), lambda name: f"{name} is broken.")
    assert "one: one is broken; two: two is broken" in str(refused.value)
    assert str(refused.value).endswith(remedy())
    assert refused.value.exit_code == 4


def test_automatic_choice_never_falls_back_to_no_sandbox() -> None:
    try:
        assert open_sandbox().name in ("bubblewrap", "native")
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("file", "content", "advice"),
    [
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "AppArmor"),
        ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0\n", "max_user_namespaces"),
        (".dockerenv", "", "container"),
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n", "apt install bubblewrap"),
    ],
)
def test_the_remedy_fits_the_machine(tmp_path: Path, file: str, content: str, advice: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    assert advice in remedy(tmp_path)


def test_a_python_that_was_started_by_a_relative_path_is_no_other_one(tmp_path: Path) -> None:
    code = (
        "from agents.sandbox import open_sandbox\n"
        "from agents.sandbox.packages import open_interpreter\n"
        "try: open_sandbox('container', open_interpreter(None))\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run(
        [os.path.relpath(sys.executable, tmp_path), "-c", code],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert "there is no container engine" in done.stdout, done.stderr
