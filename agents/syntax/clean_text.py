"""Cleaning of untrusted text for a terminal, a log, a prompt and a report."""

from __future__ import annotations

import re
import unicodedata

_ANSI = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\\\|\x9c)"  # OSC: titles, links, clipboard
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x80-\x9f]*(?:\x1b\\\\|\x9c)"  # DCS, SOS, PM, APC
    "|\x1b[ -/]*[0-~]"  # every other escape sequence
)
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Unicode's Default_Ignorable_Code_Point, as far as the categories above do not cover it: drawn as nothing.
_IGNORABLE = frozenset(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164, 0xFFA0)
).union(range(0xFE00, 0xFE10), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000))

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COMMANDS = re.compile(r"^[^\S\n]*(?=::)|#(?=#(?:vso|teamcity)?\[)", re.MULTILINE)
"""Workflow commands: GitHub's `::error` (behind any blanks) and `##[error]`, Azure Pipelines' and TeamCity's."""
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&@!:$^=]|^[-+]|(?<=\bwww)\.|(?:(?<=^\d)|(?<=^\d\d))[.)])")
"""Characters with a meaning in GitHub's Markdown, also in bare links and mentions."""


def clean(text: bytes | str) -> str:
    """Return `text` without ANSI sequences and with every other character that hides or reorders made visible.

    Newlines and tabs stay; a carriage return becomes a newline; control, format (bidi and zero-width among
    them), surrogate, line-separator and ignorable characters become escapes such as `\\u202e`, and bytes that
    are not UTF-8 become `\\xff`. Cleaning twice changes nothing.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    if text.isascii() and text.isprintable():
        return text
    return visible(_ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def visible(text: str) -> str:
    """Return `text` with every character that hides, reorders or controls as an escape, and nothing removed, so
    that a person sees all that will run."""
    hidden = {each for each in set(text) - {"\n", "\t"} if unicodedata.category(each) in _HIDDEN_CATEGORIES}
    hidden.update(each for each in set(text) if ord(each) in _IGNORABLE)
    return text.translate({ord(each): ascii(each)[1:-1] for each in hidden})


def one_line(text: str) -> str:
    """Return `text` cleaned, on one line."""
    return " ".join(clean(text).split())


def for_log(text: str) -> str:
    """Return a cleaned text with a backslash in each workflow command that a CI system would run."""
    return _COMMANDS.sub(r"\g<0>\\", text)


def for_xml(text: str) -> str:
    """Return `text` cleaned, without characters that XML does not allow."""
    return _NO_XML.sub("", clean(text))


def for_markdown(line: str) -> str:
    """Return a cleaned line escaped for Markdown."""
    return _MARKS.sub(r"\\\1", line).replace("\\<", "&lt;").replace("\\&", "&amp;")
