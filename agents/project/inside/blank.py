"""A pytest plugin: while a test runs, every function of the project that it is known to call returns something
else. A test that passes all the same can't fail by what those functions do.

`blank.json`, beside this file, has `value` (true or false, what the returned object counts as) and `called` (for
each test the functions, as path::line).
"""

from __future__ import annotations

import gc
import json
import types
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

_HERE = Path(__file__).parent
_TREE = f"{_HERE.parent}/"
_TOLD = json.loads((_HERE / "blank.json").read_text(encoding="utf-8"))
_NOTHING = ("__init__", "__post_init__", "__init_subclass__", "__set_name__", "__del__", "__exit__", "__aexit__")
"""Methods that have to return None, or suppress errors by what they return."""
_LEFT_ALONE = ("__new__", "__hash__", "__class_getitem__")
"""Methods that fail by any other value, whatever the test asserts."""


class Blank:
    """Equal to itself alone; each call returns another one."""

    def __bool__(self) -> bool:
        return bool(_TOLD["value"])


def _code(free: int, value: object) -> types.CodeType:
    """The code of a function that takes anything and returns a new object of `value`'s class; it has `free` free
    variables."""
    names = [f"v{number}" for number in range(free)]
    bound = "".join(f"    {name} = None\n" for name in names)
    used = f"        ({', '.join(names)},)\n" if names else ""
    space: dict[str, Any] = {}
    inner = f"    def blank(*args, **kwargs):\n{used}        return 'value'.__class__()\n"
    exec(f"def outer():\n{bound}{inner}    return blank\n", space)  # noqa: S102 - text of this module
    code: types.CodeType = space["outer"]().__code__
    return code.replace(co_consts=tuple(value if const == "value" else const for const in code.co_consts))


def _functions(wanted: set[str]) -> Iterator[types.FunctionType]:
    for each in gc.get_objects():
        if type(each) is types.FunctionType and each.__code__.co_filename.startswith(_TREE):
            code = each.__code__
            name = f"{code.co_filename[len(_TREE) :]}::{code.co_firstlineno}"
            if name in wanted and each.__name__ not in _LEFT_ALONE:
                yield each


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    """Replace the code of the functions, for as long as the test runs."""
    wanted = set(_TOLD["called"].get(item.nodeid, ()))
    replaced = [(function, function.__code__) for function in (_functions(wanted) if wanted else ())]
    value = Blank()
    for function, code in replaced:
        free = len(code.co_freevars)
        function.__code__ = _code(free, None if function.__name__ in _NOTHING else value)
    try:
        yield
    finally:
        for function, code in replaced:
            function.__code__ = code
