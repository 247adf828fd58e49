"""The entry point of a spec, from a stub, a header, its sentences, or its front matter."""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache

from ..records import Signature
from ..syntax.definitions import Definition, Function
from ..syntax.imports import KNOWN
from ..syntax.source import BUILTINS, is_constant, names_used, statements, unparse
from .asked import ARROW, ASKED, FENCED, WORDS, is_asked, uncommented
from .likely_names import NO_NAME, likely_name
from .shell import asks_for_a_program

_CALLABLE = re.compile(r"(?<![\w.])(?:(?P<kind>async\s+def|def)\s+)?(?P<name>[A-Za-z_]\w*)\(")
_CLASSES = re.compile(
    r"\b(?:[Dd]ata)?[Cc]lass (?:(?:named|called) )?`?([A-Z]\w*+)|\b([A-Z]\w*+)`? (?:data)?class\b"
)
_RETURNING = re.compile(
    r"(?<![\w.])(?P<name>[A-Z]\w*+)(?=\((?:[A-Za-z_][\w: \[\]]{0,40}(?:, ?(?=[A-Za-z_])|(?=\)))){1,9}\)`?,? ?"
    rf"(?:->|{ARROW}|(?:(?:that|which|should|shall|must) )?(?:returns?|gives?|yields?)\b))"
    r"|\bfunction `?(?P<said>[A-Z]\w*+)\("
)
"""A function named like a class: `FizzBuzz(n) returns`."""
_FUNCTION = r"(?:function|method|coroutine|generator|decorator|context\s+manager)"
_SEVERAL = re.compile(r"(?i)\b(?:two|three|four|both|several|these|following|pair\s+of)\s+(?:\w+\s+)?functions\b")
_PROMPTED = re.compile(r"(?m)^[ \t]*(?:>>>|\.\.\.).*$")
_DECORATED = re.compile(r"(?m)^[ \t]*@\w[^\n]*\n[ \t]*(?:async )?def\b")
_IMPORTS = re.compile(r"(?m)^[ \t]*(?:>>> )?from (\w+) import (\w+)[ \t]*$")
_LIBRARIES = sys.stdlib_module_names | {"hypothesis", "numpy", "pandas", "pytest"}
_LEADS = re.compile(rf"(?i)\b(?:an?|the|python|async\w*|coroutine)\s+{WORDS}`?\Z")
"""Words before a header, which may add what it lacks (`async`)."""
_TYPED = re.compile(r"[a-z_]\w*+\([^\n]*\)\s*->[^\n]+")
_BODY = r":[ \t]*(?:return|yield|raise|await|print)\b"
"""A body on the line of its header."""
_ASKED_HEADER = re.compile(rf"(?i:{ASKED}) (?:[\w-]+ ){{0,3}}`?[a-z_]\w*\(")
_LOWER_CLASS = re.compile(rf"(?m)(?:^|(?i:{ASKED}) (?:an? |the )?)[Cc]lass (?:named |called )?`?([a-z_]\w*+)\(")
"""`Class `override(mapping)``: a class that is named like a function."""
_DEEPEST = 40
"""Depth of nested brackets that is read; without a bound, unclosed brackets cost quadratic time."""
_MARK = re.compile(
    r"(?s)(?P<opens>[(\[{])|(?P<closes>[)\]}])|'(?>(?:[^'\\\n]|\\.)*)'|\"(?>(?:[^\"\\\n]|\\.)*)\"|(?P<unclosed>['\"].*)"
)
_ITEMS = r"\[(?>(?:[^\[\]]|\[(?>(?:[^\[\]]|\[[^\[\]]*+\])*)\])*)\]"
"""The parameters of a type, with at most three nested brackets."""
_TYPE = rf"(?:[A-Za-z_][\w.]*+|'[\w.]+'|\"[\w.]+\")(?:{_ITEMS})?"
_ANNOTATION = re.compile(rf"\s*(?:->|{ARROW})\s*({_TYPE}(?>(?:[ \t]*\|[ \t]*{_TYPE})*))(?!\[)")


def stated(text: str) -> Signature:
    """Return the signature in `text`. Raises ValueError where it is no header of a function or class."""
    text = text.strip().rstrip(":").strip()
    header = text if re.match(r"(?:async\s+)?(?:def|class)\b", text) else f"def {text}"
    body = statements(f"{header}: ...")
    if len(body) == 1 and isinstance(body[0], Definition):
        return signature_of(body[0])
    example = "such as `slugify(text: str) -> str` or `class Stack`"
    raise ValueError(f"`{text}` is not {'one' if body else 'a'} signature {example}")


def found(text: str) -> Signature | None:
    """Return the entry point that a spec's text names; None without one, or where several are as likely."""
    text = uncommented(text)
    return _stub(text) or _header(text) or _likely(text) or _imported(text)


def named(name: str) -> Signature:
    """Return the signature of a function or class that is known by its name alone."""
    if name[:1].isupper():
        return Signature(name, "class", f"class {name}")
    return Signature(name, "function", f"def {name}(...)")


def is_alone(text: str, name: str) -> bool:
    """Return True if a spec's text names no other function or class."""
    prose = FENCED.sub("", text)
    others = {match["name"] for match in _CALLABLE.finditer(prose) if _read(prose, match)} - BUILTINS
    others |= {each for pair in _CLASSES.findall(prose) for each in pair if each}
    others |= set(re.findall(rf"\b{_FUNCTION}\s+(?:named|called)\s+[`'\"]?{NO_NAME}(\w+)", prose))
    return others <= {name} and not _SEVERAL.search(prose)


@lru_cache(maxsize=64)
def names(text: str, name: str, *, called: bool) -> bool:
    """Return True if a spec's text introduces `name` as a class or, if `called`, as a function of the module; not
    as a parameter or a method in backticks."""
    word = re.escape(name)
    if name[:1].isupper():
        before = rf"`{word}\b|\b(?:class|dataclass|[Ee]num|exception)\s+{word}\b"
        after = rf"\b{word}\s+(?:exception\b|is\s+an?\s+(?:[a-z]+\s+)?(?:subclass|exception)\b)"
        return re.search(f"{before}|{after}", text) is not None
    introduced = (
        rf"\bdef\s+{word}\((?!self)(?![^\n]*{_BODY})|\b(?:function|decorator|coroutine|generator)s?\s+`?{word}\b"
    )
    return called and re.search(introduced, text) is not None


def signature_of(node: Function | ast.ClassDef) -> Signature:
    """Return the signature of a definition."""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(unparse(base) for base in node.bases)
        return Signature(node.name, "class", f"class {node.name}({bases})" if bases else f"class {node.name}")
    returns = f" -> {unparse(node.returns)}" if node.returns else ""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return Signature(node.name, "function", f"{word} {node.name}({unparse(node.args)}){returns}")


def _stub(text: str) -> Signature | None:
    """Return the last definition without a body in Python code: the whole text, or a code block."""
    for code in [text, *(match[2] for match in FENCED.finditer(text))]:
        body = statements(code)
        stubs = [node for node in body if isinstance(node, Function) and is_stub(node)]
        methods = {
            node: [item for item in node.body if isinstance(item, Function)]
            for node in body
            if isinstance(node, ast.ClassDef)
        }
        classes = [node for node, inside in methods.items() if inside and all(map(is_stub, inside))]
        if len(classes) == 1 and (not stubs or stubs[-1].lineno < classes[0].lineno):
            return signature_of(classes[0])
        if stubs:
            return signature_of(stubs[-1])
    return None


def _header(text: str) -> Signature | None:
    """Return the one function written as `def name(...)`; methods count for their class."""
    # A class of fields alone may be a type for the function that is asked for.
    fields = "def " not in text and "method" not in text and _ASKED_HEADER.search(text)
    classes = [] if fields else re.findall(r"^class\s+(\w++)[^\n]*:[ \t]*$", text, re.MULTILINE)
    class_header = _LOWER_CLASS.findall(text) or classes
    if len(set(class_header)) == 1:
        return Signature(class_header[0], "class", f"class {class_header[0]}")
    text = _PROMPTED.sub("", text)  # definitions after a prompt belong to the example
    if "decorator" in text:
        text = _DECORATED.sub("", text)
    written = (match for match in _CALLABLE.finditer(text) if match["kind"] and not _is_of_usage(text, match))
    headers = [header for match in written if (header := _read(text, match))]
    return headers[0] if len({header.name for header in headers}) == 1 else None


def _is_of_usage(text: str, header: re.Match[str]) -> bool:
    """Return True for a test, and for a function with its body on the line: `async def f(x): return x * 2`."""
    end = closing(text, header.end() - 1)
    beside = end is not None and re.compile(rf"[^:\n]*{_BODY}").match(text, end + 1)
    return header["name"].startswith("test_") or bool(beside)


def _likely(text: str) -> Signature | None:
    """Return what a text most likely asks for; in code blocks only a header with types counts."""
    prose = FENCED.sub(lambda fenced: fenced[2] if _TYPED.fullmatch(fenced[2].strip()) else "", text)
    like_a_class = _RETURNING.search(prose)
    name = like_a_class[like_a_class.lastgroup or 0] if like_a_class else likely_name(prose)
    if name is None or _SEVERAL.search(prose):
        return None
    if name[:1].isupper() and not like_a_class:
        return named(name)
    if re.search(rf"\b{name}\([^()\n]*\)`?(?: ?-> ?[\w\[\], ]+)? and `?[a-z_]\w*\(", prose):
        return None  # two functions
    headers = [(match, header) for match in _CALLABLE.finditer(prose) if (header := _read(prose, match))]
    own = [(match, header) for match, header in headers if header.name == name]
    if asks_for_a_program(text) and not any(is_asked(prose, match.start()) for match, _ in own):
        return None
    if own:
        return own[0][1]
    typed = any(":" in header.text or "->" in header.text for _, header in headers)
    of_a_class = "method" in text and re.search(r"\bclass\b", text)
    return None if typed or of_a_class else _without_header(name, prose)


def _imported(text: str) -> Signature | None:
    """Return the one name that the text's code imports from a module that is not known."""
    found = {name for module, name in _IMPORTS.findall(text) if module not in _LIBRARIES}
    return named(found.pop()) if len(found) == 1 else None


def _without_header(name: str, prose: str) -> Signature | None:
    """Return the function `name` by its calls in `prose`; None where it is not called."""
    places = [match.start("name") for match in _CALLABLE.finditer(prose) if match["name"] == name]
    ends = [closing(prose, place + len(name)) for place in places]
    readable = any(end and statements(prose[place : end + 1]) for place, end in zip(places, ends, strict=True))
    if not readable and "_" not in name and not re.search(rf"\b{name}\b(?!\()", prose):
        return None
    before = re.split(rf"\b{name}\b", prose, maxsplit=1)[0]
    word, iterator = _form(re.split(r"[.:;\n]", before[-60:])[-1])
    parameters = "()" if f"{name}()" in prose else "(...)"
    return Signature(name, "function", f"{word} {name}{parameters}{f' -> {iterator}' if iterator else ''}")


def _form(words: str) -> tuple[str, str]:
    """Return the keyword and the annotation that `words` before a function's name ask for."""
    word = "async def" if re.search(r"\basync\w*+(?!\s+context)|\bcoroutine", words, re.IGNORECASE) else "def"
    iterator = "Iterator" if word == "def" else "AsyncIterator"
    return word, iterator if "generator" in words.lower() else ""


def _read(text: str, match: re.Match[str]) -> Signature | None:
    """Return the header that begins at `match`: its parameters, and its return annotation if there is one."""
    end = closing(text, match.end() - 1)
    if end is None or match["name"] in {"print", "main"}:
        return None
    parameters = text[match.end() : end]
    before = _LEADS.search(text, max(0, match.start() - 60), match.start())
    word, iterator = _form(match["kind"] or (before[0] if before else ""))
    returns = _annotation(text, end + 1) or iterator
    header = f"{word} {match['name']}({parameters}){f' -> {returns}' if returns else ''}"
    if not parameters.strip() and not returns and not match["kind"] and not match["name"][0].isupper():
        return None
    match statements(f"{header}: ..."):
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as node]:
            for each in ast.walk(node):
                for field in {"annotation", "returns"} & vars(each).keys():
                    words = (getattr(part, "id", "") for part in ast.walk(getattr(each, field) or ast.Pass()))
                    # Code annotated with `string` or `iterator` could not run.
                    if any(word.islower() and word not in BUILTINS and word not in KNOWN for word in words):
                        setattr(each, field, None)
            return signature_of(node)
    return None


def without_headers(text: str) -> str:
    """Return `text` without the parameters and types of the headers in it: they are no kinds of input."""
    for match in reversed(list(_CALLABLE.finditer(text))):
        end = closing(text, match.end() - 1)
        if end is not None and _read(text, match):
            returns, after = _annotation(text, end + 1), text[end + 1 :]
            text = f"{text[: match.end()]}){after.partition(returns)[2] if returns else after}"
    return text


def closing(text: str, start: int) -> int | None:
    """Return the index of the bracket that closes the one at `start`, outside of strings; None without one."""
    depth = 0
    for mark in _MARK.finditer(text, start, start + 5000):
        depth += (mark["opens"] is not None) - (mark["closes"] is not None)
        if mark["closes"] and depth == 0:
            return mark.start()
        if mark["unclosed"] or depth > _DEEPEST:
            return None
    return None


def unclosed(text: str) -> int:
    """Return the number of unclosed brackets in `text`."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _annotation(text: str, start: int) -> str:
    """Return the type after an arrow at `start`; empty without one."""
    arrow = _ANNOTATION.match(text, start)
    return arrow[1].rstrip(".") if arrow else ""


def parameters(signature: Signature) -> ast.arguments | None:
    """Return the parameters of a function's signature; None where its text is not a Python header."""
    body = statements(f"{signature.text}: ...")
    return body[0].args if len(body) == 1 and isinstance(body[0], Function) else None


@lru_cache(maxsize=64)
def parameter_names(text: str) -> frozenset[str]:
    """Return the names of parameters in the headers and calls of a spec's text, and of fields in its code."""
    starts = (match.end() - 1 for match in re.finditer(r"\b[A-Za-z_]\w*\(", text))
    headers = (text[start:end] for start in starts if (end := closing(text, start)) is not None)
    found = re.findall(r"[(,]\s*\*{0,2}([A-Za-z_]\w*)", " ".join(headers))
    return frozenset([*found, *re.findall(r"(?m)^ +([a-z_]\w*): [A-Za-z][\w\[\]]*+(?: = [^\n]*)?$", text)])


def is_stub(node: Function) -> bool:
    """Return True if the body is only a docstring, `pass`, `...` or `raise NotImplementedError`."""
    return all(says_nothing(statement) for statement in node.body)


def says_nothing(node: ast.stmt) -> bool:
    """Return True for a statement without effect: a constant, `pass`, or `raise NotImplementedError`."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        return "NotImplementedError" in names_used(node.exc)
    return isinstance(node, ast.Pass) or is_constant(node)
