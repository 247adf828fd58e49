"""The layout of `--help`: two columns of plain text. Cyclopts' own panels take 0.1 s longer to draw."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from cyclopts.help.formatters.plain import PlainFormatter

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

LABEL_WIDTH = 26
WIDEST = 110


class ColumnFormatter(PlainFormatter):
    """Labels on the left, descriptions on the right; a label that is too long stands on a line of its own."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print one panel."""
        if not panel.entries:
            return
        lines = [f"{panel.title}:"]
        for entry in panel.entries:
            lines += self._entry(entry, min(console.width, WIDEST))
        console.print("\n".join(lines), "\n", highlight=False, markup=False, soft_wrap=True, sep="\n", end="")

    def _entry(self, entry: HelpEntry, width: int) -> list[str]:
        labels = entry.display_labels_with_metavar if entry.metavar else entry.display_labels
        label = f"  {', '.join(labels)}"
        described = textwrap.wrap(_description(entry), max(20, width - LABEL_WIDTH)) or [""]
        indented = [" " * LABEL_WIDTH + line for line in described]
        if len(label) + 1 < LABEL_WIDTH:
            return [label.ljust(LABEL_WIDTH) + described[0], *indented[1:]]
        return [label, *indented]


def _description(entry: HelpEntry) -> str:
    source = getattr(entry.description, "primary_renderable", entry.description)
    text = str(getattr(source, "plain", source) or "").strip()
    facts = []
    if entry.choices:
        facts.append(f"one of {', '.join(entry.choices)}")
    if entry.default and entry.default != "False":
        facts.append(f"default {entry.default}")
    if entry.env_var:
        facts.append(", ".join(entry.env_var))
    return f"{text} [{'; '.join(facts)}]" if facts else text
