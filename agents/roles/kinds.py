"""Kinds of specs whose tests have their own form."""

from __future__ import annotations

import re
from typing import Literal

from ..records import Spec

Kind = Literal["function", "program", "class", "async", "async generator", "generator", "printing", "files"]
_FILES = re.compile(r"(?i)\b(?:reads?|writes?|appends?|opens?)\s+(?:\w+\s+){0,3}files?\b|\btext file\b")


def kind_of(spec: Spec) -> Kind:
    """Return the kind of `spec`, by its signature and its words."""
    if spec.program:
        return "program"
    if spec.signature is None:
        return "function"
    if spec.signature.kind == "class":
        return "class"
    header, _, returns = spec.signature.text.partition("->")
    if header.startswith("async"):
        return "async generator" if "Async" in returns else "async"
    if re.match(r"\s*(?:\w+\.)*(?:Iterator|Generator)\b", returns):
        return "generator"
    if returns.strip() == "None" and re.search(r"\bprint", spec.text):
        return "printing"
    if re.search(r"\bPath\b", header) or ("(" in header and _FILES.search(spec.text)):
        return "files"
    return "function"
