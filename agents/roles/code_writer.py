"""CodeWriter: spec -> candidates; with a prefill for models that continue a last assistant message (llama.cpp
does).

A small model that has to write signature and docstring again spends its tokens on them, and begins the body with
checks that the spec does not ask for; one that continues a prefill writes the body (docs/benchmark.md).
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
"""Characters; a longer spec is not repeated in the prefill."""
_INDENT = "   "
"""End of the prefill, so that the model can't close the block before the body. Three spaces: in the tokens of the
Qwen family (and others) the fourth belongs to the next word."""


def beginning(spec: Spec) -> str:
    """Return the prefill for `spec`: an open code block, and the module up to its body's indentation."""
    opened = f"{FENCE}python\n"
    if spec.signature and spec.signature.lacks_parameters:
        said = _spec_text(spec).split("\n") if len(spec.text) <= LONGEST_DOCSTRING else []
        comment = "".join(f"# {line}".rstrip() + "\n" for line in said)
        return opened + comment + spec.signature.text.partition("...")[0]
    module = spec.signature and (_stub(spec.text, spec.signature) or _with_docstring(spec, spec.signature))
    return f"{opened}{module}{_INDENT}" if module else opened


def whole(begun: str, text: str) -> str:
    """Return the whole reply: `begun` and `text`, or `text` alone where it begins with a code block of its own."""
    if text.lstrip().startswith(FENCE):
        return text
    return begun + (" " if begun.endswith(_INDENT) and not text[:1].isspace() else "") + text


def _stub(text: str, signature: Signature) -> str | None:
    """Return `text` if it is Python that ends in a docstring of the entry point (a stub), else None."""
    match statements(text):
        case [*_, ast.FunctionDef(name=name, body=[ast.Expr(value=ast.Constant(value=str()))])] if (
            name == signature.name
        ):
            return text.strip("\n") + "\n"
    return None


def _with_docstring(spec: Spec, signature: Signature) -> str:
    """Return the header of the entry point, the imports that its types need, and the spec as its docstring."""
    header = signature.text.rstrip().removesuffix(":")
    shown = _spec_text(spec, header).replace('"""', "'''")
    end = "\n" if "\n" in shown or shown.endswith(('"', "\\")) else ""
    raw = "r" if "\\" in shown else ""
    docstring = f'{raw}"""{shown}{end}"""\n' if 0 < len(shown) <= LONGEST_DOCSTRING else ""
    try:
        module, _ = add_missing_imports(f"{header}:\n    pass\n")
    except ValueError:
        return ""
    return module.removesuffix("    pass\n") + textwrap.indent(docstring, "    ")


def _spec_text(spec: Spec, header: str = "") -> str:
    """Return the text of the spec without the line of its header, and with the examples that it lacks."""
    lines = [line for line in spec.text.split("\n") if not header or line.strip().rstrip(" :.") != header]
    text = "\n".join([*lines, *(example.source_line for example in unsaid(spec))])
    return re.sub(r"\n{3,}", "\n\n", text).strip()


@dataclass(frozen=True, slots=True)
class CodeWriter:
    """Drafts `user_code.py` from the spec alone: the first draft at temperature 0, the others at `temperature`.
    With `begin` the request has a prefill."""

    ask: Ask
    lengths: ReplyLengths
    _: KW_ONLY
    temperature: float
    seed: int
    begin: bool = False

    def draft(self, spec: Spec, number: int, round_number: int) -> Candidate:
        """Return draft `number` (from 0); after the first round its prompt has also answers that came later.
        Raises ReplyError when no module can be read."""
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
                # The module's docstring must not have the told tests: these may be wrong.
                own = beginning(replace(told, examples=()))
                reply = replace(reply, text=own + reply.text.removeprefix(begun))
            return read_candidate(reply, spec, origin, round_number, f"draft{number}")

        return ask_until_readable(ask, request, read)


def read_candidate(
    reply: Reply, spec: Spec, origin: CandidateOrigin, round_number: int, label: str, parent: str | None = None
) -> Candidate:
    """Return the candidate in a reply; its id is `label` and the fingerprint of its code. Raises ReplyError."""
    module = read_code(reply.text, spec, truncated=reply.finish != "stop")
    return Candidate(
        id=f"{label}-{fingerprint(module.code)}",
        code=module.code,
        origin=origin,
        round=round_number,
        parent=parent,
        mended=module.mended,
    )
