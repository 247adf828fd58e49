"""Code blocks of a model's reply: fenced, bare or wrapped in JSON, with the thinking around them taken away."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ..syntax.source import parses

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)(?P<rest>.*)$")
_THOUGHT = r"(?:think|thinking|thought|reasoning|scratchpad)"
_NOT_PYTHON = re.compile(
    "bash|sh|shell|zsh|console|terminal|text|txt|plaintext|output|ya?ml|toml|html|css|javascript|js|java|c|cpp|rust|go"
    "|sql|ini|markdown|md"
)
_CODE_KEYS = ("code", "python", "solution", "source", "content", "file", "user_code", "tests", "test", "answer")
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class|import|from|assert|@)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of text that may be code. `closed` is False where the reply ended before the block did."""

    text: str
    language: str = ""
    closed: bool = True


def blocks(text: str, *, truncated: bool) -> tuple[Block, ...]:
    """The blocks of a reply that may hold Python, in order; the whole reply is one where nothing is fenced."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").replace("\u200b", "")
    answer = _without_thoughts(text)
    fenced = [] if _DEFINES.search(answer) and parses(answer) else _fenced(answer)
    if not fenced and not _DEFINES.search(answer) and answer != text:
        # Nothing follows the thinking: what code there is, is in it.
        answer = re.sub(rf"</?{_THOUGHT}>", "\n", text, flags=re.IGNORECASE)
        fenced = _fenced(answer)
    if fenced:
        unwrapped = [unwrapped for block in fenced for unwrapped in _unwrapped(block)]
        python = [block for block in unwrapped if not _NOT_PYTHON.fullmatch(block.language)]
        return tuple(python or unwrapped)
    return _unwrapped(Block(answer, closed=not truncated))


def _without_thoughts(text: str) -> str:
    if parses(text):
        return text
    text = re.sub(rf"^\s*<{_THOUGHT}>.*?</{_THOUGHT}>", "", text, flags=re.DOTALL | re.IGNORECASE | re.MULTILINE)
    # Chat templates put the opening tag into the prompt, so that a reply may hold the closing one alone.
    text = re.sub(rf"\A.*</{_THOUGHT}>", "", text, flags=re.DOTALL | re.IGNORECASE)
    return re.sub(rf"^\s*<{_THOUGHT}>.*\Z", "", text, flags=re.DOTALL | re.IGNORECASE | re.MULTILINE)


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
    """The block that `opening` begins, and the index of the line after it."""
    mark, language, rest = opening["mark"], opening["language"], opening["rest"].strip()
    head: list[str] = []
    if rest and language.lower() in {"python", "py"} and _DEFINES.match(rest):
        head = [rest]
    closings: list[tuple[int, str]] = []
    for index in range(start, len(lines)):
        line = lines[index].rstrip()
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            closings.append((index, ""))
        elif line.endswith(mark) and not _FENCE.match(line):
            closings.append((index, line[: -len(mark)]))
        if len(closings) == 8:
            break
    for index, tail in closings:
        text = "\n".join([*head, *lines[start:index], *filter(None, [tail])])
        # A docstring may hold a fence of its own.
        if parses(text) and text.strip():
            return Block(text + "\n", language.lower()), index + 1
    if closings:
        index, tail = closings[0]
        text = "\n".join([*head, *lines[start:index], *filter(None, [tail])])
        return Block(text + "\n", language.lower()), index + 1
    return Block("\n".join([*head, *lines[start:]]), language.lower(), closed=False), len(lines)


def _unwrapped(block: Block) -> tuple[Block, ...]:
    """The code inside a JSON object, where `block` is one; else `block` itself."""
    text = block.text.strip()
    if not text.startswith(("{", "[")):
        return (block,)
    try:
        texts = _strings(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        keys = "|".join(_CODE_KEYS)
        cut = re.search(rf'"(?:{keys})"\s*:\s*\[?\s*"((?:[^"\\]|\\.)*)', text, flags=re.DOTALL)
        texts = [_unescaped(cut[1])] if cut else []
        block = Block("", closed=False)
    found = [text for text in texts if _DEFINES.search(text)]
    if not found:
        return (block,) if block.text else ()
    inner = "\n\n".join(found)
    return tuple(_fenced(inner)) or (Block(inner + "\n", "python", block.closed),)


def _unescaped(text: str) -> str:
    try:
        value = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _strings(value: object) -> list[str]:
    """The strings of a JSON value that may be code: those under a telling key, or all where none is."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    if isinstance(value, dict):
        telling = [text for key in _CODE_KEYS if key in value for text in _strings(value[key])]
        return telling or [text for item in value.values() for text in _strings(item)]
    return []
