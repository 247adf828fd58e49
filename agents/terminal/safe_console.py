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
        """Yield the cleaned pieces of `renderable`; rich's own control codes stay. In CI yield all of it as one
        piece without styles: a command may stand in several."""
        pieces = super().render(renderable, options)
        if in_ci():
            yield Segment(for_log(clean("".join(text for text, _, control in pieces if not control))))
            return
        for text, style, control in pieces:
            yield Segment(text if control else clean(text), style, control)


def source_text(source: str, language: str = "python") -> Text:
    """Return `source` highlighted: wrapped on a terminal, complete in a pipe, where rich's Syntax is cropped."""
    from rich.syntax import Syntax

    text = clean(source)
    highlighted = Syntax(text, language, background_color="default").highlight(text)
    highlighted.rstrip()
    return highlighted
