"""Code blocks of a model's reply, fenced or bare, without the thinking around them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..syntax.source import parses

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)")
_THOUGHT = "(?:think|thinking|thought|reasoning|scratchpad)>"
_THOUGHT_BEGINS = re.compile(rf"\s*<{_THOUGHT}", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(f"</{_THOUGHT}", re.IGNORECASE)
_TAG = re.compile(f"</?{_THOUGHT}", re.IGNORECASE)
_NOT_PYTHON = re.compile(
    "bash|sh|shell|zsh|console|terminal|text|txt|plaintext|output|ya?ml|toml|html|css|javascript|js|java|c|cpp|rust|go"
    "|sql|ini|json|markdown|md"
)
_MOST_CLOSINGS = 8
"""Lines that are tried as the end of a block: each costs a parse."""
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class|import|from|assert|@)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """Text that may be code; `closed` is False where the reply ended before the block did."""

    text: str
    language: str = ""
    closed: bool = True


def blocks(text: str, *, truncated: bool) -> tuple[Block, ...]:
    """Return the blocks of a reply that may hold Python, in order: the whole reply where nothing is fenced."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").replace("\u200b", "")
    answer = _without_thoughts(text)
    fenced = [] if _DEFINES.search(answer) and parses(answer) else _fenced(answer)
    if not fenced and not _DEFINES.search(answer) and answer != text:
        # Nothing follows the thinking: what code there is, is in it.
        answer = _TAG.sub("\n", text)
        fenced = _fenced(answer)
    if fenced:
        python = [block for block in fenced if not _NOT_PYTHON.fullmatch(block.language)]
        return tuple(python or fenced)
    return (Block(answer, closed=not truncated),)


def _without_thoughts(text: str) -> str:
    """Return what follows the last thought of a reply, whose opening tag may be in the prompt; nothing where the
    thought never ends."""
    if parses(text):
        return text
    answer = _THOUGHT_ENDS.split(text)[-1]
    return "" if _THOUGHT_BEGINS.match(answer) else answer


def _fenced(text: str) -> list[Block]:
    lines = text.split("\n")
    found: list[Block] = []
    index = 0
    first = next((number for number, line in enumerate(lines) if _FENCE.match(line)), None)
    if first is not None and lines[first].strip() in {"```", "~~~"}:
        before = "\n".join(lines[:first])
        if _DEFINES.search(before) and parses(before):
            # The prompt opened the fence; the reply only closes it.
            found.append(Block(before))
            index = first + 1
    while index < len(lines):
        opening = _FENCE.match(lines[index])
        index += 1
        if opening:
            block, index = _block(lines, index, opening)
            found.append(block)
    return [block for block in found if block.text.strip()]


def _block(lines: list[str], start: int, opening: re.Match[str]) -> tuple[Block, int]:
    """Return the block that `opening` begins, and the index of the line after it."""
    mark, language = opening["mark"], opening["language"].lower()
    closings: list[tuple[str, int]] = []
    for index in range(start, len(lines)):
        line = lines[index].rstrip()
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            closings.append(("\n".join([*lines[start:index], ""]), index + 1))
        if len(closings) == _MOST_CLOSINGS:
            break
    if not closings:
        return Block("\n".join(lines[start:]), language, closed=False), len(lines)
    # A docstring may hold a fence of its own.
    whole = (closing for closing in closings if closing[0].strip() and parses(closing[0]))
    text, following = next(whole, closings[0])
    return Block(text, language), following
