"""Source code as it is printed."""

from __future__ import annotations

from rich.syntax import Syntax
from rich.text import Text

from ..syntax.clean_text import clean


def source_text(source: str, language: str = "python") -> Text:
    """Return `source` with its colors: wrapped at a terminal, whole in a pipe, where rich's Syntax is cropped."""
    text = clean(source)
    highlighted = Syntax(text, language, background_color="default").highlight(text)
    highlighted.rstrip()
    return highlighted
