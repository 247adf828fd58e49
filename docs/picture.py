"""Draws docs/run.svg from a real run: `python docs/picture.py [ARGUMENTS OF main.py]`.

The command runs in a terminal of its own; what it prints there, line by line, is drawn as it is.
"""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
SPEC = (
    "Implement quicksort(arr: list[int]) -> list[int] that returns a new sorted list. "
    "Do not use Python's built-in sort."
)


def run_in_terminal(command: list[str]) -> str:
    """Run `command` in a pseudo-terminal of 110 columns; everything it printed."""
    printed = bytearray()

    def read(descriptor: int) -> bytes:
        piece = os.read(descriptor, 4096)
        printed.extend(piece)
        return piece

    os.environ.update(CI="true", COLUMNS="110", TERM="xterm-256color", COLORTERM="truecolor")
    os.environ.pop("NO_COLOR", None)
    pty.spawn(command, read)
    return printed.decode("utf-8", "replace").replace("\r\n", "\n")


def main() -> None:
    """Run, draw, write."""
    arguments = sys.argv[1:] or [SPEC]
    os.chdir(ROOT)
    printed = run_in_terminal([sys.executable, "main.py", *arguments])
    console = Console(record=True, width=110, file=open(os.devnull, "w"), force_terminal=True)  # noqa: PTH123, SIM115
    typed = " ".join(f'"{word}"' if " " in word else word for word in arguments)
    console.print(Text(f"$ python main.py {typed}", style="bold"))
    console.print(Text.from_ansi(printed))
    console.save_svg(str(ROOT / "docs" / "run.svg"), title="greenloop")


if __name__ == "__main__":
    main()
