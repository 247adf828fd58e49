"""Units of a module that can be replaced: a function, a class, statements, or the whole file."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..records.heal import Place, PlaceUnit
from .definitions import Definition, Function, first_line, is_definition
from .imports import split_imports
from .laid_out import LINE, LaidOut, blocks
from .source import compile_error, indented, parse, statements, unparse
from .splice import spliced


def unit_at(path: str, text: str, line: int, most: int) -> Place:
    """Return the unit of the module at a line (from 1), of at most `most` characters: the function (the outer one
    of nested functions), the class, or statements; the file if the line is in no function and the file has at most
    half of `most`."""
    try:
        file = LaidOut(text)
    except ValueError:
        return _around(path, text, line, most)
    # From the outermost to the innermost.
    if holding := [node for _, node in qualified(file.tree) if file.first(node) <= line <= (node.end_lineno or 0)]:
        return _unit(path, file, holding, line, most)
    if len(text) <= most // 2:
        return whole_file(path, text)
    return _statements(path, file, file.tree.body, line, most)


def unit_named(path: str, text: str, name: str, lines: Sequence[int], most: int) -> Place:
    """Return the place of a definition; if it has more than `most` characters, of its statements at one of
    `lines`. Raises ValueError where the module has no such definition."""
    file = LaidOut(text)
    holding = named(file.tree, name)
    if not holding:
        raise ValueError(f"there is no `{name}`")
    found = holding[-1]
    inside = (line for line in lines if file.first(found) <= line <= (found.end_lineno or 0))
    return _unit(path, file, holding, next(inside, found.body[0].lineno), most)


def _unit(path: str, file: LaidOut, holding: Sequence[Definition], line: int, most: int) -> Place:
    found = holding[-1]
    if file.line_end(found.end_lineno) - file.start(found) > most:
        return _statements(path, file, found.body, line, most)
    unit: PlaceUnit = "class" if isinstance(found, ast.ClassDef) else "function"
    name = ".".join(each.name for each in holding)
    return Place(path, unit, name, file.first(found), found.end_lineno or found.lineno)


def definitions_in(node: ast.AST) -> Iterator[Definition]:
    """Yield the functions and classes directly in a module or a definition."""
    for child in ast.iter_child_nodes(node):
        if is_definition(child):
            yield child
        else:
            yield from definitions_in(child)


def qualified(node: ast.AST, outer: str = "") -> Iterator[tuple[str, Definition]]:
    """Yield every function and class in a module with its qualified name (`outer.inner`, also in functions)."""
    for each in definitions_in(node):
        yield outer + each.name, each
        yield from qualified(each, f"{outer}{each.name}.")


def whole_file(path: str, text: str) -> Place:
    """Return the place of a whole file."""
    return Place(path, "file", "", 1, max(1, len(LINE.findall(text))))


def text_of(text: str, place: Place) -> str:
    """Return the lines of a place, with `\\n` as line ends."""
    lines = LINE.findall(text)[place.first_line - 1 : place.last_line]
    return "".join(re.sub(r"\r\n?$", "\n", line) for line in lines)


def replaced(text: str, place: Place, code: str) -> str:
    """Return the module `text` with a place replaced by `code`, whose imports go to the top.

    Lines outside the place, and unchanged lines in it, keep their bytes. Raises ValueError, with a message for the
    model, where `code` does not fit the place.
    """
    code = code.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    if place.unit in ("file", "statements") and (names := _definitions_alone(text, code)):
        for name in names:
            text = _with_definition(text, Place(place.path, "function", name, 1, 1), code)
        return text
    if place.unit == "file":
        new = code
    elif place.unit == "statements":
        new = _with_lines(text, place, code)
    else:
        return _with_definition(text, place, code)
    if fault := compile_error(new):
        raise ValueError(f"with it the file is no Python any more: {fault}")
    return _with_old_lines(text, new)


def _definitions_alone(text: str, code: str) -> list[str]:
    """Return the names of the definitions in `code`, if it has nothing else and the file `text` has them and
    more."""
    before, body = statements(text), statements(code)
    there = [node.name for node in before if is_definition(node)]
    names = [node.name for node in body if is_definition(node)]
    rest = [node for node in body if not is_definition(node) and not split_imports(node)]
    known = all(there.count(name) == 1 for name in names)
    return names if known and not rest and len(before) > len(body) else []


def _with_definition(text: str, place: Place, code: str) -> str:
    """Replace a function or a class; keep its decorators, and the signature of a function. A nested function may
    be replaced with its outer one."""
    *outer, last = place.name.split(".")
    holding = named(parse(text), place.name)
    old = holding[-1]
    around = next((number for number, each in enumerate(holding[:-1], 1) if isinstance(each, Function)), None)
    nested = around is not None
    if nested and named(parse(code), whole := ".".join(outer[:around])):
        return _with_definition(text, replace(place, name=whole), code)
    if not nested and outer and not named(parse(code), outer[0]):
        code = _in_classes(code, parse(code), outer, last)
    written = named(parse(code), place.name) or (named(parse(code), last) if nested else [])
    if not written:
        raise ValueError(f"it does not define `{place.name}`; write that {place.unit} whole")
    new = written[-1]
    if type(new) is not type(old):
        raise ValueError(f"`{place.name}` is another kind of definition than before")
    if isinstance(old, Function) and isinstance(new, Function) and _shape(old.args) != _shape(new.args):
        raise ValueError(f"the parameters of `{place.name}` have to stay: {unparse(old.args)}")
    if list(map(ast.dump, old.decorator_list)) != list(map(ast.dump, new.decorator_list)):
        code = _with_decorators(code, new, old.decorator_list)
        new = (named(parse(code), place.name) or named(parse(code), last))[-1]
    made = _inside_a_function(text, old, code, new) if nested else spliced(text, code, place.name)
    if nested and (fault := compile_error(made)):
        raise ValueError(f"with it the file is no Python any more: {fault}")
    return _with_old_lines(text, made, around=LaidOut(text).newline(old.lineno))


def _shape(arguments: ast.arguments) -> str:
    """Return names, order and defaults of parameters, without annotations."""
    plain = parse(f"def f({unparse(arguments)}): 0").body[0]
    for node in ast.walk(plain):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(plain)


def _in_classes(code: str, module: ast.Module, classes: Sequence[str], name: str) -> str:
    """Return the code with its function `name` moved into the classes of the place."""
    lines = code.split("\n")
    for found in (node for node in module.body if is_definition(node) and node.name == name):
        first, last = first_line(found), found.end_lineno or found.lineno
        method = "\n".join(lines[first - 1 : last])
        for each in reversed(classes):
            method = f"class {each}:\n{indented(method)}"
        return "\n".join([*lines[: first - 1], method, *lines[last:]])
    return code


def _with_decorators(code: str, new: Definition, decorators: Sequence[ast.expr]) -> str:
    """Return the code with the decorators of a definition replaced by `decorators`."""
    lines = code.split("\n")
    lead = lines[new.lineno - 1][: new.col_offset]
    written = [f"{lead}@{unparse(each)}" for each in decorators]
    return "\n".join([*lines[: first_line(new) - 1], *written, *lines[new.lineno - 1 :]])


def named(tree: ast.Module, name: str) -> list[Definition]:
    """Return the outer definitions of `name` and itself, outermost first; empty without it."""
    found: list[Definition] = []
    for part in name.split("."):
        inside = definitions_in(found[-1] if found else tree)
        inner = next((node for node in inside if node.name == part), None)
        if inner is None:
            return []
        found.append(inner)
    return found


def _inside_a_function(text: str, old: Definition, code: str, new: Definition) -> str:
    """Replace the lines of a function in a function."""
    file, module = LaidOut(text), LaidOut(code)
    lead = file.lead(old)
    if lead is None:
        raise ValueError("it shares its line with what goes before it")
    made = module.statement(new, file.unit(old), lead)
    return file.edited([(file.start(old), file.line_end(old.end_lineno), made)])


def _with_lines(text: str, place: Place, code: str) -> str:
    lines = LINE.findall(text)
    old = lines[place.first_line - 1 : place.last_line]
    lead = next((line[: len(line) - len(line.lstrip())] for line in old if line.strip()), "")
    body = code.split("\n")
    own = next((line[: len(line) - len(line.lstrip())] for line in body if line.strip()), "")
    moved = [lead + line.removeprefix(own) if line.strip() else line for line in body]
    return "".join([*lines[: place.first_line - 1], "\n".join(moved), *lines[place.last_line :]])


def _with_old_lines(old: str, new: str, around: str | None = None) -> str:
    """Return `new` with the line ends of equal lines in `old`; other lines end like their neighbours."""
    before, after = LINE.findall(old), LINE.findall(new)
    ends = around or next((_end(line) for line in before if _end(line)), "\n")
    was, now = ([line.rstrip("\r\n") for line in lines] for lines in (before, after))
    matcher = difflib.SequenceMatcher(None, was, now)
    lines: list[str] = []
    for kind, first, last, start, stop in matcher.get_opcodes():
        if kind == "equal":
            lines += [line if _end(line) else line + ends for line in before[first:last]]
        else:
            if first < len(before) and _end(before[first]):
                ends = _end(before[first])
            lines += [line.rstrip("\r\n") + ends for line in after[start:stop]]
    result = "".join(lines)
    return result.rstrip("\r\n") if before and not _end(before[-1]) else result


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _statements(path: str, file: LaidOut, body: Sequence[ast.stmt], line: int, most: int) -> Place:
    """Return the statement at a line, or where it is too long one in it, with neighbours that fit."""
    block = body
    while True:
        holding = next((node for node in block if file.first(node) <= line <= (node.end_lineno or 0)), None)
        if holding is None:
            holding = min(block, key=lambda node: abs(node.lineno - line))
        inner = [each for each in blocks(holding) if each[0].lineno > holding.lineno]
        if file.line_end(holding.end_lineno) - file.start(holding) <= most or not inner:
            break
        block = next(
            (each for each in inner if file.first(each[0]) <= line <= (each[-1].end_lineno or 0)), inner[0]
        )

    def fits(first: int, last: int) -> bool:
        if first < 0 or last == len(block) or is_definition(block[first]) or is_definition(block[last]):
            return False
        return file.line_end(block[last].end_lineno) - file.start(block[first]) <= most // 2

    first = last = block.index(holding)
    while wider := [pair for pair in ((first - 1, last), (first, last + 1)) if fits(*pair)]:
        first, last = wider[0]
    return Place(path, "statements", "", file.first(block[first]), block[last].end_lineno or line)


def _around(path: str, text: str, line: int, most: int) -> Place:
    """Return the place of a line in text that is not Python: the file if it is short, else from the last
    unindented line before it to the next one."""
    if len(text) <= most // 2:
        return whole_file(path, text)
    lines = LINE.findall(text)
    line = min(line, len(lines))
    starts = [number for number, each in enumerate(lines, 1) if each.strip() and each[0] not in " \t#)]}"]
    first = max((number for number in starts if number <= line), default=1)
    last = min((number - 1 for number in starts if number > line), default=len(lines))
    while last > first and not lines[last - 1].strip():
        last -= 1
    while sum(map(len, lines[first - 1 : last])) > most and last > line:
        last -= 1
    while sum(map(len, lines[first - 1 : last])) > most and first < line:
        first += 1
    return Place(path, "statements", "", first, max(first, last))


def changed_bodies(old: str, new: str) -> list[range] | None:
    """Return the lines in `old` of the functions whose bodies differ in `new`; None where more differs."""
    try:
        (before, bodies), (after, others) = _apart(old), _apart(new)
    except ValueError:
        return None
    if before != after:
        return None
    return [lines for (lines, body), (_, other) in zip(bodies, others, strict=True) if body != other]


def _apart(text: str) -> tuple[str, list[tuple[range, str]]]:
    """Return a module without its functions' bodies, and the bodies with their lines, all as dumps of trees."""
    tree = parse(text)
    bodies: list[tuple[range, str]] = []

    def cut(nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                cut(node.body)
            elif is_definition(node):
                lines = range(first_line(node), (node.end_lineno or node.lineno) + 1)
                bodies.append((lines, ast.dump(ast.Module(node.body, []))))
                node.body = []

    cut(tree.body)
    return ast.dump(tree), bodies
