"""Makes calls near those of a failing run, on which patches may differ."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from ..judge.near_values import edges
from ..judge.probes import argument_nodes, calls_with, near_calls, related_calls, reshaped_calls, varied_calls
from ..records.heal import Call, Patch
from ..syntax.collection import last_name
from ..syntax.definitions import Function
from ..syntax.imports import split_imports
from ..syntax.literals import expression
from ..syntax.source import names_bound, names_used, parse_expression, statements, unparse
from ..syntax.units import qualified
from ..verifier.inside.proxy.plain_source import is_plain, value_of, written
from .expectations import calls_in

TRIED_CALLS = 24
_LONGEST_WORD = 12  # characters of a text that is inserted into others
_LONGEST_MARK = 2  # characters of one that is a prefix of others
_SHORT_LIST = 8  # items
_GREATEST = 100_000
"""The greatest literal that is an argument: a loop up to a greater one takes long."""


def calls_near(
    calls: Sequence[Call],
    files: Mapping[str, str],
    patches: Sequence[Patch],
    other_runs: Sequence[Call] = (),
    project: Mapping[str, bytes] = MappingProxyType({}),
) -> list[Call]:
    """Return calls near those of the functions that patches change, also with literals from these functions and
    from what they read of the `project`; without any, `other_runs`, or calls near all of `calls`."""
    texts = [each for patch in patches for each in patch.files.items()] + [*files.items()]
    mended = {name for patch in patches for name in mended_names(files, patch.files)}
    values = [*_literals_of([*texts, *_imported(texts, project)], mended), *_literals_of(texts)]
    around = [each for each in calls if _holds_calls(each.source)]
    changed = [each for each in calls if (each.path, each.function) in mended]
    found = _near(changed, values, around)
    if any("." in name for _, name in mended):  # private state shows in the functions that use the objects
        used = [each for each in calls if "." not in each.function and (each.path, each.function) not in mended]
        found = _near(used, values, around) + found
        found += islice((each for one in [*changed, *found] for each in _then_method(one, files)), 2 * TRIED_CALLS)
    for one in dict.fromkeys([*around, *changed]):
        found += _with_options(one, files.get(one.path, ""))
    return found or list(other_runs) or _near(calls, values, around)


def without(calls: Sequence[Call], left_open: Sequence[Call], seeds: Sequence[Call]) -> list[Call]:
    """Return `calls` without those for which any answer is right: those with all the calls and arguments that one
    of `left_open` has and no seed has (all that it has, if a seed has each)."""
    known = {given for each in seeds for given in _arguments_in(each.source)}
    asked = [{*_arguments_in(each.source)} for each in left_open]
    odd = [given - known or given for given in asked]
    return [each for each in calls if not any(some.issubset(_arguments_in(each.source)) for some in odd)]


def _arguments_in(source: str) -> Iterator[tuple[str, object, str]]:
    """Yield function, place (None for the call itself) and text of the value of each argument of the calls in an
    expression; negative numbers share one text."""
    node = expression(source)
    for call in calls_in(node) if node is not None else ():
        yield last_name(call), None, ""
        for place, value in [*enumerate(call.args), *((each.arg, each.value) for each in call.keywords)]:
            yield last_name(call), place, "-" if isinstance(value, ast.UnaryOp) else unparse(value)


def mended_names(files: Mapping[str, str], changed: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return path and qualified name of functions and assignments that differ in `changed` files."""
    found: set[tuple[str, str]] = set()
    for path, text in changed.items():
        was, now = ({name: ast.dump(node) for name, node in bound_in(each)} for each in (files[path], text))
        found |= {(path, name) for name in now if was.get(name) != now[name]}
    return found


def _near(calls: Sequence[Call], values: Sequence[object], around: Sequence[Call]) -> list[Call]:
    """Return calls near `calls`, and the calls of `around` with a part that is one of `calls` replaced by them."""
    found = [(node, each) for each in calls if (node := literal_call(each.source)) is not None]
    words = [each for each in values if isinstance(each, str) and 0 < len(each) <= _LONGEST_WORD]
    made = near_calls(found, 2 * TRIED_CALLS, words=words) | varied_calls(found, edges, TRIED_CALLS)
    made |= calls_with(found, values, TRIED_CALLS) | related_calls(found, TRIED_CALLS)
    marks = [each for each in dict.fromkeys(words) if len(each) <= _LONGEST_MARK and not each.isalnum()]

    def others(value: object, values: Sequence[object]) -> list[object]:
        if type(value) is int and value > 0:  # a digit less or more; equal to a number in a text
            longer = [int(f"1{value:02}")] if value <= _GREATEST else []
            return [value // 10, *longer, *map(int, re.findall("'([0-9]{1,5})'", repr(values)))]
        if isinstance(value, dict):  # with the keys of another dict
            tables = (each for each in values if isinstance(each, dict) and each is not value)
            return [dict(zip(each, value.values(), strict=False)) for each in tables]
        if not isinstance(value, str):
            return []
        negative = ["-" + value] if value.replace(".", "", 1).isdecimal() else []
        beyond = [] if value.isascii() else [value + "€", "€"]  # a letter that Latin-1 has not
        return [*negative, *beyond, *(mark + value for mark in marks if len(value) > 1)]

    for ways in (others, _with_items_again):
        made |= varied_calls(found, ways, 2 * TRIED_CALLS)
    made |= reshaped_calls(found)
    near = [replace(each, source=source) for source, each in made.items()]
    for source, each in made.items():
        outer = (one for one in around if each.source in one.source)
        near += [replace(one, source=one.source.replace(each.source, source, 1)) for one in outer]
    return near


def _with_items_again(value: object, _: object) -> Iterator[object]:
    """Yield a short list (of commands, events) with its first item again and a new one at its end, which shows
    what stops too early, and with each of its items in the place of each other one."""
    if not isinstance(value, list) or not 2 < len(value) <= _SHORT_LIST:
        return
    if all(isinstance(each, str | int | tuple) for each in value):
        if {type(value[0]), type(value[-1])} in ({int}, {str}):
            yield [*value, value[0], value[0] + value[-1]]
        others = {repr(each): each for each in value}.values()
        for at, item in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in others if other != item)


def _holds_calls(source: str) -> bool:
    """Return True for an expression with nested calls of functions, beyond those of plain data."""
    node = expression(source)
    within = [each for each in calls_in(node) if each is not node] if node is not None else []
    return any(last_name(each) != "having" and not is_plain(each) for each in within)


def _with_options(call: Call, text: str) -> Iterator[Call]:
    """Yield a call with one more optional argument: an edge case near its default, or for an empty list a list of
    the first argument."""
    node = expression(call.source)
    if not isinstance(node, ast.Call):
        return
    named = [each for _, each in bound_in(text) if isinstance(each, Function) and each.name == last_name(node)]
    if len(named) != 1:
        return
    own = [*named[0].args.posonlyargs, *named[0].args.args]
    defaults = named[0].args.defaults
    taken = len(node.args) + isinstance(node.func, ast.Attribute)
    given = {each.arg for each in own[:taken]} | {each.arg for each in node.keywords}
    for option, default in zip(own[len(own) - len(defaults) :], defaults, strict=True):
        if option.arg not in given and is_plain(default):
            filled = [[value_of(each)] for each in node.args[:1] if is_plain(each) and value_of(default) == []]
            for value in [*edges(value_of(default), ()), *filled]:
                more = ast.keyword(option.arg, parse_expression(written(value)))
                source = ast.unparse(ast.Call(node.func, node.args, [*node.keywords, more]))
                yield replace(call, source=source)


def _then_method(call: Call, files: Mapping[str, str]) -> Iterator[Call]:
    """Yield a call on an object with private state, followed by each other method without arguments: its value and
    the public attributes."""
    node, owner = literal_call(call.source), call.function.rpartition(".")[0]
    if node is None or not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Call):
        return
    kept = [each.arg for each in node.func.value.keywords if each.arg]
    public = [f"it.{name}" for name in kept if name[:1] != "_"]
    if len(public) == len(kept):
        return
    for path, each in bound_in(files.get(call.path, "")):
        other = path.removeprefix(f"{owner}.")
        needs_none = isinstance(each, ast.FunctionDef) and len(each.args.args) == 1 and not each.decorator_list
        if needs_none and other.isidentifier() and path != other and other[:1] != "_":
            left = ", ".join([f"it.{other}()", *public])
            yield replace(call, source=after(node, node.func, f"[{left}]"))


def after(call: ast.Call, method: ast.Attribute, left: str) -> str:
    """Return the source of the expression `left` of the object `it`, after the call of its `method`."""
    called = unparse(ast.Call(ast.Attribute(ast.Name("it"), method.attr), call.args, call.keywords))
    return f"[it := {unparse(method.value)}, {called}, {left}][-1]"


def literal_call(source: str) -> ast.Call | None:
    """Return a call whose arguments are literals; None for any other text (it is untrusted)."""
    node = expression(source)
    if not isinstance(node, ast.Call):
        return None
    given = argument_nodes(node)
    named = all(each.arg for each in ast.walk(node) if isinstance(each, ast.keyword))
    return node if given and named and all(map(is_plain, given)) else None


def bound_in(text: str) -> list[tuple[str, ast.AST]]:
    """Return the functions of a module, and the assignments in it and its classes, by qualified names; none if it
    is not Python."""
    module = ast.Module(statements(text), [])
    named = [*qualified(module)]
    functions = [(name, node) for name, node in named if isinstance(node, Function)]
    bodies = [module.body, *(node.body for _, node in named if isinstance(node, ast.ClassDef))]
    assigned = (each for body in bodies for each in body if isinstance(each, ast.Assign | ast.AnnAssign))
    return [*functions, *((name, each) for each in assigned for name in names_bound(each))]


def _imported(texts: Sequence[tuple[str, str]], project: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the other files of a project whose names occur in the imports of `texts`."""
    entries = [each for _, text in texts for node in statements(text) for each in split_imports(node)]
    named, own = {part for each in entries for part in (*each.module.split("."), each.name)}, dict(texts)
    for path, data in project.items():
        module = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
        if module in named and path.endswith(".py") and path not in own:
            yield path, data.decode("utf-8", "replace")


def _literals_of(texts: Sequence[tuple[str, str]], mended: Set[tuple[str, str]] | None = None) -> list[object]:
    """Return the literals of the functions `mended` (None: of all) and of the assignments that they read, with the
    neighbours and multiples of whole numbers; without docstrings and regular expressions."""
    bound = [(path, name, node) for path, text in texts for name, node in bound_in(text)]
    nodes = [node for path, name, node in bound if mended is None or (path, name) in mended]
    attributes = (each.attr for node in nodes for each in ast.walk(node) if isinstance(each, ast.Attribute))
    read = names_used(nodes).union(attributes)
    nodes += [node for _, name, node in bound if name in read]
    parts, left_out = [each for node in nodes for each in ast.walk(node)], set()
    for each in parts:
        match each:
            case ast.Expr(value) | ast.Call(ast.Attribute(ast.Name("re")), [value, *_]):
                left_out.add(value)
    literals = [each.value for each in parts if isinstance(each, ast.Constant) and each not in left_out]
    whole = [each for each in literals if type(each) is int]
    near = [other for each in whole for other in (each + 1, max(each - 1, 0), 2 * each, 3 * each)]
    values = {repr(each): each for each in [*literals, *near]}.values()
    return [each for each in values if not isinstance(each, int) or each <= _GREATEST]
