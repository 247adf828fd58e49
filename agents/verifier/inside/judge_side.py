"""What the judge lets the subject do, and which operators it decides by itself: a value that came from the code
is compared here, on plain data, wherever that can be."""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Callable
from typing import Any

from .describe import SPECIALS, may_be_named, words
from .plain import Malformed
from .side import dotted

_COMPARISONS = frozenset(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"])
_ARITHMETIC = frozenset(
    f"__{prefix}{name}__"
    for name in words("add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor")
    for prefix in ("", "r", "i")
)
_UNARY = frozenset(
    f"__{name}__" for name in words("neg pos abs invert int float complex index round trunc floor ceil")
)
_TEXTS = frozenset(["__repr__", "__str__", "__format__"])
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_NAMES_OF_FUNCTIONS = frozenset(["__name__", "__qualname__", "__doc__", "__module__"])
_ITERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_STREAMS = (io.StringIO, io.BytesIO)
_HIDDEN = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_", "mro")


class InterruptRaised(BaseException):
    """Stands for a KeyboardInterrupt that the code raised: the real one would end the run of the tests."""


class JudgeSide:
    """Guards the judge. `tell` records a `note` for the user, an `unshareable` value that makes a test need one
    process, or a `malformed` frame."""

    sends_functions = True

    def __init__(self, test_modules: frozenset[str], tell: Callable[[str, str], None]) -> None:
        self.user_modules = test_modules
        self._tell = tell
        self._named: set[int] = set()
        self._probed: dict[type, bool] = {}
        self.compare: Callable[[Any, str, tuple[Any, ...]], Any] = lambda *_: NotImplemented
        self.is_remote: Callable[[object], bool] = lambda _: False

    # --- what the subject may have -------------------------------------------------------------------------

    def may_export(self, value: object) -> bool:
        """Functions, iterators, streams, and what the tests define themselves; nothing else is handed out."""
        kind = value if isinstance(value, type) else type(value)
        if isinstance(value, BaseException):  # the code may have raised it: that must not move a test
            return kind.__module__ in self.user_modules
        allowed = isinstance(value, (*_FUNCTIONS, *_ITERATORS, *_STREAMS)) or kind.__module__ in self.user_modules
        allowed = allowed or (hasattr(kind, "__next__") and kind.__module__ in ("builtins", "itertools"))
        if not allowed:
            self._tell("unshareable", f"a {kind.__name__} is passed to the code")
        return allowed

    def resolve(self, module: str, name: str) -> Any:
        """A class by its name: of the standard library, and harmless. Raises Malformed."""
        if (module, name) == ("builtins", "KeyboardInterrupt"):
            return InterruptRaised
        if module.partition(".")[0] not in sys.stdlib_module_names:
            raise Malformed(f"the class {module}.{name} cannot be named here"[:200])
        try:
            found = dotted(module, name)
        except (ImportError, AttributeError) as error:
            raise Malformed(f"the class {module}.{name} is not here"[:200]) from error
        if not isinstance(found, type) or not may_be_named(found, module):
            raise Malformed(f"{module}.{name} is no class that may be named here"[:200])
        return found

    def where(self, error: BaseException) -> str:
        """Nothing: lines of the tests are no business of the code."""
        return ""

    def admit(self, what: str, target: Any, name: str) -> None:
        """Let the subject call functions, iterate, and use public attributes of the tests' own objects."""
        if what == "subclass" or not isinstance(name, str):
            raise TypeError("classes of the tests cannot be subclassed by the code")
        if what in ("call", "operate") or (what == "special" and name in SPECIALS):
            return
        if isinstance(target, _FUNCTIONS) and what == "get" and name in _NAMES_OF_FUNCTIONS:
            return
        if isinstance(target, _FUNCTIONS) or name.startswith(("_", *_HIDDEN)):
            raise AttributeError(name)

    # --- what the judge decides ----------------------------------------------------------------------------

    def name(self, value: object) -> None:
        """The tests name this class: its own operators count, with a note."""
        self._named.add(id(value))

    def ruled(self, proxy: Any, name: str, args: tuple[Any, ...]) -> tuple[bool, Any]:
        """Decide an operator on a remote object where the code could lie about it unseen."""
        kind = type(proxy)
        named = any(id(base) in self._named for base in kind.__mro__)
        other_remote = bool(args) and self.is_remote(args[0])
        value_type = getattr(kind, "_greenloop_value", None)
        if value_type is not None and not named and name not in _TEXTS:
            return True, getattr(value_type, name, _not_implemented)(proxy, *args)
        if name in _COMPARISONS:
            return self._compared(proxy, name, args, named, other_remote)
        if not named and name in _ARITHMETIC and not other_remote:
            return True, NotImplemented
        if not named and name in _UNARY:
            raise TypeError(f"the tests do not name the class {kind.__name__}, so {name} of it does not count")
        if name == "__contains__" and not named and hasattr(kind, "__iter__"):
            return True, any(item is args[0] or item == args[0] for item in proxy)
        if name in ("__bool__", "__contains__"):
            self._tell(
                "note", f"whether a {kind.__name__} is true or contains something is said by the code itself"
            )
        return False, None

    def _compared(
        self, proxy: Any, name: str, args: tuple[Any, ...], named: bool, other_remote: bool
    ) -> tuple[bool, Any]:
        kind = type(proxy)
        like = getattr(kind, "_greenloop_like", None)
        if like is not None and not other_remote:
            return True, self.compare(proxy, name, args)
        if not other_remote and (not named or not _is_plain(args[0])):
            return True, NotImplemented
        self._tell("note", f"how objects of {kind.__name__} compare is said by the code itself")
        return False, None

    def malformed(self, reason: str) -> None:
        """The subject wrote what no subject writes."""
        self._tell("malformed", reason)

    # --- output --------------------------------------------------------------------------------------------

    def printed(self) -> list[tuple[int, str]]:
        """The judge's own output stays here."""
        return []

    def show(self, stream: int, text: str) -> None:
        """Print what the code printed, so that capsys sees it."""
        (sys.stderr if stream == 2 else sys.stdout).write(text)


def _is_plain(value: object) -> bool:
    return type(value).__module__ in ("builtins", "collections", "decimal", "fractions", "datetime")


def _not_implemented(*_: object) -> Any:
    return NotImplemented
