"""Code blocks of a model's reply, fenced or bare, without thinking; and repair of text that is nearly Python:
indentation, quotes, prose, and a cut-off end."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..syntax.definitions import Function
from ..syntax.laid_out import LaidOut
from ..syntax.source import parse, parse_error, parses

_FENCED = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<mark>`{3,}|~{3,})[ \t]*+(?P<language>[\w+#.-]*+)[^\n]*+\n?(?P<text>.*?)"
    r"(?P<end>^(?!(?P=indent)[ \t])[ \t]*+(?P=mark)[`~]*+[ \t]*+$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""A block; a docstring in it may have an indented fence, and the last block may be unclosed."""
_THOUGHT_ENDS = re.compile("</(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
"""The end tag of thinking; the start tag may be in the prompt."""
_NOT_PYTHON = re.compile(
    "bash|sh|shell|zsh|console|terminal|text|txt|plaintext|output|ya?ml|toml|html|css|javascript|js|java|c|cpp|rust|go"
    "|sql|ini|json|markdown|md"
)
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class|import|from|assert|@)\b", re.MULTILINE)
_CODE_LINE = re.compile(
    r"(?:import|from|def|class|async|if|for|while|try|with|assert|print)\b|[@\"'#(\[]"
    r"|[A-Za-z_][\w.]*(?:\[[^\]]*\])?\s*(?::[^=]*)?[-+*/%|&]?=(?!=)|[A-Za-z_][\w.]*\("
)
_CONTINUES = re.compile(r"[)\]}]|(?:else|elif|except|finally|case)\b")
_DEFINITION = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)", re.MULTILINE)
_DOUBLE, _SINGLE = "\u201c\u201d\u201e\u2033", "\u2018\u2019\u201a\u2032"
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys(_DOUBLE, '"'),
        **dict.fromkeys(_SINGLE, "'"),
        **dict.fromkeys("\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00a0\u2003\u2009\u202f\u3000", " "),
        "\u2026": "...",
        **dict(zip("\u00d7\uff08\uff09\uff0c\uff1a", "*(),:", strict=True)),
    }
)
_STRING = re.compile(
    rf"(?P<plain>'[^']*'|\"[^\"]*\")|[{_DOUBLE}](?P<double>[^{_DOUBLE}\"]*)[{_DOUBLE}\"]"
    rf"|[{_SINGLE}](?P<single>[^{_SINGLE}']*)[{_SINGLE}']|."
)
_TRIES = 40
"""Most repairs and cuts that are tried: each costs a parse."""


@dataclass(frozen=True, slots=True)
class Block:
    """Text that may be code; `closed` is False where the reply ended before the block did."""

    text: str
    language: str = ""
    closed: bool = True


def blocks(text: str, *, truncated: bool) -> tuple[Block, ...]:
    """Return the blocks of a reply that may be Python, in order; the whole reply without fences."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").replace("\u200b", "")
    answer = text if parses(text) else _THOUGHT_ENDS.split(text)[-1]
    if not _DEFINES.search(answer):
        answer = text  # nothing follows the thinking: search for code in it
    if fenced := [] if _DEFINES.search(answer) and parses(answer) else _fenced(answer):
        python = [block for block in fenced if not _NOT_PYTHON.fullmatch(block.language)]
        return tuple(python or fenced)
    return (Block(answer, closed=not truncated),)


def _fenced(text: str) -> list[Block]:
    first = _FENCED.search(text)
    before = text[: first.start()] if first else ""
    if first and not first["language"] and _DEFINES.search(before) and parses(before):
        text = f"{first['mark']}\n{text}"  # the fence was opened in the prompt
    found = (Block(each["text"], each["language"].lower(), each["end"] != "") for each in _FENCED.finditer(text))
    return [block for block in found if block.text.strip()]


@dataclass(frozen=True, slots=True)
class Mended:
    """Text that parses, notes on repairs, the names of omitted definitions (`lost`), and the reason."""

    code: str
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    reason: str = ""


def make_parseable(text: str, *, cut_off: bool, keep_begun: bool = False) -> Mended:
    """Return `text` as a module that parses, unchanged where it does. `cut_off`: its end is missing.

    Statements that can't be repaired are omitted; `lost` names the definitions among them. With `keep_begun` the
    complete statements of a cut-off function stay: useful for a test, wrong for other code.
    """
    notes: list[str] = []
    code = re.sub(r"\A\s*(?:python3?|py)[ \t]*\n", "", text, flags=re.IGNORECASE)
    reason = parse_error(code)
    for repair, note in _REPAIRS:
        if before := parse_error(code):
            tried = repair(code)
            after = parse_error(tried)
            if not after or _line(after) > _line(before):
                code = tried
                notes.append(note)
    if cut_off:
        found = _without_the_cut_end(code, notes, reason)
        begun = _begun(code, found.lost[-1]) if found.lost and keep_begun else ""
        return replace(found, code=found.code + begun)
    kept, lost = _whole_statements(code)
    if kept != code:
        notes.append("left out text that is not Python")
    return Mended(kept, tuple(notes), lost, parse_error(code) or reason)


def _line(complaint: str) -> int:
    found = re.match(r"line (\d+):", complaint)
    return int(found[1]) if found else 0


def _without_the_cut_end(code: str, notes: list[str], reason: str) -> Mended:
    """Return `code` up to its last complete statement; a definition at the end may be incomplete."""
    kept, lost = _whole_statements(code)
    tree = parse(kept)
    last = tree.body[-1] if tree.body else None
    if not lost and last and not _is_followed(last, kept, code) and not _ends_for_certain(last, code):
        kept = kept[: LaidOut(kept).start(last)]
        lost = (getattr(last, "name", ""),)
    if lost:
        notes = [*notes, "cut after the last whole definition"]
    return Mended(kept, tuple(notes), tuple(filter(None, lost)), reason)


def _begun(code: str, name: str) -> str:
    """Return the complete statements of the function `name` at the end of `code`; empty without any, and for a
    decorated function, whose parameters may come from a decorator. The last line may be cut off.
    """
    lines = code.split("\n")[:-1]
    starts = [number for number, line in enumerate(lines) if re.match(rf"def {name}\(", line)]
    first = starts[-1] if starts else 0
    if not starts or (first and lines[first - 1].startswith("@")):
        return ""
    ends = range(len(lines), max(first + 1, len(lines) - _TRIES), -1)
    cuts = ("\n".join(lines[first:end]) + "\n" for end in ends)
    return next((cut for cut in cuts if parses(cut)), "")


def _is_followed(node: ast.stmt, kept: str, code: str) -> bool:
    """Return True if an unindented line of `code` comes after `node`, the last statement of `kept`."""
    margin = [line for line in code.split("\n") if line.strip() and line[0] not in " \t"]
    starts = [line for line in margin if not _CONTINUES.match(line)]
    return bool(starts) and starts[-1] != kept.split("\n")[node.lineno - 1]


def _ends_for_certain(node: ast.stmt, text: str) -> bool:
    if not text.endswith("\n"):
        return False
    if isinstance(node, Function):
        return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Assert)
    return not isinstance(node, ast.ClassDef | ast.If | ast.For | ast.While | ast.Try | ast.With)


def _whole_statements(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the module-level statements of `text` that parse, and the names of definitions that don't."""
    if parses(text):
        return text, ()
    lines = text.split("\n")
    starts = [
        number
        for number, line in enumerate(lines)
        if line.strip() and line[0] not in " \t#" and not _CONTINUES.match(line)
        if not (number and lines[number - 1].startswith("@"))
    ]
    bounds = [*starts, len(lines)]
    kept: list[str] = []
    lost: list[str] = []
    index = 0
    while index < len(starts):
        first = starts[index]
        for end in range(index + 1, min(index + 9, len(bounds))):
            chunk = "\n".join(lines[first : bounds[end]])
            if _is_code(chunk):
                kept.append(chunk)
                index = end
                break
        else:
            lost.extend(_DEFINITION.findall("\n".join(lines[first : bounds[index + 1]])))
            index += 1
    return "\n".join(kept).strip("\n") + "\n", tuple(lost)


def _is_code(chunk: str) -> bool:
    """Return True if `chunk` is Python and not prose that parses, such as `Explanation` or `Note: fast`."""
    if not _CODE_LINE.match(chunk) or not parses(chunk):
        return False
    body = parse(chunk).body
    plain = (ast.Name, ast.Attribute, ast.Tuple, ast.Constant)
    return bool(body) and not all(
        (isinstance(node, ast.Expr) and isinstance(node.value, plain))
        or (isinstance(node, ast.AnnAssign) and node.value is None)
        for node in body
    )


# --- repairs, each tried only on text that doesn't parse ----------------------------------------------------


def _dedented(text: str) -> str:
    first, _, rest = text.lstrip("\n").partition("\n")
    # A stripped reply has lost the indentation of its first line only.
    if first[:1] not in {" ", "\t"} and parses(moved := f"{first}\n{textwrap.dedent(rest)}"):
        return moved
    depths = [len(found[1]) for found in re.finditer(r"^([ \t]*)(?:def|class|async def)\b", text, re.MULTILINE)]
    depth = min(depths, default=0)
    if not depth:
        return textwrap.dedent(text)
    kept = (line for line in text.split("\n") if not line.strip() or not line[:depth].strip())
    return "\n".join(line[depth:] for line in kept)


def _with_plain_characters(text: str) -> str:
    """Return `text` with ASCII quotes and dashes on the lines that the parser reports."""
    if text.translate(_TYPOGRAPHY) == text:
        return text
    lines = text.split("\n")
    for _ in range(_TRIES):
        number = _line(parse_error("\n".join(lines)))
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        if (plain := _STRING.sub(_made_plain, line)) == line:
            break
        lines[number - 1] = plain
    return "\n".join(lines)


def _made_plain(found: re.Match[str]) -> str:
    """Return the match with ASCII characters; a string stays unchanged."""
    if found["plain"]:
        return found["plain"]
    quote = found[0][0].translate(_TYPOGRAPHY)
    text = found["double"] if found["single"] is None else found["single"]
    return found[0].translate(_TYPOGRAPHY) if text is None else f"{quote}{text}{quote}"


_REPAIRS: tuple[tuple[Callable[[str], str], str], ...] = (
    (_dedented, "moved the code to the margin"),
    (_with_plain_characters, "replaced typographic characters"),
)
