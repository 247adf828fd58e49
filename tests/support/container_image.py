"""An image for the sandbox `container`, of this machine's own files: no registry is asked.

podman keeps it, and all that the tests do with it, in a folder of its own below the temporary directory.
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from agents.errors import SandboxUnavailable
from agents.sandbox.container.engine import IMAGE, find_engine

_PLACE = Path(tempfile.gettempdir(), f"greenloop-test-containers-{os.geteuid()}")
_PACKAGES = (
    "pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "hypothesis",
    "sortedcontainers",
    "coverage",
)
_LEFT_OUT = re.compile(r"\.a$|/(site-packages|test|idlelib|tkinter|share|ensurepip)(/|$)")
# runc: crun asks for cgroups that a container in a virtual machine may lack.
_CONTAINERS = """[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
"""


@cache
def prepare_image() -> None:
    """Have podman, which this process and its children will find, hold the image. Raises SandboxUnavailable."""
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable("the image is made of Linux programs")
    _PLACE.mkdir(exist_ok=True)
    (_PLACE / "containers.conf").write_text(_CONTAINERS)
    storage = {"CONTAINERS_CONF": "containers.conf", "CONTAINERS_STORAGE_CONF": "storage.conf"}
    driver = _podman("info", "--format", "{{.Store.GraphDriverName}}").stdout.strip()
    (_PLACE / "storage.conf").write_text(
        f'[storage]\ndriver = "{driver}"\ngraphroot = "{_PLACE}/images"\nrunroot = "{_PLACE}/run"\n'
    )
    os.environ.update({name: str(_PLACE / file) for name, file in storage.items()})
    with (_PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be at it
        try:
            find_engine({"GREENLOOP_CONTAINER": "podman"}, image=IMAGE)
        except SandboxUnavailable as error:
            if "has no image" not in str(error):
                raise
            with tempfile.NamedTemporaryFile(suffix=".tar") as file:
                write_root(Path(file.name))
                _podman("import", file.name, IMAGE)


def _podman(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [find_engine({"GREENLOOP_CONTAINER": "podman"}).program, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        raise SandboxUnavailable(f"podman can't: {done.stderr.strip()[-300:]}")
    return done


def write_root(path: Path) -> None:
    """Write a root directory with this Python and pytest to the tar archive `path`."""
    prefix = Path(sys.base_prefix).resolve()
    program = Path(sys.executable).resolve()
    libraries = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}"
    with tarfile.open(path, "w") as archive:
        for name in ("proc", "dev", "sys", "etc", "run", "tmp"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            archive.addfile(folder)
        archive.add(prefix / libraries, f"usr/local/{libraries}", filter=_kept)
        archive.add(program, "usr/local/bin/python3")
        archive.add(Path("/bin/echo").resolve(), "bin/echo")
        extensions = [str(each) for each in (prefix / libraries / "lib-dynload").glob("*.so")]
        for package in _PACKAGES:
            for file in distribution(package).files or ():
                if file.suffix == ".so":
                    extensions.append(str(file.locate()))
                if ".." not in file.parts and Path(str(file.locate())).exists():
                    archive.add(str(file.locate()), f"usr/local/{libraries}/site-packages/{file}", filter=_owned)
        linked = subprocess.run(
            ["ldd", str(program), *extensions], capture_output=True, text=True, check=False
        ).stdout
        for found in sorted(set(re.findall(r"(/\S+\.so\S*)(?= \()", linked))):
            # The loader has its path in every program; everything else is found in its standard folder.
            place = found.lstrip("/") if "ld-linux" in found else f"usr/lib/{Path(found).name}"
            content = Path(found).resolve().read_bytes()
            entry = tarfile.TarInfo(place)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if _LEFT_OUT.search(f"/{entry.name}") else _owned(entry)


def _owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    return entry
