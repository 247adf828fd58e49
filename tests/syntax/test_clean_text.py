from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.syntax.clean_text import clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("a\x00\x07b", "a\\x00\\x07b"),
        ("50%\rdone\r\nnext", "50%\ndone\nnext"),
        ("a\ud800b", "a\\ud800b"),
        ("a\u2028b", "a\\u2028b"),
        ("a\u3164b", "a\\u3164b"),
        ("naïve – 日本語 🙂", "naïve – 日本語 🙂"),
    ],
)
def test_cleaning_removes_what_hides_and_keeps_what_reads(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_bytes_that_are_not_utf8_become_visible() -> None:
    assert clean(b"a\xffb") == "a\\xffb"


@given(st.text() | st.binary() | st.text(alphabet="\x1b[]mP\\\x07\x9b\x9d\x9c0;\r\n\u202e"))
def test_cleaned_text_has_no_hidden_character_and_stays_as_it_is(text: str | bytes) -> None:
    cleaned = clean(text)
    assert not {c for c in cleaned if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t"}
    assert clean(cleaned) == cleaned
    cleaned.encode("utf-8")


def test_cleaning_a_megabyte_of_unfinished_sequences_takes_linear_time() -> None:
    for piece in ("\x1b]", "\x9d", "\x1bP", "\x1b[", "\x1b"):
        clean(piece * (1 << 18))
