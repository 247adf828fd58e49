"""Finding an engine and building the image; podman is played by a program of the test's."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from agents.errors import SandboxBroken, SandboxUnavailable, UsageError
from agents.sandbox import Job
from agents.sandbox.container.engine import IMAGE, build_image, find_engine
from agents.sandbox.container.sandbox import Container
from agents.verifier import Verifier

from ...support.commands import ROOT


def test_without_an_engine_or_an_image_the_refusal_has_the_command_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for system, install in (
        ("darwin", "brew install podman"),
        ("win32", "Podman Desktop"),
        ("linux", "apt install"),
    ):
        with pytest.raises(SandboxUnavailable, match=install) as refused:
            find_engine({}, system)
        assert str(refused.value).endswith("then `python main.py sandbox build`.")
    engine = tmp_path / "podman"
    engine.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Error: no such image x')\n")
    engine.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match=r"it has no image .*build it: `python main.py sandbox build`"):
        find_engine({}, image=IMAGE)
    engine.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Cannot connect to Podman.')\n")
    with pytest.raises(SandboxUnavailable, match="podman: Cannot connect to Podman"):
        find_engine({}, image=IMAGE)
    with pytest.raises(SandboxUnavailable, match="set it to podman or docker"):
        find_engine({"GREENLOOP_CONTAINER": "./podman"})


def test_an_engine_in_the_working_directory_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "podman").write_text("#!/bin/sh\n")
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="there is no container engine"):
        find_engine({})


def test_packages_of_an_image_are_requirements_and_nothing_else() -> None:
    for text in ("--index-url=http://x", "numpy; rm -rf /", "$(id)", "numpy @ http://x/numpy.whl"):
        with pytest.raises(UsageError):
            build_image([text])


def test_building_hands_the_version_and_the_packages_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "podman"
    engine.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(tmp_path / 'asked')!r}, 'w').write(repr(sys.argv[1:]))\n"
    )
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    build_image(["numpy", "pandas >= 2"])
    asked = (tmp_path / "asked").read_text()
    version = ".".join(map(str, sys.version_info[:2]))
    for part in (f"PYTHON={version}", "PACKAGES=numpy pandas>=2", IMAGE, "Containerfile"):
        assert part in asked
    assert (ROOT / "agents/sandbox/container/requirements.txt").read_text().count("--hash=sha256:") > 10


PLAYED = """
import json, struct, sys
if sys.argv[1] != "run":
    sys.exit()
def say(kind, number, payload):
    sys.stdout.buffer.write(struct.pack(">cQI", kind, number, len(payload)) + payload)
    sys.stdout.buffer.flush()
def heard():
    kind, number, length = struct.unpack(">cQI", sys.stdin.buffer.read(13))
    return kind, number, sys.stdin.buffer.read(length)
ready = {"executable": "/usr/bin/python3", "version": [3, 11, 7], "magic": "00", "shared": True, "modules": [],
         "distributions": []}
heard()
"""
HOSTILE = {
    "no frame": "sys.stdout.buffer.write(b'hello, this is no frame at all')",
    "a long frame": "sys.stdout.buffer.write(struct.pack('>cQI', b'r', 0, 2**32 - 1))",
    "no JSON": "say(b'r', 0, b'{')",
    "other JSON": "say(b'r', 0, b'[1]')",
    "another interpreter": "say(b'r', 0, json.dumps({**ready, 'version': 'x'}).encode())",
    "ready twice": "say(b'r', 0, json.dumps(ready).encode()); say(b'r', 0, b'{}')",
    "an end of other types": "say(b'r', 0, json.dumps(ready).encode()); number = heard()[1]; "
    "say(b'e', number, json.dumps({'exit_code': 1, 'stdout': 5, 'stderr': 5, 'stopped': None}).encode())",
    "deep JSON": "say(b'r', 0, json.dumps(ready).encode()); number = heard()[1]; "
    "say(b'e', number, b'[' * 200_000)",
    "its end at once": "say(b'r', 0, json.dumps(ready).encode()); sys.exit()",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_whatever_a_container_says_breaks_at_most_its_jobs(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(tmp_path, monkeypatch, f"{HOSTILE[what]}\nsys.stdin.buffer.read()")
    with pytest.raises(SandboxBroken):
        _run_a_job()


@pytest.mark.thorough
def test_the_end_of_a_job_does_not_wait_for_a_server_that_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that has the container for its own may have its server, too."""
    alone = "say(b'r', 0, json.dumps({**ready, 'shared': False}).encode())"
    play(tmp_path, monkeypatch, f"{alone}\nheard(); import time; time.sleep(60)")
    with closing(Container()) as container:
        job = container.launch(Job(["-c", ""]))
        begun = time.monotonic()
        job.kill()
        assert time.monotonic() - begun < 15
        with pytest.raises(SandboxBroken):
            job.wait(0)


def test_a_container_is_closed_where_packages_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one played passes the probe; its end is written down."""
    ended = {"exit_code": 0, "stdout": "refused\nrefused\n", "stderr": "", "stopped": None, "seconds": 0.1}
    play(
        tmp_path,
        monkeypatch,
        f"""say(b'r', 0, json.dumps(ready).encode())
said = False
while frame := sys.stdin.buffer.read(13):
    kind, number, length = struct.unpack(">cQI", frame)
    sys.stdin.buffer.read(length)
    if kind == b"l":
        say(b'e', number, json.dumps({ended!r}).encode())
open({str(tmp_path / "closed")!r}, "w")""",
    )
    with pytest.raises(UsageError, match="nowhere is not installed"):
        Verifier("container", packages=["nowhere"])
    assert (tmp_path / "closed").exists()


def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Make `program` the only engine: what `podman run` starts."""
    engine = tmp_path / "podman"
    engine.write_text(f"#!{sys.executable}\n{PLAYED}\n{program}\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def _run_a_job() -> None:
    container = Container()
    try:
        container.launch(Job(["-c", ""])).wait(5)
    finally:
        container.close()
