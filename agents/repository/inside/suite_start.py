"""Lay out a project at its place and become its suite server:
`python -I suite_start.py COLD WARM PLACE BOX`, where COLD and WARM are descriptors.

`task.json` and `tree.tar` lie in the folder above. BOX is `/box/case`; a backend without a mount namespace
rewrites it, and the project is then laid out there instead of at PLACE.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
from pathlib import Path

START = (
    "import sys; sys.path[0] = sys.argv[1]; from inside.lending import lend; lend(sys.argv[2]); "
    "from inside.{} import main; main()"
)


def main() -> None:
    """Unpack the files and start the server with the variables of the task; never returns."""
    here = Path(__file__).resolve().parents[1]
    cold, warm, place, box = sys.argv[1:]
    task = json.loads((here / "task.json").read_text(encoding="utf-8"))
    if box != "/box/case":
        place = box
    home = Path.cwd() / "home"
    home.mkdir()
    Path(place).mkdir(parents=True, exist_ok=True)
    with tarfile.open(str(here / "tree.tar")) as archive:
        archive.extraction_filter = lambda member, _: member  # a trusted archive; without it 3.12 and 3.13 warn
        archive.extractall(place)
    os.chdir(place)
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # first the commands of packages
    environment = {**os.environ, "HOME": str(home), "PYTHONHASHSEED": "0", "PATH": commands, **task["variables"]}
    environment.pop("PWD", None)
    for descriptor in (cold, warm):
        os.set_inheritable(int(descriptor), True)
    start = [sys.executable, "-B", "-c", START.format("suite_server"), str(here), task["lent"], cold, warm, place]
    os.execve(sys.executable, start, environment)


if __name__ == "__main__":
    main()
