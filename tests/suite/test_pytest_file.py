"""Splitting a pytest module into tests, and rendering tests as one module."""

from __future__ import annotations

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.records import Example, Signature, Spec, Test
from agents.suite import example_tests, render, split

MODULE = '''"""What the tests are about."""
from __future__ import annotations
import math, os.path
import pytest
from user_code import first, second

LIMIT = 3
UNUSED = 4

def doubled(value):
    """Twice
the value"""
    return [LIMIT, value, value]

@pytest.fixture
def box():
    return doubled(1)

@pytest.mark.parametrize("x,y", [(1, 2),
    (3, 4)])
def test_cases(x, y):
    assert first(x) == y

async def test_box(box):
    assert second(box) is None

def test_box(box):
    assert first(box) == 1

class TestMany:
    def test_pi(self):
        assert math.pi > first(3)

def test_text():
    assert first(LIMIT) == """x
y"""

if __name__ == "__main__":
    pytest.main()
'''


def by_id(tests: tuple[Test, ...]) -> dict[str, Test]:
    return {test.id: test for test in tests}


def test_every_test_is_found_in_order_under_a_name_of_its_own() -> None:
    ids = [test.id for test in split(MODULE, "user")]
    assert ids == ["test_cases", "test_box", "test_box_2", "TestMany", "test_text"]


def test_a_renamed_test_is_renamed_in_its_source() -> None:
    assert by_id(split(MODULE, "user"))["test_box_2"].source.startswith("def test_box_2(box):")


def test_decorators_belong_to_the_source() -> None:
    assert by_id(split(MODULE, "user"))["test_cases"].source.startswith("@pytest.mark.parametrize(")


def test_the_preamble_holds_what_is_used_and_nothing_else() -> None:
    preamble = by_id(split(MODULE, "user"))["test_cases"].preamble
    assert preamble == "from __future__ import annotations\nimport pytest\nfrom user_code import first"


def test_fixtures_bring_the_definitions_that_they_use() -> None:
    preamble = by_id(split(MODULE, "user"))["test_box"].preamble
    assert "def box():" in preamble
    assert "def doubled(value):" in preamble
    assert "LIMIT = 3" in preamble
    assert "UNUSED" not in preamble


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("LIMITS = []\nLIMITS.append(3)", "changed afterwards"),
        ("@pytest.fixture(autouse=True)\ndef seeded():\n    yield", "a fixture that asks for itself"),
        ("from user_code import *", "may bind any name"),
    ],
)
def test_statements_that_act_without_being_named_are_kept(line: str, reason: str) -> None:
    (test,) = split(f"import pytest\n{line}\ndef test_one():\n    assert 1 == 1\n", "user")
    assert line in test.preamble, reason


@pytest.mark.parametrize(
    "line",
    [
        "done = print()",
        "class Setup:\n    done = print()",
        "def helper(x=print()):\n    pass",
        "@print\ndef helper():\n    pass",
        "test_one = None",
        "for name in dir():\n    last = name",
        "def pytest_generate_tests(metafunc):\n    pass",
        "@pytest.fixture(**{})\ndef maybe_autouse():\n    yield",
        "if __name__ != '__main__':\n    done = 1",
        "if __name__ == '__main__':\n    pass\nelse:\n    done = 1",
    ],
)
def test_what_runs_with_a_users_file_belongs_to_each_of_its_tests(line: str) -> None:
    (test,) = split(f"import pytest\n{line}\ndef test_one():\n    assert 1 == 1\n", "user")
    assert line in test.preamble


def test_what_only_binds_names_belongs_to_the_tests_that_use_them() -> None:
    lines = "LIMIT = [1, -2]\ndef helper(x=3):\n    print()\nclass Box:\n    size = 3\n    def grow(self): ...\n"
    (test,) = split(f"{lines}def test_one():\n    assert 1 == 1\n", "user")
    assert test.preamble == ""


def test_a_fixture_asked_for_by_its_name_is_kept() -> None:
    source = "import pytest\n@pytest.fixture\ndef seeded():\n    yield\n"
    (test,) = split(f'{source}@pytest.mark.usefixtures("seeded")\ndef test_one():\n    assert 1 == 1\n', "user")
    assert "def seeded" in test.preamble


def test_a_fixture_that_a_fixture_asks_for_by_its_name_is_kept() -> None:
    source = "import pytest\n@pytest.fixture\ndef disk(tmp_path):\n    return tmp_path\n"
    source += "@pytest.fixture(params=['disk'])\ndef store(request):\n"
    source += "    return request.getfixturevalue(request.param)\n"
    (test,) = split(f"{source}def test_one(store):\n    assert store\n", "user")
    assert "def disk" in test.preamble


def test_windows_line_endings_and_a_byte_order_mark_are_read() -> None:
    (test,) = split("\ufeffdef test_one():\r\n    assert 1 == 1\r\n", "user")
    assert test.source == "def test_one():\n    assert 1 == 1"


@pytest.mark.parametrize("source", ["def test_(:", "def test_a():\n    x = '\0'", "(" * 3000 + ")" * 3000])
def test_text_that_is_not_python_is_refused_with_a_reason(source: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        split(source, "user")


def test_a_test_hidden_in_a_block_is_not_lost_silently() -> None:
    with pytest.raises(ValueError, match="line 1: test_one is defined inside a block"):
        split("if 1:\n    def test_one():\n        assert 1\n", "user")


def test_rendered_tests_split_into_the_same_tests() -> None:
    tests = split(MODULE, "user")
    assert split(render(tests), "user") == tests


def test_shared_statements_are_written_once() -> None:
    text = render(split(MODULE, "user"))
    assert text.count("def doubled(") == 1
    assert text.count("from user_code import first, second") == 1


def namespace(source: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(source, "suite", "exec"), names)
    return names


RIVALS = (
    *split(
        "LIMIT = 1\ndef made(x=LIMIT):\n    return [LIMIT, x]\ndef test_a():\n    assert made() == [1, 1]\n",
        "user",
    ),
    *split(
        "LIMIT = 2\ndef made(x=LIMIT):\n    return [LIMIT, x]\ndef test_b():\n    assert made() == [2, 2]\n",
        "user",
    ),
    *split("def made(LIMIT):\n    return LIMIT\ndef test_c():\n    assert made(LIMIT=7) == 7\n", "user"),
    *split("from math import floor as made\ndef test_d():\n    assert made(1.5) == 1\n", "user"),
    *split("def max(*_):\n    return 0\ndef test_e():\n    assert max(1, 2) == 0\n", "user"),
    *split("def test_f():\n    assert max(1, 2) == 2\n", "user"),
    *split("def test_a():\n    assert sum([1, 2]) == 3\n", "user"),
)


def test_rival_definitions_under_one_name_keep_their_own_meaning() -> None:
    names = namespace(render(RIVALS))
    tests = [value for name, value in names.items() if name.startswith("test_") and callable(value)]
    assert len(tests) == len(RIVALS)
    for test in tests:
        test()


def test_a_rival_that_a_function_declares_global_keeps_its_own_meaning() -> None:
    one, other = (
        f"count = {start}\ndef more():\n    global count\n    count += 1\n    return count\n"
        f"def test_{start}():\n    assert more() == {start + 1}\n"
        for start in (1, 5)
    )
    names = namespace(render([*split(one, "user"), *split(other, "generated")]))
    for name in ("test_1", "test_5"):
        test = names[name]
        assert callable(test)
        test()


def test_rival_fixtures_are_told_apart() -> None:
    halves = [
        f"import pytest\n@pytest.fixture\ndef box():\n    return {n}\ndef test_{n}(box):\n    assert box == {n}\n"
        for n in (1, 2)
    ]
    text = render([test for half in halves for test in split(half, "user")])
    assert "def test_2(box_2):\n    assert box_2 == 2" in text


def test_a_base_class_of_tests_comes_before_its_heirs() -> None:
    source = "class TestBase:\n    def test_x(self):\n        assert 1\n\nclass TestHeir(TestBase):\n    y = 1\n"
    tests = split(source, "user")
    assert [test.id for test in tests] == ["TestBase", "TestHeir"]
    rendered = render(tests[::-1])
    assert rendered.count("class TestBase") == 1
    assert rendered.index("class TestBase") < rendered.index("class TestHeir")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["test_a", "test_b", "test_c"]),
            st.sampled_from(["x = {n}", "import math", "def x(): return {n}", "from user_code import f"]),
            st.integers(0, 2),
        ),
        max_size=6,
    )
)
def test_any_mix_of_tests_renders_to_a_stable_suite(parts: list[tuple[str, str, int]]) -> None:
    tests = [
        test
        for name, line, n in parts
        for test in split(f"{line.format(n=n)}\ndef {name}():\n    assert [x, math, f, {n}]\n", "generated")
    ]
    once = split(render(tests), "generated")
    assert len(once) == len(set(tests))
    assert split(render(once), "generated") == once


def spec(*examples: str, name: str | None = "slugify") -> Spec:
    signature = Signature(name, "function", f"def {name}(text: str) -> str") if name else None
    return Spec("s", "text", signature, tuple(Example(example, example) for example in examples))


def test_examples_become_trusted_tests_numbered_from_one() -> None:
    tests = example_tests(spec('assert slugify("A") == "a"', 'assert slugify("") == ""'))
    assert [test.id for test in tests] == ["test_spec_example_1", "test_spec_example_2"]
    assert all(test.trusted for test in tests)
    assert tests[0].source == 'def test_spec_example_1():\n    assert slugify("A") == "a"'
    assert tests[0].preamble == "from user_code import slugify"


def test_an_example_gets_the_imports_that_it_needs() -> None:
    (test,) = example_tests(spec("with pytest.raises(ValueError):\n    slugify(decode(math.pi))"))
    assert test.preamble == "import math\nimport pytest\nfrom user_code import decode, slugify"


@pytest.mark.parametrize("name", ["sqrt", "sum"])
def test_an_entry_point_named_like_a_library_function_comes_from_the_code(name: str) -> None:
    (test,) = example_tests(spec(f"assert {name}(4) == 2", name=name))
    assert test.preamble == f"from user_code import {name}"


def test_multi_line_strings_in_an_example_keep_their_text() -> None:
    (test,) = example_tests(spec("assert slugify('''a\nb''') == 'a-b'"))
    call = next(node for node in ast.walk(ast.parse(test.source)) if isinstance(node, ast.Call))
    assert isinstance(call.args[0], ast.Constant)
    assert call.args[0].value == "a\nb"


def test_no_tests_render_to_a_module_without_tests() -> None:
    assert split(render([]), "user") == ()


def test_tests_that_need_more_text_than_fits_are_refused() -> None:
    """Each has all that acts above it: a file of some hundred KB would become any amount of memory."""
    acting = "".join(f"print({number}, {'a' * 90!r})\n" for number in range(3000))
    tests = "".join(f"def test_{number}():\n    assert first({number})\n" for number in range(120))
    assert len(split(acting + "def test_a():\n    assert first(1)\n", "user")) == 1
    with pytest.raises(ValueError, match="too much text above"):
        split(acting + tests, "user")


def test_many_tests_with_a_long_preamble_are_rendered_in_time() -> None:
    helpers = [f"def h{n}(x):\n    return {f'h{n - 1}(x)' if n else 'f(x)'}\n" for n in range(150)]
    source = "from user_code import f\n" + "".join(helpers)
    tests = split(source + "".join(f"def test_{n}():\n    assert h149({n}) == {n}\n" for n in range(60)), "user")
    begun = time.process_time()
    assert [test.id for test in split(render(tests), "user")] == [test.id for test in tests]
    assert time.process_time() - begun < 4
