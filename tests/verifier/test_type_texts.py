"""Texts that name types: nothing that the code says is run where the tests are."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.sandbox import SandboxLimits, open_sandbox
from agents.verifier import Verifier
from agents.verifier.inside.test_process.run_texts import restrict_type_texts

TESTS = """import user_code
from hypothesis import given
from user_code import f

@given(n=...)
def test_a(n: {}):
    assert f(n) == n + 1
"""
FORGED = "T = 'globals().update(f=lambda n, f=f: 1 + f(n)) or int'\ndef f(n):\n    return n\n"


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(open_sandbox("none"), SandboxLimits(wall_seconds=60), call_seconds=20) as opened:
        yield opened


@pytest.mark.parametrize("annotation", ["user_code.T", "'user_code.T'"])
def test_a_text_of_the_code_is_not_run_as_a_type(annotation: str, verifier: Verifier) -> None:
    verdict = verifier.verify(FORGED, TESTS.format(annotation))
    assert verdict.kind == "failed"
    assert "names types alone" in verdict.outcomes[0].detail


@pytest.mark.parametrize("named", ["int", "'int'"])
def test_what_the_code_has_names_a_type(named: str, verifier: Verifier) -> None:
    code = f"T = {named}\ndef f(n):\n    return n + 1\n"
    assert verifier.verify(code, TESTS.format("user_code.T")).kind == "passed"


@pytest.fixture
def tests(tmp_path: Path) -> Iterator[Path]:
    """A file of tests, in a process where `typing` is restricted."""
    path = tmp_path / "test_of_types.py"
    path.write_text("def f(x: Annotated[int, g(1)]) -> int: ...\n")
    begin = typing.ForwardRef.__init__
    restrict_type_texts(path)
    yield path
    typing.ForwardRef.__init__ = begin  # type: ignore[method-assign]


@pytest.mark.parametrize("text", ["g()", "[x for x in y]", "f'{x}'", "a + b", "a[b:c]", "(x := y)", "*g()"])
@pytest.mark.usefixtures("tests")
def test_a_text_that_does_more_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names types alone"):
        typing.ForwardRef(text)


@pytest.mark.parametrize("text", ["int", "a.b[int, 'c'] | None", "Literal[-1, 'f()']", "Annotated[int,  g(1)]"])
@pytest.mark.usefixtures("tests")
def test_names_of_types_and_annotations_of_the_tests_are_read(text: str) -> None:
    assert typing.ForwardRef(text).__forward_arg__ == text


def test_a_package_reads_its_own_annotations(tests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tests.parent / "package_with_types.py").write_text("import typing\nA = typing.List['f(1)']\n")
    monkeypatch.syspath_prepend(tests.parent)
    import package_with_types  # type: ignore[import-not-found]

    assert package_with_types.A
