"""How a reply is begun, and put together again with what the model wrote after it."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from agents.records import Example, Reply, Request, Spec
from agents.roles.ask import SMALL_MODEL
from agents.roles.code_writer import LONGEST_DOCSTRING, CodeWriter, beginning, whole
from agents.spec import read_spec


def spec(text: str) -> Spec:
    return read_spec(text, origin="argument")


def module(text: str) -> str:
    """Return what stands after the opened block."""
    fence, _, code = beginning(spec(text)).partition("\n")
    assert fence == "```python"
    return code.removesuffix("   ")


STUB = '''from typing import List


def total(xs: List[int]) -> int:
    """The sum.
    >>> total([1])
    1
    """
'''


def test_a_stub_is_its_own_beginning() -> None:
    assert module(STUB) == STUB


def test_prose_becomes_the_docstring_of_the_header_with_the_imports_that_its_types_need() -> None:
    begun = module("Write first(xs: List[int]) -> Optional[int] that returns the first item.")
    assert begun.startswith("from typing import List, Optional\n\n\ndef first(xs: List[int]) -> Optional[int]:\n")
    assert ast.get_docstring(ast.parse(begun).body[-1]) == (  # type: ignore[arg-type]
        "Write first(xs: List[int]) -> Optional[int] that returns the first item."
    )


def test_a_line_that_is_the_header_is_not_said_twice() -> None:
    begun = module("Double it.\n\ndef double(x: int) -> int: ...\n\nassert double(2) == 4")
    assert begun.count("def double") == 1
    assert "assert double(2) == 4" in begun


@pytest.mark.parametrize(
    "text",
    [
        'Implement f(x: str) -> str. It returns "x"',
        "Implement f(x: str) -> str. It escapes \\d and ends in \\",
        'Implement f(x: str) -> str.\nNo """ in here',
        "Implement a class Stack: class Stack",
    ],
)
def test_whatever_the_text_holds_the_beginning_is_python_once_it_has_a_body(text: str) -> None:
    begun = module(text)
    assert begun == "" or ast.parse(f"{begun}    pass\n")


def test_a_long_spec_stays_in_the_prompt_alone() -> None:
    long = f"Implement f(x: int) -> int. {'It counts. ' * LONGEST_DOCSTRING}"
    assert module(long) == "def f(x: int) -> int:\n"


def test_without_a_signature_only_the_block_is_opened() -> None:
    assert beginning(spec("Do something useful.")) == "```python\n"


def test_of_a_function_without_known_parameters_the_name_is_begun() -> None:
    text = "Write a function called chunk.\n\nIt is fast."
    assert module(text) == "# Write a function called chunk.\n#\n# It is fast.\ndef chunk("
    assert module("Write an async function called fetch.").endswith("\nasync def fetch(")
    assert module(text + "x" * LONGEST_DOCSTRING) == "def chunk("


BEGUN = beginning(spec("Implement double(x: int) -> int."))
BODY = " return 2 * x\n```"


@pytest.mark.parametrize(
    "sent",
    [BODY, BODY[1:], BEGUN + BODY, "```python\ndef double(x: int) -> int:\n    return 2 * x\n```"],
    ids=["continued", "stripped by the server", "repeated by the server", "answered anew"],
)
def test_the_module_is_read_whatever_a_server_makes_of_a_begun_reply(sent: str) -> None:
    def ask(request: Request) -> Reply:
        assert request.messages[-1].role == "assistant"
        return Reply(sent, "stop")

    writer = CodeWriter(ask, SMALL_MODEL, temperature=0.8, seed=0, begin=True)
    code = writer.draft(spec("Implement double(x: int) -> int."), 0, 1).code
    namespace: dict[str, object] = {}
    exec(code, namespace)
    assert code.count("def double") == 1
    assert namespace["double"](4) == 8  # type: ignore[operator]


def test_examples_that_the_model_is_told_are_not_in_the_module() -> None:
    def ask(request: Request) -> Reply:
        assert "double(2) == 5" in request.messages[-1].content
        return Reply(BODY, "stop")

    given = spec("Implement double(x: int) -> int.")
    told = replace(given, examples=(Example("assert double(2) == 5", "double(2) == 5"),))
    writer = CodeWriter(ask, SMALL_MODEL, temperature=0.8, seed=0, begin=True)
    assert writer.draft(told, 0, 2).code == writer_of(BODY).draft(given, 0, 2).code


def writer_of(sent: str) -> CodeWriter:
    return CodeWriter(lambda _: Reply(sent, "stop"), SMALL_MODEL, temperature=0.8, seed=0, begin=True)


def test_a_correction_shows_the_whole_reply_and_ends_with_the_user() -> None:
    asked: list[Request] = []

    def ask(request: Request) -> Reply:
        asked.append(request)
        return Reply(" return (\n```" if len(asked) == 1 else f"```python\ndef double(x):\n   {BODY}", "stop")

    writer = CodeWriter(ask, SMALL_MODEL, temperature=0.8, seed=0, begin=True)
    writer.draft(spec("Implement double(x: int) -> int."), 0, 1)
    assert [message.role for message in asked[1].messages] == ["system", "user", "assistant", "user"]
    assert asked[1].messages[2].content == BEGUN + " return (\n```"


def test_whole_adds_the_beginning_to_a_continuation_alone() -> None:
    assert whole("```python\n", "x = 1\n```") == "```python\nx = 1\n```"
    assert whole("```python\n", "\n```python\nx = 1\n```") == "\n```python\nx = 1\n```"
