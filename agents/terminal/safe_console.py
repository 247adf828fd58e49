"""The rich console of all that is printed: text is data, and reaches a terminal without what would control it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..settings import in_ci
from ..syntax.clean_text import clean, for_log


class SafeConsole(Console):
    """Cleans every piece of text that is about to be printed, whatever drew it; interprets no markup in it, and in
    CI lets none of it be a command of the log."""

    def __init__(self, file: TextIO, *, color: bool) -> None:
        super().__init__(
            file=file, no_color=not color, highlight=False, markup=False, emoji=False, soft_wrap=not file.isatty()
        )

    def on_broken_pipe(self) -> None:
        """Go on, since a reader that is gone changes no exit code: rich would end the process, too."""
        with suppress(SystemExit):
            super().on_broken_pipe()

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the pieces of `renderable`; those that rich itself controls the terminal with stay as they are."""
        begins = ""  # a line, unless a piece before has begun it
        for text, style, control in super().render(renderable, options):
            shown = text if control else clean(text)
            if not control and in_ci():
                shown = for_log(begins + shown)[len(begins) :]
                begins = "" if shown.endswith("\n") else "_"
            yield Segment(shown, style, control)


def source_text(source: str, language: str = "python") -> Text:
    """Return `source` with its colors: wrapped at a terminal, whole in a pipe, where rich's Syntax is cropped."""
    from rich.syntax import Syntax

    text = clean(source)
    highlighted = Syntax(text, language, background_color="default").highlight(text)
    highlighted.rstrip()
    return highlighted
