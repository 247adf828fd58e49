"""Modules read out of replies such as small models write them."""

# ruff: noqa: E501 - replies are shown as they are
from __future__ import annotations

import ast
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import ReplyError
from agents.records import Signature, Spec
from agents.reply import Module, read_code, read_tests
from agents.reply.reading import MAX_CHARACTERS

SORT = """def quicksort(arr):
    if len(arr) < 2:
        return arr
    pivot, *rest = arr
    below = [x for x in rest if x < pivot]
    above = [x for x in rest if x >= pivot]
    return quicksort(below) + [pivot] + quicksort(above)
"""


def function_spec(header: str = "quicksort(arr: list[int]) -> list[int]") -> Spec:
    return Spec("s", f"Implement {header}.", Signature(header.split("(")[0], "function", f"def {header}"))


SPEC = function_spec()
STACK = Spec("s", "Write class Stack with push and pop.", Signature("Stack", "class", "class Stack"))
FREE = Spec("s", "Write something useful.")


def fenced(code: str, language: str = "python") -> str:
    return f"```{language}\n{code}\n```\n"


def read(text: str, spec: Spec = SPEC, *, truncated: bool = False) -> Module:
    return read_code(text, spec, truncated=truncated)


def calling(module: Module, name: str) -> Callable[..., object]:
    names: dict[str, object] = {"__name__": "user_code"}
    exec(compile(module.code, "user_code", "exec"), names)
    function = names[name]
    assert callable(function)
    return function


UNHARMED = {
    "the code alone": SORT,
    "a fence": fenced(SORT),
    "a fence without language": fenced(SORT, ""),
    "a tilde fence": f"~~~python\n{SORT}~~~\n",
    "a fence that is never closed": f"```python\n{SORT}",
    "a fence that the prompt opened": f"{SORT}```\nThis function sorts.",
    "prose around": f"Sure! Here is the code:\n\n{fenced(SORT)}\nIt runs in O(n log n).",
    "a usage example in a fence of its own": f"{fenced(SORT)}\nUsage:\n\n{fenced('print(quicksort([3, 1]))')}",
    "output in a fence of its own": f"{fenced(SORT)}\nOutput:\n\n{fenced('[1, 3]', 'text')}",
    "a shell command in a fence of its own": f"{fenced('pip install pytest', 'bash')}\n{fenced(SORT)}",
    "tests in a fence of their own": fenced(SORT) + fenced("def test_a():\n    assert quicksort([2, 1]) == [1, 2]"),
    "a stub before the real thing": fenced("def quicksort(arr):\n    ...") + "In full:\n" + fenced(SORT),
    "the same code twice": fenced(SORT) + "\nAgain:\n" + fenced(SORT),
    "thinking first": f"<think>\nMaybe:\n{fenced('def quicksort(a): return sorted(a)')}</think>\n{fenced(SORT)}",
    "thinking that the prompt opened": f"Let me see.\n</think>\n{fenced(SORT)}",
    "thinking that never ends": f"<think>\nI will write:\n{fenced(SORT)}",
    "Windows line endings": fenced(SORT).replace("\n", "\r\n"),
    "a byte order mark": f"\ufeff{SORT}",
    "a line that names the language": f"python\n{SORT}",
    "code in a list item": fenced("".join(f"   {line}\n" for line in SORT.splitlines())),
    "bare code between prose": f"Here you go:\n\n{SORT}\nExplanation: it picks a pivot.\nNote: it is stable.\n",
    "indented code between prose": "Code:\n\n" + "".join(f"    {line}\n" for line in SORT.splitlines()) + "\nDone.",
    "tests below": fenced(f"{SORT}\n\nimport pytest\n\ndef test_a():\n    assert quicksort([1]) == [1]\n\npytest.main()"),
    "a unittest class below": fenced(
        f"{SORT}\n\nimport unittest\n\nclass TestSort(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertEqual(quicksort([1]), [1])\n\nif __name__ == '__main__':\n    unittest.main()"
    ),
    "prints and asserts below": fenced(
        f"{SORT}\n# Example usage\narr = [3, 1]\nresult = quicksort(arr)\nprint('Sorted:', result)\nassert result == [1, 3]"
    ),
    "a loop that prints below": fenced(f"{SORT}\nfor case in [[1], []]:\n    print(case, quicksort(case))"),
}  # fmt: skip


@pytest.mark.parametrize("text", UNHARMED.values(), ids=UNHARMED)
def test_the_code_comes_out_as_it_was_written(text: str) -> None:
    assert read(text).code == SORT


@pytest.mark.parametrize(
    "text",
    [
        fenced(f"{SORT}\n\ndef test_a():\n    assert quicksort([1]) == [1]"),
        fenced(f"{SORT}\nprint(quicksort([2, 1]))"),
        f"Here:\n{SORT}\nThat's it, all done.",
    ],
)
def test_every_change_is_told(text: str) -> None:
    assert read(text).mended


@pytest.mark.parametrize("text", [fenced(SORT), f"   {fenced(SORT)}\nIt sorts."])
def test_clean_code_is_told_to_be_unchanged(text: str) -> None:
    assert read(text).mended == ()


@pytest.mark.parametrize("below", [
    'if __name__ == "__main__":\n    print(quicksort([2, 1]))',
    "LIMIT = 3",
    "TABLE = {}\nfor i in range(3):\n    TABLE[i] = i\n\n\ndef other():\n    return TABLE",
    "import sys\nsys.setrecursionlimit(10000)",
    "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
    "class TestResult:\n    value = 1",
    "def test_bit(number, place):\n    return number >> place & 1",
    "class Shape:\n    pass\n\n\nShape.register(int)",
    "class Colour:\n    pass\n\n\nRED = Colour()",
    "NAMES = {}\n\n\ndef name(key, value):\n    NAMES[key] = value\n\n\nname('a', 1)",
    "state = None\n\n\ndef fill():\n    global state\n    state = 1\n\n\nfill()",
])  # fmt: skip
def test_statements_that_do_work_stay(below: str) -> None:
    assert read(fenced(f"{SORT}\n\n{below}")).code == f"{SORT}\n\n{below}\n"


def test_a_helper_called_like_a_test_stays() -> None:
    code = "def test_prime(n):\n    return n > 1\n\n\ndef primes(n):\n    return [i for i in range(n) if test_prime(i)]\n"
    assert read(code, function_spec("primes(n: int) -> list[int]")).code == code


MENDED = {
    "missing module imports": ("def f(s):\n    return re.sub('b', '', unicodedata.normalize('NFKD', s))", "ab", "a"),
    "a star import in place of the module": (
        "from unicodedata import *\n\ndef f(s):\n    return unicodedata.normalize('NFKD', s)", "a", "a"
    ),
    "missing members": ("def f(s: Optional[str]) -> List[str]:\n    return sorted(Counter(s))", "ba", ["a", "b"]),
    "a missing import under a docstring": ('"""Doc."""\nfrom __future__ import annotations\n\n'
                                           "def f(s):\n    return math.floor(s)", 1.5, 1),
    "a module that is called": ("def f(s):\n    return bisect([1, 2], s)", 1, 1),
    "datetime, the class": ("def f(s):\n    return datetime.strptime(s, '%Y').year", "1999", 1999),
    "datetime, the module": ("def f(s):\n    return datetime.date(s, 1, 1).year", 1999, 1999),
    "typographic quotes": ("def f(s):\n    return s.replace(“a”, ‘’)", "ab", "b"),
    "typographic quotes beside good ones": ('def f(s):\n    return s + "“" + “!”', "a", "a“!"),
    "a method of a class": ("class Solution:\n    def f(self, s):\n        return s + 1", 1, 2),
    "a static method": ("class Tool:\n    @staticmethod\n    def f(s):\n        return s + 1", 1, 2),
    "broken prose after the code": ("def f(s):\n    return s + 1\n\nThis isn't code: it's prose (", 1, 2),
}  # fmt: skip


@pytest.mark.parametrize(("code", "given", "expected"), MENDED.values(), ids=MENDED)
def test_nearly_right_code_is_mended(code: str, given: object, expected: object) -> None:
    module = read(fenced(code), function_spec("f(s)"))
    assert module.mended
    assert calling(module, "f")(given) == expected


def test_an_entry_point_may_be_an_assignment() -> None:
    assert calling(read("quicksort = lambda arr: sorted(arr)\n"), "quicksort")([2, 1]) == [1, 2]


def test_a_helper_in_another_block_is_taken_along() -> None:
    text = fenced("def quicksort(arr):\n    return ordered(arr)") + fenced(
        "def ordered(arr):\n    return sorted(arr)"
    )
    assert calling(read(text), "quicksort")([2, 1]) == [1, 2]


def test_without_a_signature_all_blocks_are_one_module() -> None:
    text = fenced("def one():\n    return 0") + fenced("def two():\n    return one() + 1") + fenced("print(two())")
    text += "Corrected:\n" + fenced("def one():\n    return 1")
    assert calling(read(text, FREE), "two")() == 2


def test_a_cut_reply_keeps_the_whole_definitions() -> None:
    module = read(f"```python\n{SORT}\n\ndef check(values):\n    for value in val", truncated=True)
    assert module.code == SORT
    assert "cut after the last whole definition" in module.mended


REFUSED = {
    "nothing": ("", False, "no Python code"),
    "prose": ("I'm sorry, I can't help with that.", False, "no Python code"),
    "a stub": (fenced("def quicksort(arr):\n    pass"), False, "`quicksort` has no body"),
    "a stub with a docstring": (fenced('def quicksort(arr):\n    """Sorts."""\n    ...'), False, "has no body"),
    "your code here": (fenced("def quicksort(arr):\n    # Your code here\n    return arr"), False, "leaves code out"),
    "the rest of the code": (fenced(f"{SORT}\n# ... rest of the code remains the same"), False, "leaves code out"),
    "an empty helper": (
        fenced("def quicksort(arr):\n    return part(arr)\n\ndef part(arr):\n    pass"), False, "`part` has no body"
    ),
    "cut in the middle": (f"```python\n{SORT[:-20]}", True, "cut off before `quicksort`"),
    "cut between two statements": (f"```python\n{SORT[: SORT.index('    below')]}", True, "cut off before `quicksort`"),
    "cut before any code": ("Let me think about this for a", True, "cut off before any code"),
    "two unlike functions": (
        fenced("def alpha(x):\n    return 1\n\ndef beta(x):\n    return 2"), False, "named `quicksort`.*alpha, beta"
    ),
    "another name": (fenced(SORT.replace("quicksort", "quick_sort")), False, "named `quicksort`; it defines quick_sort"),
    "JSON": (json.dumps({"code": SORT}), False, "one Python code block"),
    "JSON in a fence": (fenced(json.dumps({"code": SORT}), "json"), False, "one Python code block"),
    "a diff": (fenced("".join(f"+{line}\n" for line in SORT.splitlines()), "diff"), False, "Python"),
    "an interactive session": (fenced("".join(f">>> {line}\n" for line in SORT.splitlines())), False, "Python"),
    "mixed tabs and spaces": (fenced("def quicksort(arr):\n\tif arr:\n        return 1\n\treturn 0"), False, "tabs"),
    "a wrong arity": (fenced("def sort_it(a, b, c):\n    return a"), False, "named `quicksort`"),
    "only tests": (fenced("def test_a():\n    assert quicksort([1]) == [1]"), False, "tests alone"),
    "a syntax error in the entry point": (fenced("def quicksort(arr):\n    return arr[0\n"), False, r"line \d+"),
    "an await outside a coroutine": (fenced(f"{SORT}\ndef other():\n    await quicksort"), False, "'await' outside"),
    "a star import inside a function": (fenced(f"{SORT}\ndef g():\n    from math import *"), False, "import *"),
    "a nonlocal of nothing": (fenced(SORT.replace("    below", "    nonlocal n\n    below")), False, "nonlocal 'n'"),
    "too much": ("x" * (MAX_CHARACTERS + 1), False, "longer than"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "truncated", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_mended_is_refused_with_its_reason(text: str, truncated: bool, reason: str) -> None:
    with pytest.raises(ReplyError, match=reason):
        read(text, truncated=truncated)


@pytest.mark.parametrize(
    "comment",
    [
        "# sort the rest of the list",
        "# the rest of the code points",
        "# same as bisect",
        "# ...",
        "# the other half",
    ],
)
def test_an_ordinary_comment_is_no_omission(comment: str) -> None:
    code = SORT.replace("    pivot", f"    {comment}\n    pivot")
    assert read(fenced(code)).code == code


def test_a_class_that_is_cut_off_is_refused() -> None:
    text = "```python\nclass Stack:\n    def push(self, item):\n        self.items.append(item)\n\n    def pop(se"
    with pytest.raises(ReplyError, match="cut off before `Stack`"):
        read(text, STACK, truncated=True)


# --- any text at all ----------------------------------------------------------------------------------------

PIECES = st.sampled_from([
    "```python\n", "```\n", "~~~", "<think>", "</think>", '{"code": "', '"}', ">>> ", "... ", "+", "@@", "\t", "    ",
    "\r\n", "\n", "\n\n", "def quicksort(arr):\n", "    return arr\n", "class Stack:\n", "    def push(self): pass\n",
    "def test_a():\n", "    assert quicksort([1]) == [1]\n", "import re\n", "from x import *\n", "'''", '"""', "(", ")",
    "lambda: ", "“", "’", "\u00a0", "\0", "\ud800", "é", "if __name__ == '__main__':\n", "@pytest.fixture\n", "async ",
    "print(quicksort(1))\n", "x = [1]\n", "for a in x:\n", "global y\n", "# rest of the code here\n", "pass\n", "\\", "{",
    "    nonlocal x\n", "    from x import *\n", "    global arr\n", "lambda a, a: 1\n", "await x\n", "break\n",
    "f'{x!r:>{y}}'", "@pytest.mark.parametrize('a,b', [(1, 2)])\n", "self.assertEqual(1, 2)\n", "yield\n", "\x0c", "del x\n",
])  # fmt: skip
REPLIES = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))


@settings(max_examples=400, deadline=None)
@given(REPLIES, st.booleans(), st.sampled_from([SPEC, STACK, FREE]))
def test_any_text_is_a_module_that_parses_or_a_reply_error(text: str, truncated: bool, spec: Spec) -> None:
    try:
        module = read_code(text, spec, truncated=truncated)
    except ReplyError as error:
        reason = str(error)
    else:
        reason = f"read {len(ast.parse(module.code).body)} statements"
    assert reason.strip()


@settings(max_examples=400, deadline=None)
@given(REPLIES, st.booleans(), st.sampled_from([SPEC, STACK, FREE]))
def test_any_text_is_tests_that_parse_or_a_reply_error(text: str, truncated: bool, spec: Spec) -> None:
    try:
        tests, _ = read_tests(text, spec, truncated=truncated)
    except ReplyError as error:
        reason = str(error)
    else:
        reason = " ".join(ast.dump(ast.parse(f"{test.preamble}\n{test.source}")) for test in tests)
    assert reason.strip()


BODIES = st.sampled_from([
    "return arr", "if arr:\n        return 1\n    return 0", "total = 0\n    for x in arr:\n        total += x\n    return total",
    "return [f'{x!r:>3}' for x in arr]", '"""Doc: ```python\n    >>> 1\n    ```\n    """\n    return {**{}, 1: arr}',
    "return (lambda *a, k=1, **kw: (a, k, kw))(arr)", "try:\n        return arr[0]\n    except IndexError:\n        raise",
    "with open(arr) as f:\n        return f.read()", "return '“quoted” – ’'", "yield from arr",
])  # fmt: skip
HELPERS = st.sampled_from([
    "import math\n", "from typing import List, Optional\n", "LIMIT = 10**6  # the bound\n", "CACHE: dict[int, int] = {}\n",
    "def _half(x):\n    # a comment\n    return x // 2\n", "class Node:\n    pass\n", "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
    "@staticmethod\ndef wrapped(x):\n    return x\n", "\n# A comment on its own.\n",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(HELPERS, max_size=4), BODIES, st.booleans())
def test_a_clean_module_comes_back_unchanged(helpers: list[str], body: str, in_a_fence: bool) -> None:
    code = "\n".join([*helpers, f"def quicksort(arr):\n    {body}\n"]).strip("\n") + "\n"
    assert read(fenced(code) if in_a_fence else code) == Module(code)


@pytest.mark.parametrize(
    "text",
    [
        "```python\n" * 2000,
        "def f(x):\n" * 2000,
        "word word word\n" * 5000,
        "```python\n" + "def test_a():\n    assert quicksort([1]) == [1]\n" * 1000,
        "```python\n" + "".join(f"x{i} = quicksort({i})\n" for i in range(2000)),
        "(" * 5000,
        "“" * 3000,
        "  def f():\n     x\n   y\n" * 500,
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.timeout(30)
def test_a_long_reply_is_read_in_bounded_time(text: str) -> None:
    for reader in (read_code, read_tests):
        with pytest.raises(ReplyError):
            reader(text, function_spec("absent(one, two, three)"), truncated=True)


def test_a_program_keeps_what_runs_at_its_top_level() -> None:
    spec = Spec("s", "Write a program.", program=True)
    code = "import sys\n\ntotal = sum(map(int, sys.argv[1:]))\nprint(total)\n"
    assert read(fenced(code), spec).code == code


@pytest.mark.parametrize(
    ("demo", "kept"),
    [
        ('print(f(1))\nTEXT = """\n# of the text"""', 'TEXT = """\n# of the text"""'),
        ("@(\n    pytest.fixture\n)\ndef test_f():\n    assert f(1)", ""),
    ],
)
def test_what_demonstrates_is_cut_out_whole_and_nothing_else(demo: str, kept: str) -> None:
    code = f"def f(x):\n    return x\n\n\n{demo}\n"
    module = read_code(code, function_spec("f(x)"), truncated=False)
    assert module.code == f"def f(x):\n    return x\n\n\n{kept}".rstrip() + "\n"


def test_a_definition_below_a_decorator_of_several_lines_may_be_cut_off() -> None:
    with pytest.raises(ReplyError, match="cut off"):
        read_code("@(\n    one\n)\ndef f(x):\n    return x", function_spec("f(x)"), truncated=True)
