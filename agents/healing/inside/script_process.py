"""Runs a script in a copy of its folder and reports to the host: `python -I inside/script_process.py DESCRIPTOR`.

`task.json` and `tree.tar` lie in the folder above. The script's process has no access to the descriptor; its exit
code and the files that it wrote are read after its end.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_START = (
    "import sys; sys.path[0] = sys.argv.pop(1); from inside.lending import lend; lend(sys.argv.pop(1)); "
    "from inside.script_main import main; main()"
)
_MOST_REPORT = 4 << 20  # bytes
_MOST_FILE = 32 << 20  # bytes
_MOST_FILES = 10_000


def main() -> None:
    """Run the script of the task once and write one JSON document to the descriptor."""
    here = Path(__file__).resolve().parents[1]
    channel = socket.socket(fileno=int(sys.argv[1]))
    task = json.loads((here / "task.json").read_text(encoding="utf-8"))
    tree, home = Path.cwd() / "case", Path.cwd() / "home"
    tree.mkdir()
    home.mkdir()
    with tarfile.open(str(here / "tree.tar")) as archive:
        archive.extraction_filter = lambda member, _: member  # a trusted archive; without it 3.12 and 3.13 warn
        archive.extractall(tree)
    inherited = {name: value for name, value in os.environ.items() if name != "PWD"}
    environment = {**inherited, "HOME": str(home), "PYTHONHASHSEED": str(task["seed"]), **task["environment"]}
    with tempfile.TemporaryFile() as report:
        given = [task[name] for name in ("script", "called", "arguments", "asked", "traced")]
        told_to = [report.fileno(), str(tree), *given]
        start = [sys.executable, "-B", "-c", _START, str(here), task["lent"], json.dumps(told_to)]
        process = subprocess.Popen(start, cwd=str(tree), env=environment, pass_fds=[report.fileno()])
        code = process.wait()
        report.seek(0)
        told = report.read(_MOST_REPORT)
    document = {
        "exit_code": code,
        "report": base64.b64encode(told).decode(),
        "files": _digests(tree),
        "contents": {path: _content(tree / path) for path in task["wanted"]},
    }
    channel.sendall(json.dumps(document).encode())


def _digests(tree: Path) -> dict[str, str]:
    """Return the SHA-256 of each file below `tree` by its path there, or the target of a link."""
    found: dict[str, str] = {}
    for folder, folders, names in os.walk(str(tree)):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = Path(folder, name)
            if len(found) < _MOST_FILES:
                found[path.relative_to(tree).as_posix()] = _digest(path)
    return found


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return "-> " + str(path.readlink())
        if not path.is_file():
            return "no file"
        digest = hashlib.sha256()
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
        return digest.hexdigest()
    except OSError as error:
        return "can't be read: " + str(error.strerror)


def _content(path: Path) -> Any:
    """Return the first 32 MiB of a file in base64; None where there is none."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        return base64.b64encode(file.read(_MOST_FILE)).decode()


if __name__ == "__main__":
    main()
