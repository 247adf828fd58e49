"""The beginning of a reply: the module as far as the spec gives it, for models that go on with a last assistant
message (llama.cpp's server does).

A small model that has to write the signature and the docstring again spends its tokens on them, and opens the body
with checks that nobody asked for; one that goes on after the spec writes the body (docs/benchmark.md).
"""

from __future__ import annotations

import ast
import re
import textwrap

from ..records import Signature, Spec
from ..syntax.imports import add_missing_imports
from ..syntax.source import parse
from .prompt import unsaid

FENCE = "```"
LONGEST_DOCSTRING = 2000
"""Characters; a longer spec stays in the prompt alone."""
_INDENT = "   "
"""Where the body begins, so that the block can't be closed before it: three spaces, since the tokens of the Qwen
family (as of others) have the fourth at the beginning of the next word."""


def beginning(spec: Spec) -> str:
    """The prefill of the reply to `spec`: an open code block, and in it what the spec says of the module, up to
    the indentation of its body."""
    opened = f"{FENCE}python\n"
    module = spec.signature and (_stub(spec.text, spec.signature) or _with_docstring(spec, spec.signature))
    return f"{opened}{module}{_INDENT}" if module else opened


def whole(begun: str, text: str) -> str:
    """The reply that begins with `begun`, whether the server sent `text` as its continuation, repeated the
    beginning, or answered anew."""
    if text.lstrip().startswith(FENCE):
        return text
    return begun + (" " if begun.endswith(_INDENT) and not text[:1].isspace() else "") + text


def _stub(text: str, signature: Signature) -> str | None:
    """`text` where it is Python that ends in a docstring of the entry point, as a benchmark's stubs do."""
    try:
        body = parse(text).body
    except ValueError:
        return None
    match body:
        case [*_, ast.FunctionDef(name=name, body=[ast.Expr(value=ast.Constant(value=str()))])] if (
            name == signature.name
        ):
            return text.strip("\n") + "\n"
    return None


def _with_docstring(spec: Spec, signature: Signature) -> str:
    """The header of the entry point, the imports that its types need, and the spec as its docstring."""
    header = signature.text.rstrip().removesuffix(":")
    lines = [line for line in spec.text.split("\n") if line.strip().rstrip(" :.") != header]
    text = "\n".join([*lines, *(example.source_line for example in unsaid(spec))])
    shown = re.sub(r"\n{3,}", "\n\n", text).replace('"""', "'''").strip()
    end = "\n" if "\n" in shown or shown.endswith(('"', "\\")) else ""
    raw = "r" if "\\" in shown else ""
    docstring = f'{raw}"""{shown}{end}"""\n' if 0 < len(shown) <= LONGEST_DOCSTRING else ""
    try:
        module, _ = add_missing_imports(f"{header}:\n    pass\n")
    except ValueError:
        return ""
    return module.removesuffix("    pass\n") + textwrap.indent(docstring, "    ")
