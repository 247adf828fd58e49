"""CodeWriter: spec -> candidates; for models that go on with a last assistant message (llama.cpp's server does)
the reply is begun with the module as far as the spec gives it.

A small model that has to write the signature and the docstring again spends its tokens on them, and opens the body
with checks that nobody asked for; one that goes on after the spec writes the body (docs/benchmark.md).
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import KW_ONLY, dataclass, replace

from ..records import Candidate, CandidateOrigin, Message, Reply, Request, Signature, Spec, fingerprint
from ..reply import read_code
from ..syntax.imports import add_missing_imports
from ..syntax.source import statements
from .ask import Ask, ReplyLengths, ask_until_readable
from .prompt import messages, unsaid, with_all_examples

FENCE = "```"
LONGEST_DOCSTRING = 2000
"""Characters; a longer spec stays in the prompt alone."""
_INDENT = "   "
"""Where the body begins, so that the block can't be closed before it: three spaces, since the tokens of the Qwen
family (as of others) have the fourth at the beginning of the next word."""


def beginning(spec: Spec) -> str:
    """The prefill of the reply to `spec`: an open code block, and the module up to the indentation of its body."""
    opened = f"{FENCE}python\n"
    if spec.signature and spec.signature.lacks_parameters:
        said = _said(spec).split("\n") if len(spec.text) <= LONGEST_DOCSTRING else []
        comment = "".join(f"# {line}".rstrip() + "\n" for line in said)
        return opened + comment + spec.signature.text.partition("...")[0]
    module = spec.signature and (_stub(spec.text, spec.signature) or _with_docstring(spec, spec.signature))
    return f"{opened}{module}{_INDENT}" if module else opened


def whole(begun: str, text: str) -> str:
    """The reply that begins with `begun`, whether the server continued it, repeated it, or answered anew."""
    if text.lstrip().startswith(FENCE):
        return text
    return begun + (" " if begun.endswith(_INDENT) and not text[:1].isspace() else "") + text


def _stub(text: str, signature: Signature) -> str | None:
    """`text` where it is Python that ends in a docstring of the entry point, as a benchmark's stubs do."""
    match statements(text):
        case [*_, ast.FunctionDef(name=name, body=[ast.Expr(value=ast.Constant(value=str()))])] if (
            name == signature.name
        ):
            return text.strip("\n") + "\n"
    return None


def _with_docstring(spec: Spec, signature: Signature) -> str:
    """The header of the entry point, the imports that its types need, and the spec as its docstring."""
    header = signature.text.rstrip().removesuffix(":")
    shown = _said(spec, header).replace('"""', "'''")
    end = "\n" if "\n" in shown or shown.endswith(('"', "\\")) else ""
    raw = "r" if "\\" in shown else ""
    docstring = f'{raw}"""{shown}{end}"""\n' if 0 < len(shown) <= LONGEST_DOCSTRING else ""
    try:
        module, _ = add_missing_imports(f"{header}:\n    pass\n")
    except ValueError:
        return ""
    return module.removesuffix("    pass\n") + textwrap.indent(docstring, "    ")


def _said(spec: Spec, header: str = "") -> str:
    """Return the text of the spec without a line that is its header, and the examples that it does not hold."""
    lines = [line for line in spec.text.split("\n") if not header or line.strip().rstrip(" :.") != header]
    text = "\n".join([*lines, *(example.source_line for example in unsaid(spec))])
    return re.sub(r"\n{3,}", "\n\n", text).strip()


@dataclass(frozen=True, slots=True)
class CodeWriter:
    """Drafts `user_code.py` from the spec alone: the first draft at temperature 0, the others warmer. With `begin`
    the reply is begun for the model, which only goes on with it."""

    ask: Ask
    lengths: ReplyLengths
    _: KW_ONLY
    temperature: float
    seed: int
    begin: bool = False

    def draft(self, spec: Spec, number: int, round_number: int) -> Candidate:
        """Draft `number` (from 0); one after the first round is told of answers that came later. Raises ReplyError
        when no module can be read out of the replies."""
        told = spec if round_number == 1 else with_all_examples(spec)
        begun = beginning(told) if self.begin else ""
        request = Request(
            role="code_writer",
            messages=messages(told, "code_writer") + ((Message("assistant", begun),) if begun else ()),
            max_tokens=self.lengths.code,
            temperature=0.0 if number == 0 else self.temperature,
            seed=self.seed + number,
            purpose=f"draft {number + 1}",
        )
        origin: CandidateOrigin = "draft" if round_number == 1 else "redraft"

        def ask(request: Request) -> Reply:
            reply = self.ask(request)
            begins = request.messages[-1].role == "assistant"
            return replace(reply, text=whole(begun, reply.text)) if begins else reply

        def read(reply: Reply) -> Candidate:
            if begun and reply.text.startswith(begun):
                # What drafts are told beside the spec, of tests that may be wrong too, is no part of the module.
                own = beginning(replace(told, examples=()))
                reply = replace(reply, text=own + reply.text.removeprefix(begun))
            return read_candidate(reply, spec, origin, round_number, f"draft{number}")

        return ask_until_readable(ask, request, read)


def read_candidate(
    reply: Reply, spec: Spec, origin: CandidateOrigin, round_number: int, label: str, parent: str | None = None
) -> Candidate:
    """The candidate in a reply; its id is `label` and a fingerprint of its code. Raises ReplyError."""
    module = read_code(reply.text, spec, truncated=reply.finish != "stop")
    return Candidate(
        id=f"{label}-{fingerprint(module.code)}",
        code=module.code,
        origin=origin,
        round=round_number,
        parent=parent,
        mended=module.mended,
    )
