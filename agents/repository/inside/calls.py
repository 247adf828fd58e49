"""Notes the calls that a program makes of its own functions, as source text that repeats them."""

from __future__ import annotations

import base64
import dis
import importlib
import inspect
import itertools
import pickle
import sys
import types
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

plain: Any = importlib.import_module(f"{__package__}.proxy.plain_source".replace(".repository.", ".verifier."))
"""The verifier's module; in a sandbox it lies below this folder."""
SCALARS = (type(None), bool, int, float, complex, str, bytes)
NO_END = "no end"
"""For the exception of a call that takes too long or ends its process."""
EQUALS_ANYTHING = "what equals or holds anything"
RAISED = "an error"
"""For the text of a returned value."""
_DATA = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)
_UNEQUAL = ("", "\0 nowhere", -7.25, (None, "\0 nowhere"), b"\0 nowhere")
DEEPEST = 8
MOST_ITEMS = 2000
MOST_CALLS = 8
_MOST_PICKLED = 40
_MOST_SEEN = 200
"""Of one function: calls that are kept (`MOST_CALLS` unless pickled), and calls that are looked at."""
_LONGEST = 1500
_PARTS = ("path", "function", "source")
_VARARGS, _KEYWORDS, _GENERATOR, _RESUMED = 0x04, 0x08, 0x20, 0x20 | 0x80 | 0x200
"""Flags of a code object: `*args`; `**kwargs`; a generator; a generator or coroutine, whose frame is resumed."""


class NotPlain(Exception):
    """A value can't be written as source; the text says why."""


class Calls:
    """The calls of functions below the folder `tree`: `found` has path, function and source of each, `left_out`
    path, function and why a call can't be repeated. With `pickled`, arguments need not be plain data, and
    `returned` has the text of the first value that each call returned."""

    def __init__(self, tree: str, *, pickled: bool = False) -> None:
        self._tree = tree
        self._pickled = pickled
        self._seen: dict[types.CodeType, int] = {}
        self._begun: dict[types.FrameType, tuple[str, str, str]] = {}
        self._yielded: dict[types.FrameType, list[object]] = {}
        self.returned: dict[tuple[str, str, str], str] = {}
        self.found: dict[tuple[str, str, str], None] = {}
        self.left_out: dict[tuple[str, str, str], None] = {}

    def told(self) -> dict[str, list[dict[str, str]]]:
        """Return `found` and `left_out` as lists of dicts, for JSON."""
        both = {"calls": self.found, "left_out": self.left_out}
        return {name: [dict(zip(_PARTS, each)) for each in calls] for name, calls in both.items()}  # noqa: B905

    def add(self, found: Iterable[Iterable[str]], left_out: Iterable[Iterable[str]]) -> None:
        """Add the calls that another process has noted."""
        for known, new in ((self.found, found), (self.left_out, left_out)):
            for path, function, source in new:
                known[path, function, source] = None

    def note(self, frame: types.FrameType) -> None:
        """Note a call, by the frame in which it begins."""
        code = frame.f_code
        seen = self._seen[code] = self._seen.get(code, 0) + 1
        if seen > _MOST_SEEN or code.co_name.startswith("<"):
            return
        place = (code.co_filename[len(self._tree) :], getattr(code, "co_qualname", code.co_name))
        if frame in self._begun or (code.co_flags & _RESUMED and not {*frame.f_locals} <= {*_parameters(code)}):
            return  # resumed, not begun
        try:
            call = (*place, _source(place[1], frame, self._tree, pickled=self._pickled))
        except NotPlain as reason:
            self.left_out[(*place, str(reason))] = None
            return
        if sum(known[:2] == place for known in self.found) < (_MOST_PICKLED if self._pickled else MOST_CALLS):
            self.found[call] = None
            if self._pickled:  # else `returned` is not needed, and a frame keeps its objects alive
                self._begun[frame] = call

    def note_return(self, frame: types.FrameType, value: object) -> None:
        """Note the value of a noted call (None also if it raised); of a generator the list of its items."""
        code, call = frame.f_code, self._begun.get(frame)
        if call is None:
            return
        ends = dis.opname[code.co_code[frame.f_lasti]]
        if code.co_flags & _GENERATOR and ends in ("YIELD_VALUE", "RESUME"):  # the latter since Python 3.13
            items = self._yielded.setdefault(frame, ["yields"])
            items += [value] if len(items) <= MOST_ITEMS else []
            return
        del self._begun[frame]
        raised = value is None and not ends.startswith("RETURN_")
        if code.co_flags & _GENERATOR and not raised:
            value = self._yielded.pop(frame, ["yields"])
        elif value is None and code.co_flags & _RESUMED:
            return
        told = RAISED if raised else EQUALS_ANYTHING if self._equals_anything(value) else shown(value)
        self.returned.setdefault(call, told)

    def _equals_anything(self, value: Any) -> bool:
        """Return True for an object that equals or contains several unequal values, and for plain data of a class
        of the program that defines `__eq__`."""
        bases = type(value).__mro__
        data = next((at for at, each in enumerate(bases) if each in _DATA), 0)
        own = (getattr(vars(each).get("__eq__"), "__code__", None) for each in bases[:data])
        if any(code is not None and code.co_filename.startswith(self._tree) for code in own):
            return True
        equal = held = 0
        for each in _UNEQUAL if type(value).__module__ != "builtins" else ():
            with suppress(Exception):  # of the class's own methods
                equal += (value == each) is True
                held += hasattr(type(value), "__contains__") and each in value
        return max(equal, held) > 1


def _source(name: str, frame: types.FrameType, tree: str, *, pickled: bool) -> str:
    """Return the source of the call that begins in `frame`, without arguments that are its function's own default
    unless scalars. A method's object is written as `having(Class, attribute=...)`; if `pickled`, a call with
    arguments beyond plain data as `applied(function, "...")`. Raises NotPlain."""
    if "<locals>" in name:
        raise NotPlain("it is defined in another function")
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    names = _parameters(code)
    more = list(values[names[count]]) if code.co_flags & _VARARGS else []
    known = {} if more else _defaults(name, frame)
    left_out = {each for each, value in known.items() if values[each] is value and type(value) not in SCALARS}
    at = next((at for at, each in enumerate(names[: code.co_argcount]) if each in left_out), code.co_argcount)
    positional = [values[each] for each in names[:at]] + more
    keywords = {each: values[each] for each in names[at:count] if each not in left_out}
    if code.co_flags & _KEYWORDS:
        keywords.update(values[names[-1]])
    owner, _, last = name.rpartition(".")
    is_method = bool(owner and positional) and _is_of(positional[0], owner)
    try:
        objects = Objects(tree, {} if pickled else frame.f_globals)
        is_object = is_method and not isinstance(positional[0], type)
        outer = objects.having(positional[0]) if is_object else positional[0].__qualname__ if is_method else owner
        receiver = f"{outer}." if outer else ""
        source = f"{receiver}{last}({listed(positional[is_method:], keywords, objects.literal)})"
    except NotPlain:
        if not pickled:
            raise
        skipped = int(is_method and isinstance(positional[0], type))
        source = f"applied({name}, {_pickled((positional[skipped:], keywords))!r})"
    if len(source) > _LONGEST:
        raise NotPlain("its arguments are too long")
    return source


def _defaults(name: str, frame: types.FrameType) -> dict[str, Any]:
    """Return the defaults of the function that runs in `frame`; none where it is not found under its name."""
    *outer, last = name.split(".")
    scope: Any = frame.f_globals
    with suppress(Exception):  # the program may have put any object there
        for part in outer:
            scope = vars(scope[part])
        function = inspect.unwrap(getattr(scope[last], "__func__", scope[last]))
        if function.__code__ is frame.f_code:
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            known = function.__defaults__ or ()
            return {**dict(zip(names[len(names) - len(known) :], known)), **(function.__kwdefaults__ or {})}  # noqa: B905
    return {}


def _pickled(values: object) -> str:
    try:
        return base64.b64encode(pickle.dumps(values)).decode()
    except Exception as error:
        raise NotPlain(f"its arguments can't be pickled ({type(error).__name__})") from error


def _parameters(code: types.CodeType) -> tuple[str, ...]:
    extra = bool(code.co_flags & _VARARGS) + bool(code.co_flags & _KEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + extra]


def _is_of(value: Any, owner: str) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return any(base.__qualname__ == owner for base in kind.__mro__)


def keeps_state_elsewhere(kind: type) -> bool:
    """Return True if objects of a class have state outside `__dict__`."""
    return bool(vars(kind).get("__slots__")) or kind.__module__ == "builtins"


def literal(value: Any) -> str:
    """Return the source of plain data, which gives an equal value in any scope. Raises NotPlain."""
    _check_plain(value, 0)
    return shown(value)


def having(kind: str, state: Mapping[str, Any], write: Callable[[Any], str] = literal) -> str:
    """Return the source of an object of a class with these attributes. Raises NotPlain."""
    return f"having({', '.join([kind, *filter(None, [listed((), state, write)])])})"


def listed(positional: Iterable[Any], keywords: Mapping[str, Any], write: Callable[[Any], str] = literal) -> str:
    """Return the source of arguments. Raises NotPlain."""
    return ", ".join([*map(write, positional), *(f"{key}={write(value)}" for key, value in keywords.items())])


class Objects:
    """Writes the source of objects and of the objects in their attributes: of plain classes of files below `tree`
    that `scope` has by their names, and lists of these. No object may occur twice."""

    def __init__(self, tree: str, scope: Mapping[str, Any]) -> None:
        self._tree = tree
        self._scope = scope
        self._held: list[object] = []

    def literal(self, value: Any) -> str:
        """Return the source of an argument or attribute. Raises NotPlain."""
        if type(value) is list and value and self._is_one(value[0]):
            self._hold(value)
            return f"[{', '.join(map(self.literal, value))}]"
        return self.having(value) if self._is_one(value) else literal(value)

    def having(self, value: Any) -> str:
        """Return the source of an object. Raises NotPlain."""
        kind = type(value)
        if "<locals>" in kind.__qualname__ or any(map(keeps_state_elsewhere, kind.__mro__[:-1])):
            raise NotPlain(f"the state of a {kind.__qualname__} can't be copied")
        self._hold(value)
        return having(kind.__qualname__, vars(value), self.literal)

    def _hold(self, value: object) -> None:
        if len(self._held) > _MOST_PICKLED or any(each is value for each in self._held):
            raise NotPlain("an object is among its arguments twice, or too many are")
        self._held.append(value)

    def _is_one(self, value: object) -> bool:
        kind = type(value)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        return type(kind) is type and self._scope.get(kind.__name__) is kind and file.startswith(self._tree)


def _check_plain(value: Any, depth: int) -> None:
    kind = type(value)
    if kind in (float, complex) and not abs(value) < float("inf"):
        raise NotPlain(f"{value} is among its arguments")
    containers = (list, tuple, set, dict, *plain.COLLECTIONS)
    size = value.bit_length() // 3 if kind is int else len(value) if kind in (str, bytes, *containers) else 0
    if depth > DEEPEST or size > _LONGEST:
        raise NotPlain("its arguments are too long")
    if kind in SCALARS or plain.source_of(value) is not None:
        return
    if kind not in containers or (kind in plain.COLLECTIONS and not plain.collection_source(value, repr)):
        raise NotPlain(f"a {kind.__qualname__} is among its arguments")
    for each in [*value, *value.values()] if isinstance(value, dict) else value:
        _check_plain(each, depth + 1)


def shown(value: Any, depth: int = 0) -> str:
    """Return a text that is the same for equal values of one type; for plain data its source."""
    kind = type(value)
    if kind in SCALARS:
        return repr(value)
    if depth > DEEPEST:
        return "..."
    if kind is dict:
        keys, values = _each(value, depth), _each(value.values(), depth)
        return f"{{{', '.join(map('{}: {}'.format, keys, values))}}}"
    if kind in (list, tuple, set, frozenset):
        inner = list(_each(value, depth))
        if kind is tuple:
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        if kind is list:
            return f"[{', '.join(inner)}]"
        items = f"{{{', '.join(sorted(inner))}}}" if inner else ""
        return items if kind is set and inner else f"{kind.__name__}({items})"
    if kind in plain.COLLECTIONS and (
        source := plain.collection_source(value, lambda each: shown(each, depth + 1))
    ):
        return str(source)
    if isinstance(value, (type, types.ModuleType)) or callable(value):
        name = getattr(value, "__qualname__", kind.__qualname__)
        is_named = isinstance(getattr(value, "__self__", None), (type(None), types.ModuleType)) and "<" not in name
        return f"<{name}>" if is_named else repr(value)  # a function may hold more than its name tells
    if (source := plain.source_of(value)) is not None:
        return str(source)
    if getattr(kind, "__repr__", None) is vars(object)["__repr__"]:
        name = f"<{kind.__qualname__}>" if kind.__qualname__ in plain.BY_NAME else kind.__qualname__
        return f"{name}({shown(getattr(value, '__dict__', {}), depth + 1)})"
    return f"{kind.__qualname__}: {value!r}"


def _each(values: Iterable[Any], depth: int) -> Iterable[str]:
    return (shown(each, depth + 1) for each in itertools.islice(values, MOST_ITEMS))
