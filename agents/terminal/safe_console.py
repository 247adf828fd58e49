"""The rich console for all output: text is cleaned of everything that would control a terminal."""

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
    """A rich console that cleans every piece of text before printing; without markup, and in CI without workflow
    commands."""

    def __init__(self, file: TextIO, *, color: bool) -> None:
        super().__init__(
            file=file, no_color=not color, highlight=False, markup=False, emoji=False, soft_wrap=not file.isatty()
        )

    def on_broken_pipe(self) -> None:
        """Ignore a closed pipe, which changes no exit code; rich would end the process."""
        with suppress(SystemExit):
            super().on_broken_pipe()

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the cleaned pieces of `renderable`; rich's own control codes stay."""
        begins = ""  # of the current line, from earlier pieces
        for text, style, control in super().render(renderable, options):
            shown = text if control else clean(text)
            if not control and in_ci():
                shown = for_log(begins + shown)[len(begins) :]
                begins = "" if shown.endswith("\n") else "_"
            yield Segment(shown, style, control)


def source_text(source: str, language: str = "python") -> Text:
    """Return `source` highlighted: wrapped on a terminal, complete in a pipe, where rich's Syntax is cropped."""
    from rich.syntax import Syntax

    text = clean(source)
    highlighted = Syntax(text, language, background_color="default").highlight(text)
    highlighted.rstrip()
    return highlighted
