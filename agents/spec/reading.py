"""Text or a file -> a Spec: its signature, examples, trusted tests and limits."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Sequence
from pathlib import Path

from ..errors import UsageError
from ..records import Example, Signature, Spec, Test, UserModule, fingerprint
from ..suite import named_imports, render, split
from ..syntax.imports import KNOWN, USER_MODULE, split_imports
from ..syntax.source import compiled, names_unbound, parse
from .examples import examples, from_statement
from .front_matter import FrontMatter, separated
from .in_line import called
from .modules import read_modules, requirements
from .place import Place, check_text, place_of, read_text
from .shell import asks_for_a_program
from .signature import found, is_alone, named, stated

LONGEST_SPEC = 100_000
LONGEST_TESTS = 1_000_000
"""Bytes of UTF-8."""
PROGRAM = "program"
"""The signature of a spec that names no function: its module is run."""


def read_spec(
    text: str,
    *,
    origin: str,
    tests: str | None = None,
    modules: tuple[UserModule, ...] = (),
    packages: tuple[str, ...] = (),
) -> Spec:
    """Return the spec in `text`, Markdown with optional front matter. `tests` is the source of a trusted pytest
    file, `modules` replace those of the front matter, `packages` are added to its requirements.

    `origin` is `argument`, `stdin` or a file's path; paths in the front matter are relative to that file, or else
    to the working directory. Raises UsageError, with the origin and the line.
    """
    place = place_of(origin)
    front, body = take_apart(text, place)
    return make_spec(front, body, place, tests, modules, packages)


def take_apart(text: str, place: Place) -> tuple[FrontMatter, str]:
    """Return the front matter of a spec's `text` and the text after it. Raises UsageError that names the line."""
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_SPEC:
        raise UsageError(f"{place.whole} is longer than {LONGEST_SPEC // 1000} KB; shorten the spec.")
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    check_text(text, place.whole)
    return separated(text, place)


def make_spec(
    front: FrontMatter,
    body: str,
    place: Place,
    tests: str | None = None,
    modules: tuple[UserModule, ...] = (),
    packages: tuple[str, ...] = (),
) -> Spec:
    """Return the spec of `body` and its front matter. Raises UsageError."""
    if not body.strip():
        raise UsageError(f"{place.whole} is empty; say what the code is to do.")
    modules = modules or read_modules(front.modules)
    packages = requirements((*front.packages, *packages))
    importable = named_imports(packages, modules)
    sources = [] if tests is None else [(tests, "the tests given")]
    sources.extend((read_text(path, LONGEST_TESTS), str(path)) for path in front.tests)
    trusted = _trusted(sources)
    signature = _signature(front, body)
    shown = _examples(front, body, signature, importable)
    named_elsewhere = front.signature is not None or signature is not None or asks_for_a_program(body)
    if not named_elsewhere and (signature := _used(body, shown, trusted)):
        shown = _examples(front, body, signature, importable)
    words = signature.name if signature else "-".join(re.findall(r"[a-z0-9]+", body.lower())[:4])
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40]
    contents = "".join(f"{path}\0{text}" for module in modules for path, text in module.files.items())
    return Spec(
        id=front.id or f"{slug or 'spec'}-{fingerprint(front.source + body + contents)}",
        text=body.strip("\n"),
        signature=signature,
        examples=shown,
        user_tests=trusted,
        program=front.signature == PROGRAM
        or any(example.runs_program for example in shown)
        or (signature is None and asks_for_a_program(body)),
        packages=packages,
        modules=modules,
        limits=front.limits,
        origin=place.origin,
    )


def read_spec_file(
    path: Path,
    tests_path: Path | None = None,
    modules: tuple[UserModule, ...] = (),
    packages: tuple[str, ...] = (),
) -> Spec:
    """Return the spec in the file `path`, and trusted tests from `tests_path`; the rest as for `read_spec`. Raises
    UsageError."""
    text = read_text(path, LONGEST_SPEC)
    tests = read_tests_file(tests_path) if tests_path else None
    return read_spec(text, origin=str(path), tests=tests, modules=modules, packages=packages)


def read_tests_file(path: Path) -> str:
    """Return the source of a trusted pytest file. Raises UsageError where it can't be read or has no test."""
    source = _trusted([(read_text(path, LONGEST_TESTS), str(path))])
    assert source is not None
    return source


def _signature(front: FrontMatter, body: str) -> Signature | None:
    if front.signature is None:
        return found(body)
    if front.signature == PROGRAM:
        return None
    try:
        return stated(front.signature)
    except ValueError as error:
        raise UsageError(f"{front.places['signature']}: {error}.") from error


def _used(body: str, shown: Sequence[Example], trusted: str | None) -> Signature | None:
    """Return the one name of the module that examples and trusted tests use, if the text has no other."""
    code = "\n".join(example.code for example in shown if not example.runs_program)
    used = {
        node.func.id
        for node in ast.walk(parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = used & names_unbound(code)
    names = own - KNOWN.keys() or own
    imports = (each for node in parse(trusted or "").body for each in split_imports(node))
    names |= {each.name for each in imports if each.module == USER_MODULE and each.name} - {"*"}
    names |= {name for line in body.split("\n") for name in called(line)}
    return named(names.pop()) if len(names) == 1 and is_alone(body, *names) else None


def _examples(
    front: FrontMatter, body: str, signature: Signature | None, importable: Container[str]
) -> tuple[Example, ...]:
    given: list[Example] = []
    for text in front.examples:
        try:
            given.append(from_statement(text, signature))
        except ValueError as error:
            raise UsageError(f"{front.places['examples']}: {error}.") from error
    known = {example.code for example in given}
    return (*given, *(example for example in examples(body, signature, importable) if example.code not in known))


def _trusted(sources: Sequence[tuple[str, str]]) -> str | None:
    """Return one pytest module of all `sources`, pairs of name and source; a single one stays as it is."""
    tests: list[Test] = []
    for source, name in sources:
        try:
            compiled(source)
            these = split(source, "user")
        except ValueError as error:
            raise UsageError(f"{name}: {error}; trusted tests must be a pytest file.") from error
        if not these:
            raise UsageError(f"{name} has no test; write functions named `test_...`.")
        tests.extend(these)
    if len(sources) == 1:
        return sources[0][0]
    return render(tests) if tests else None
