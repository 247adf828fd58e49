"""Specs read from text and from files."""

# ruff: noqa: E501 - specs are shown as they are

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import UsageError
from agents.records import SpecLimits
from agents.spec import read_spec, read_spec_file, read_tests_file
from agents.spec.reading import LONGEST_SPEC
from agents.spec.signature import named
from agents.suite import example_tests, split

TEXT = 'Implement slugify(text: str) -> str. For example slugify("A b") == "a-b".'
FULL = """---
id: my-slug
signature: "slugify(text: str, sep: str = '-') -> str"
examples:
  - slugify("A b") == "a-b"
  - slugify("") -> ""
limits:
  max_rounds: 3
max_seconds: 60.5
max_tokens: 1000
max_cost: 0.1
---
# Slugs

Make slugs: `slugify("X") == "x"`.
"""
TESTS = "from user_code import slugify\n\ndef test_dash():\n    assert slugify('a b') == 'a-b'\n"


def test_the_signature_and_the_examples_come_from_the_text() -> None:
    spec = read_spec(TEXT, origin="argument")
    assert spec.signature is not None
    assert spec.signature.text == "def slugify(text: str) -> str"
    assert [example.code for example in spec.examples] == ['assert slugify("A b") == "a-b"']
    assert (spec.text, spec.origin, spec.user_tests) == (TEXT, "argument", None)


@pytest.mark.parametrize(
    ("text", "header", "examples"),
    [
        (
            'Turn a title into a slug: slugify("A b") -> "a-b".',
            "def slugify(...)",
            ['assert slugify("A b") == "a-b"'],
        ),
        ('initials("Ada") == "A."', "def initials(...)", ['assert initials("Ada") == "A."']),
        ("The middle: median([1, 3]) should be 2.", "def median(...)", ["assert median([1, 3]) == 2"]),
        (
            "Leap years (is_leap(4) is True, is_leap(5) is False).",
            "def is_leap(...)",
            ["assert is_leap(4) == True", "assert is_leap(5) == False"],
        ),
        ("Merge lists.\n\nmerge([1], [2])  # [1, 2]", "def merge(...)", ["assert merge([1], [2]) == [1, 2]"]),
        ("| call | result |\n|---|---|\n| `up(1)` | 2 |", "def up(...)", ["assert up(1) == 2"]),
        ("Add to_camel('a_b') => aB to it.", "def to_camel(...)", []),
        (
            'Bad input must raise ValueError, e.g. parse("x") raises ValueError.',
            "def parse(...)",
            ['with pytest.raises(ValueError):\n    parse("x")'],
        ),
        (
            "Run-length: encode('aa') == 'a2' and decode('a2') == 'aa'",
            None,
            ["assert encode('aa') == 'a2'", "assert decode('a2') == 'aa'"],
        ),
        ("Use len('ab') == 2 as you like.", None, []),
        ("Implement encode(s) and decode(s). encode('aa') == 'a2'", None, ["assert encode('aa') == 'a2'"]),
        ("It needs a hint: up(...) == 2", "def up(...)", []),
        ("The greatest divisor.\n\n>>> gcd(4, 6)\n2\n", "def gcd(...)", ["assert gcd(4, 6) == 2"]),
        ("Two small functions, one for each way. pack('aa') == '2a'", None, ["assert pack('aa') == '2a'"]),
    ],
)
def test_examples_alone_name_the_function(text: str, header: str | None, examples: list[str]) -> None:
    spec = read_spec(text, origin="argument")
    assert (spec.signature and spec.signature.text) == header
    assert [example.code for example in spec.examples] == examples


def test_a_class_method_makes_an_object_of_an_example() -> None:
    text = "Write a class Heat.\n- Heat.of_fahrenheit(50).celsius == 10.0\n- heat.celsius == 10.0"
    spec = read_spec(text, origin="argument")
    assert [example.code for example in spec.examples] == ["assert Heat.of_fahrenheit(50).celsius == 10.0"]


def test_a_program_is_named_by_no_example() -> None:
    spec = read_spec("Write a script that sums standard input. total([1, 2]) is 3.", origin="argument")
    assert (spec.signature, spec.program) == (None, True)


def test_trusted_tests_name_what_they_import() -> None:
    spec = read_spec("Make slugs.", origin="argument", tests=TESTS)
    assert spec.signature is not None
    assert (spec.signature.name, spec.signature.lacks_parameters) == ("slugify", True)
    of_a_class = TESTS.replace("slugify", "Slug")
    assert read_spec("Make slugs.", origin="argument", tests=of_a_class).signature == named("Slug")
    for_all = TESTS.replace("import slugify", "import *")
    assert read_spec("Make slugs.", origin="argument", tests=for_all).signature is None
    two = TESTS.replace("import slugify", "import slugify, other")
    assert read_spec("Make slugs.", origin="argument", tests=two).signature is None


def test_a_table_of_results_is_read_for_the_parameters_that_are_known() -> None:
    table = "| a | b | expected |\n|---|:--|--|\n| 1 | `2` | 3 |\n| 4 | 5 | about 9 |\n\n| a | b | note |\n| 1 | 1 | 3 |"
    spec = read_spec(f"Implement add(a, b).\n\n{table}", origin="argument")
    assert [example.code for example in spec.examples] == ["assert add(1, 2) == 3"]


def test_front_matter_wins_and_is_no_part_of_the_text() -> None:
    spec = read_spec(FULL, origin="stdin")
    assert spec.id == "my-slug"
    assert spec.signature is not None
    assert spec.signature.text == "def slugify(text: str, sep: str='-') -> str"
    assert [example.code for example in spec.examples] == [
        'assert slugify("A b") == "a-b"',
        'assert slugify("") == ""',
        'assert slugify("X") == "x"',
    ]
    assert spec.limits == SpecLimits(max_rounds=3, max_seconds=60.5, max_tokens=1000, max_cost=0.1)
    assert spec.text.startswith("# Slugs\n")


def test_the_id_names_the_entry_point_and_follows_the_content() -> None:
    one, other = (read_spec(text, origin="argument") for text in (TEXT, f"{TEXT} Be quick."))
    assert one.id.startswith("slugify-")
    assert other.id.startswith("slugify-")
    assert one.id != other.id
    assert read_spec(TEXT, origin="stdin").id == one.id


def test_a_spec_without_a_signature_is_named_by_its_first_words() -> None:
    spec = read_spec("Make something, that Sorts Words fast.", origin="argument")
    assert spec.signature is None
    assert spec.id.startswith("make-something-that-sorts-")


def test_rules_in_markdown_are_no_front_matter() -> None:
    text = "---\nA word of warning.\n---\nImplement f(x: int) -> int."
    assert read_spec(text, origin="argument").text == text


@pytest.mark.parametrize("text", ["---\nImplement f(x: int) -> int.", "---\n", "---\n\n- f: int\n", "--- id: x"])
def test_a_rule_before_prose_opens_no_front_matter(text: str) -> None:
    assert read_spec(f"{text}\nImplement g(x: int) -> int.", origin="argument").text.startswith("---")


def test_a_file_is_read_with_its_tests_beside_it(tmp_path: Path) -> None:
    (tmp_path / "trusted.py").write_text(TESTS)
    path = tmp_path / "spec.md"
    path.write_bytes(f"\ufeff---\ntests: trusted.py\n---\n{TEXT}\n".replace("\n", "\r\n").encode())
    spec = read_spec_file(path)
    assert spec.user_tests == TESTS
    assert spec.origin == str(path)


def test_tests_of_several_files_are_all_kept(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(TESTS)
    (tmp_path / "two.py").write_text(TESTS.replace("'a b') == 'a-b'", "'') == ''"))
    (tmp_path / "spec.md").write_text(f"---\ntests: [one.py, two.py]\n---\n{TEXT}")
    given_tests = tmp_path / "three.py"
    given_tests.write_text(TESTS.replace("test_dash", "test_three"))
    spec = read_spec_file(tmp_path / "spec.md", given_tests)
    assert spec.user_tests is not None
    assert [test.id for test in split(spec.user_tests, "user")] == ["test_three", "test_dash", "test_dash_2"]


def test_a_tests_file_is_read_alone(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(TESTS)
    assert read_tests_file(tmp_path / "t.py") == TESTS


def test_examples_become_tests() -> None:
    tests = example_tests(read_spec(FULL, origin="argument"))
    assert [test.id for test in tests] == [f"test_spec_example_{number}" for number in (1, 2, 3)]


BAD = {
    "an empty spec": ("  \n", "The spec is empty"),
    "front matter that is not closed": (f"---\nid: x\n\n{TEXT}", "line 1: the front matter is never closed; write `---`"),
    "an unknown key that is not closed": (f"---\n# mine\n\nexmaples:\n- f(1) == 1\n{TEXT}", "is never closed"),
    "closed by another line": (f"---\nid: x\n----\n{TEXT}", "is never closed"),
    "front matter alone": ("---\nid: x\n---\n", "The spec is empty"),
    "bad YAML": ("---\nid: x\nsignature: f(x: int\n  - y\n---\nText", "line [34]: the front matter is not YAML"),
    "an unknown key": (
        "---\nid: x\nexample: f(1) == 1\n---\nText", "line 3: unknown front matter key `example`; did you mean `examples`"
    ),
    "a key unlike any": ("---\nzzz: 1\n---\nText", "line 2: unknown front matter key `zzz`; known keys are id, "),
    "an unknown limit": ("---\nlimits:\n  max_round: 1\n---\nText", "line 3: unknown .* did you mean `max_rounds`"),
    "a limit that is no number": ("---\nmax_seconds: soon\n---\nText", "line 2: `max_seconds` must be a number above 0"),
    "a limit of nothing": ("---\nmax_cost: 0\n---\nText", "`max_cost` must be a number above 0"),
    "half a round": ("---\nmax_rounds: 1.5\n---\nText", "`max_rounds` must be a whole number"),
    "true rounds": ("---\nmax_rounds: true\n---\nText", "`max_rounds` must be a number"),
    "endless seconds": ("---\nmax_seconds: .inf\n---\nText", "`max_seconds` must be a number"),
    "an id with a path": ("---\nid: ../x\n---\nText", "line 2: `id` must be letters"),
    "a signature that is none": ("---\nsignature: slugify\n---\nText", "line 2: `slugify` is not .*signature such as"),
    "examples that are no list of texts": ("---\nexamples: [1]\n---\nText", "line 2: `examples` must be a list of texts"),
    "an example that is not Python": ("---\nexamples: ['f(1 ==']\n---\nText", r"line 2: the example `f\(1 ==` is not Python"),
    "an example without a result": ("---\nexamples: ['f(1)']\n---\nText", "line 2: .* states no result"),
    "a value that its tag does not fit": ("---\nid: !!bool x\n---\nText", "the front matter can't be read"),
    "a number without digits": ("---\nmax_rounds: !!int ''\n---\nText", "the front matter can't be read"),
    "merge keys": ("---\n<<: {id: x}\n---\nText", "line 2: .*merge keys"),
    "lists without end": ("---\nid: " + "[" * 90_000 + "\n---\nText", "line 2: .*nests too deeply"),
    "tests that are missing": ("---\ntests: no/such.py\n---\nText", r"no/such\.py does not exist"),
    "too much": ("x" * (LONGEST_SPEC + 1), "longer than 100 KB"),
    "NUL": ("a\0b", "is not text"),
    "a lone surrogate": ("a\ud800b", "is not text"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD)
def test_a_bad_spec_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as error:
        read_spec(text, origin="argument")
    assert "\n" not in str(error.value)


def test_a_spec_as_long_as_allowed_is_read() -> None:
    assert read_spec("x" * LONGEST_SPEC, origin="argument").signature is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def test_(:", "line 1"),
        ("def test_a(x, x): pass\n", "line 1: dup"),
        ("x = 1\n", "has no test"),
        ("if 1:\n    def test_a(): pass\n", "line 1: test_a"),
    ],
)
def test_bad_trusted_tests_are_refused(tmp_path: Path, source: str, reason: str) -> None:
    (tmp_path / "t.py").write_text(source)
    (tmp_path / "spec.md").write_text(TEXT)
    with pytest.raises(UsageError, match=reason) as error:
        read_spec_file(tmp_path / "spec.md", tmp_path / "t.py")
    assert str(tmp_path / "t.py") in str(error.value)
    with pytest.raises(UsageError, match=reason):
        read_spec(TEXT, origin="argument", tests=source)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"one\ntwo\ncaf\xe9")
    (tmp_path / "long.md").write_bytes(b"x" * (LONGEST_SPEC + 1))
    for name, reason in {
        "latin.md": "line 3: the file is not UTF-8",
        "long.md": "longer than 100 KB",
        "none.md": "does not exist",
        ".": "is a directory",
        "x" * 300: "can't be read",
        "nul\0": "can't be read",
    }.items():
        with pytest.raises(UsageError, match=reason):
            read_spec_file(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text(TEXT)
    (tmp_path / "spec.md").chmod(0)
    with pytest.raises(UsageError, match="Permission denied"):
        read_spec_file(tmp_path / "spec.md")


# --- any text at all ----------------------------------------------------------------------------------------

PIECES = st.sampled_from([
    "---\n", "id: a\n", "examples:\n", "  - f(1) == 1\n", "signature: f(x)\n", "&a [*a]", "? [1]\n", ": 2\n", "!!python/x 1\n",
    "2024-13-45", "limits: {max_rounds: 1}\n", "tests: [[\n", ">>> ", "... ", "Implement ", "f(", "x: int", ") -> ", "list[",
    "]", "f(1)", " == ", "1", " -> ", "'a'", '"', "`", "```python\n", "```\n", "assert ", "class A", "def f(x):\n", "    ",
    "Traceback\n", "ValueError", " raises ", "Input: x = 1\n", "Output: 2\n", "For x = 1 the output should be ", "\n", "\n\n",
    "(", ")", "{", "\\", "\0", "\ud800", "é", "=", ",", ".", " and ", "#", '"""', "async ", "lambda", "*", "**",
])  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text_is_a_spec_or_a_usage_error(text: str) -> None:
    try:
        spec = read_spec(text, origin="argument")
    except UsageError as error:
        told = str(error)
    else:
        told = spec.id
        assert len(example_tests(spec)) == len(spec.examples)
    assert told.strip()


@pytest.mark.parametrize(
    "unit", ["f(", "f(1) == ", ">>> f(1)\n", "a" * 99 + "\n", "Implement f(x) ", "For x = ", "(" * 99]
)
@pytest.mark.timeout(30)
def test_a_long_spec_is_read_in_bounded_time(unit: str) -> None:
    text = "Implement f(x: int) -> int.\n" + unit * (40_000 // len(unit))
    assert read_spec(text, origin="argument").text.startswith("Implement")
