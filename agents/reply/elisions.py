"""Places where a reply leaves code out: empty bodies, and comments such as "rest of the code here"."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from ..syntax.definitions import Function
from ..syntax.headers import is_stub, says_nothing
from ..syntax.source import names_used, parse

_ELISION = re.compile(
    r"""\#\s*+(?:
        (?:\.\.\.|…)\s*\(?(?:the\s+)?(?:rest|remaining|existing|previous|other|same|unchanged|implementation)\b.*
        | (?:\[|<|\.\.\.|…|\()?\s*+(?:the\s+)?(?:rest|remainder)\s+of\s+(?:the\s+|your\s+|this\s+)?
          (?:code|file|function|functions|class|methods|implementation|module|program)
          (?:\s+(?:here|goes|remains|stays|is|as|unchanged|same|follows|omitted)\b.*)?[\s.\])>]*
        | (?:add\s+|put\s+|write\s+|insert\s+)?(?:your|the|actual)\s+(?:code|implementation|solution|logic)\s+
          (?:goes\s+)?here[\s.!]*
        | (?:existing|previous|other|remaining)\s+(?:code|functions|methods|tests|implementation)
          (?:\s+(?:here|remains?|stays?|unchanged|as|goes|go|follows?)\b.*)?[\s.]*
        | (?:todo|fixme)\s*:?\s*(?:implement|write|complete)
          (?:\s+(?:this|me|it|here|the|your|function|method|logic|code))*[\s.!]*
        | implement(?:ation)?\s+(?:goes\s+)?here[\s.]*
        | (?:same|unchanged)\s+as\s+(?:before|above)\b.*
    )$""",
    re.IGNORECASE | re.VERBOSE,
)


def left_out(code: str, entry: str | None) -> str | None:
    """Return what `code` leaves out, as a reason for the model; None where it is whole.

    An empty function counts when it is the entry point, or when other code calls it.
    """
    for comment in _comments(code):
        if _ELISION.match(comment):
            return f"it leaves code out (`{comment[:60]}`); write the complete file, every function in full"
    tree = parse(code)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == entry and _is_empty_class(node):
            return f"the class `{node.name}` has no method with a body; write every method in full"
        if isinstance(node, Function) and is_stub(node):
            others = names_used([other for other in tree.body if other is not node])
            if node.name == entry or (entry and node.name in others and not node.decorator_list):
                return f"the function `{node.name}` has no body; write it in full"
    return None


def _is_empty_class(node: ast.ClassDef) -> bool:
    if node.bases or node.decorator_list:
        return False
    return all((isinstance(item, Function) and is_stub(item)) or says_nothing(item) for item in node.body)


def _comments(code: str) -> list[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
