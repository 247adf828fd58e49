"""A module with the layout of its text: positions and indentation of statements."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain

from .definitions import first_line
from .source import lines_in_strings, parse

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line as Python counts them, with its end: a form feed ends none."""
_SPACE = re.compile(r"[ \t\f]*")
_OF_THE_FILE = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")


class LaidOut:
    """The module `text`: its lines with their ends, the offset of each, and its tree. Raises ValueError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)
        place = len(text) - len(text.removeprefix("\ufeff"))
        self.lines: list[str] = LINE.findall(text, place)
        *self.starts, self.end = accumulate(map(len, self.lines), initial=place)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and a column as the parser counts them, in bytes of UTF-8."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def line_end(self, line: int | None) -> int:
        """Return the offset of the end of a line, before its line end."""
        assert line is not None
        return self.starts[line - 1] + len(self.lines[line - 1].rstrip("\r\n"))

    def newline(self, line: int) -> str:
        """Return the line end of a line; for one without, that of the line before."""
        for text in reversed(self.lines[:line]):
            if text.endswith(("\r", "\n")):
                return text[len(text.rstrip("\r\n")) :]
        return "\n"

    def start(self, node: ast.stmt) -> int:
        """Return the offset of a statement, its decorators included."""
        line = first_line(node)
        if line == node.lineno:
            return self.offset(line, node.col_offset)
        while not (text := self.lines[line - 1]).lstrip().startswith("@"):  # `@(` may be on its own line
            line -= 1
        return self.starts[line - 1] + text.index("@")

    def first(self, node: ast.stmt) -> int:
        """Return the number of the line that a statement begins on, its decorators included."""
        return self.line_of(self.start(node))

    def line_of(self, offset: int) -> int:
        """Return the number of the line, from 1, at an offset."""
        return bisect_right(self.starts, offset)

    def lead(self, node: ast.stmt) -> str | None:
        """Return the white space before a statement; None where other code precedes it on its line."""
        before = self.text[self.starts[self.first(node) - 1] : self.start(node)]
        return before if _SPACE.fullmatch(before) else None

    def top(self, node: ast.stmt) -> int:
        """Return the number of the first line of a statement, with the comments right above it."""
        line = self.first(node)
        lead = self.lead(node)
        while line > 1 and lead is not None and self.lines[line - 2].startswith(f"{lead}#"):
            line -= 1
        return line

    def head(self) -> int:
        """Return the number of the line where imports may begin: after first comments that a blank line ends, else
        after a shebang and an encoding. A comment right above the first statement belongs to that."""
        line = 1
        while line <= len(self.lines) and self.lines[line - 1].startswith("#"):
            line += 1
        if line <= len(self.lines) and not self.lines[line - 1].strip():
            return line + 1 if line > 1 and line < len(self.lines) else line
        line = 1
        while line <= min(2, len(self.lines)) and _OF_THE_FILE.match(self.lines[line - 1]):
            line += 1
        return line

    def edited(self, edits: Iterable[tuple[int, int, str]]) -> str:
        """Return the text with each edit (start offset, end offset, new text) applied."""
        pieces, place = [], 0
        for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
            assert place <= start, "edits overlap"
            pieces += [self.text[place:start], new]
            place = end
        return "".join([*pieces, self.text[place:]])

    def unit(self, near: ast.stmt | None) -> str:
        """Return the white space of one level of indentation: in `near` where that has any, else in the module."""
        for scope in (near, self.tree):
            for node in ast.walk(scope) if scope else ():
                body = getattr(node, "body", None)
                if not isinstance(node, ast.stmt) or not isinstance(body, list):
                    continue
                outer, inner = self.lead(node), self.lead(body[0])
                if outer is not None and inner is not None and inner != outer and inner.startswith(outer):
                    return inner.removeprefix(outer)
        return "    "

    def statement(self, node: ast.stmt, unit: str, base: str | None, *, comments: bool = False) -> str:
        """Return the text of a statement, indented by `unit` below `base` (the first line without `base`); with
        the `comments` right above it. The inside of strings is unchanged."""
        first = self.first(node)
        top = self.top(node) if comments else first
        last = node.end_lineno or node.lineno
        end = self.offset(last, node.end_col_offset or 0)
        start = self.starts[top - 1] + len(self.lead(node) or "") if top < first else self.start(node)
        levels = self._levels(node, first)
        inside = lines_in_strings(self.tree)
        lines = self.text[start:end].split("\n")
        level = ("", 0)
        for number in range(last, top, -1):
            line = lines[number - top]
            if number in inside or not line.strip():
                continue
            # A comment is indented like the line after it.
            if not line.lstrip().startswith("#") or not line.startswith(level[0]):
                level = levels.get(number, (self.lead(node) or "", 0))
            lead, depth = level
            if line.startswith(lead):
                lines[number - top] = (base or "") + unit * depth + line.removeprefix(lead)
        return "\n".join(lines)

    def _levels(self, node: ast.stmt, first: int) -> dict[int, tuple[str, int]]:
        """Return for each line of a statement the indentation of its block, and the block's depth."""
        levels = dict.fromkeys(range(first, (node.end_lineno or first) + 1), (self.lead(node) or "", 0))
        pending = [(node, 0)]
        while pending:
            outer, depth = pending.pop()
            for inner in chain.from_iterable(blocks(outer)):
                lead = self.lead(inner)
                if lead is None:
                    continue
                begin = self.first(inner)
                chained = isinstance(inner, ast.If) and self.text.startswith("elif", self.start(inner))
                below = depth if chained else depth + 1
                levels.update(dict.fromkeys(range(begin, (inner.end_lineno or begin) + 1), (lead, below)))
                pending.append((inner, below))
        return levels


def blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    """Yield the blocks directly in a statement: its body, branches, handlers and cases."""
    for inner in [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(inner, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block
