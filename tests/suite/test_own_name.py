"""Tests that import the file under test by its own name: they come to mean `user_code`, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.suite.own_name import as_user_code


@pytest.mark.parametrize(
    ("tests", "meant"),
    [
        ("from calc import add", "from user_code import add"),
        ("from  calc  import add as plus, sub", "from user_code import add as plus, sub"),
        ("from calc import (\n  add,  # two\n  sub,\n)", "from user_code import (\n  add,  # two\n  sub,\n)"),
        ("import calc", "import user_code as calc"),
        ("import os, calc as c", "import os, user_code as c"),
        ("import calc, \\\n    os", "import calc, \\\n    os"),
        ("é = 'é'; import calc; x = 1", "é = 'é'; import user_code as calc; x = 1"),
        ("def test_a():\n    from calc import add\n", "def test_a():\n    from user_code import add\n"),
        ("from src.calc import add", "from user_code import add"),
        ("from src import calc", "import user_code as calc"),
        ("from . import calc", "import user_code as calc"),
        ("from .calc import add", "from user_code import add"),
        ("from calculus import add", "from calculus import add"),
        ("from other.calc import add", "from other.calc import add"),
        ("import user_code", "import user_code"),
        ("text = 'from calc import add'", "text = 'from calc import add'"),
    ],
)  # fmt: skip
def test_imports_by_the_files_own_name_are_of_user_code(tests: str, meant: str) -> None:
    assert as_user_code(tests, Path("src/calc.py"), "") == (meant, "")


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("def first(): ...", "from user_code import first"),
        ("def second(): ...", "import user_code as first"),
        ("def first(:", "import user_code as first"),
    ],
)
def test_a_name_that_folder_file_and_function_have_is_the_function(code: str, meant: str) -> None:
    assert as_user_code("from first import first", Path("first/first.py"), code) == (meant, code)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("with patch('calc.open'): pass", "with patch('user_code.open'): pass"),
        ("é = 'é'; a = mock.patch('src.calc.os.path', 1)", "é = 'é'; a = mock.patch('user_code.os.path', 1)"),
        ("monkeypatch.setattr('calc.N', patch('calc'))", "monkeypatch.setattr('user_code.N', patch('user_code'))"),
        ("@patch.dict('calc.CONFIG', unit='calc')", "@patch.dict('user_code.CONFIG', unit='calc')"),
        ("add('calc.txt', dict('calc.x'), patch('calculus.x'))",) * 2,
    ],
)  # fmt: skip
def test_texts_that_name_what_is_replaced_name_user_code(line: str, meant: str) -> None:
    after = "\ndef f(): ..." if line.startswith("@") else ""
    made, _ = as_user_code(f"from calc import add\n{line}{after}", Path("src/calc.py"), "")
    assert made == f"from user_code import add\n{meant}{after}"


def test_code_has_the_name_by_which_the_tests_import_it() -> None:
    code = "log = getLogger(__name__); é = __name__; f'{__name__}'\nif __name__ == '__main__':\n    main()"
    named = "log = getLogger('calc'); é = 'calc'; f'{__name__}'\nif __name__ == '__main__':\n    main()"
    assert as_user_code("import calc", Path("src/calc.py"), code)[1] == named
    assert as_user_code("import user_code", Path("src/calc.py"), code)[1] == code
