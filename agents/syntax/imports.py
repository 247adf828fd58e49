"""Imports: split into single bindings, rendered in a canonical form, and added for well-known names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .source import BUILTINS, is_constant, names_unbound, parse

USER_MODULE = "user_code"
"""The module that tests import the code under test from."""

_MODULES = (
    "abc array asyncio base64 bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal"
    " difflib enum fractions functools hashlib heapq inspect io itertools json math numbers operator os pytest"
    " queue random re secrets statistics string struct subprocess sys textwrap threading time typing unicodedata"
    " uuid zlib"
)

_MEMBERS = {
    "abc": "ABC abstractmethod",
    "bisect": "bisect_left bisect_right insort insort_left insort_right",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "contextlib": "contextmanager suppress",
    "copy": "deepcopy",
    "dataclasses": "asdict astuple dataclass field replace",
    "datetime": "date timedelta timezone",
    "decimal": "Decimal ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN"
    " ROUND_HALF_UP ROUND_UP",
    "enum": "Enum IntEnum",
    "fractions": "Fraction",
    "functools": "cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps",
    "hashlib": "md5 sha1 sha256",
    "heapq": "heapify heappop heappush heappushpop heapreplace nlargest nsmallest",
    "io": "StringIO BytesIO",
    "itertools": "accumulate chain combinations combinations_with_replacement count cycle dropwhile groupby islice"
    " pairwise permutations product starmap takewhile zip_longest",
    "math": "ceil comb factorial floor gcd hypot inf isclose isqrt lcm log10 log2 nan perm pi prod sqrt",
    "operator": "attrgetter itemgetter",
    "pathlib": "Path",
    "statistics": "mean median stdev",
    "string": "ascii_letters ascii_lowercase ascii_uppercase punctuation",
    "typing": "Any Callable ClassVar Deque DefaultDict Dict Final FrozenSet Generator Generic Hashable Iterable"
    " Iterator List Literal Mapping MutableMapping NamedTuple NoReturn Optional Protocol Self Sequence Set Tuple"
    " Type TypeVar TypedDict Union cast overload",
}

KNOWN = {
    **{name: f"from {module} import {name}" for module, names in _MEMBERS.items() for name in names.split()},
    **{module: f"import {module}" for module in _MODULES.split()},
    "np": "import numpy as np",
    "pd": "import pandas as pd",
}
"""Well-known names with one usual meaning, and the statement that imports each."""

_CALLABLE_MODULES = frozenset({"array", "bisect", "copy", "random", "time"})
"""Modules with a function of the same name."""


class Import(NamedTuple):
    """One binding of an import statement. `name` is None for `import module`."""

    level: int
    module: str
    name: str | None
    alias: str | None

    @property
    def binds(self) -> str:
        """The name that it binds (`*` for a star import)."""
        return self.alias or (self.name or self.module).split(".")[0]


def split_imports(statement: ast.stmt) -> tuple[Import, ...]:
    """Return the bindings of an import statement; none for any other."""
    if isinstance(statement, ast.Import):
        return tuple(Import(0, alias.name, None, alias.asname) for alias in statement.names)
    if not isinstance(statement, ast.ImportFrom):
        return ()
    module = statement.module or ""
    return tuple(Import(statement.level, module, alias.name, alias.asname) for alias in statement.names)


def modules_imported(tree: ast.AST) -> frozenset[str]:
    """Return the top-level names of the modules that `tree` imports, anywhere in it."""
    entries = (entry for node in ast.walk(tree) if isinstance(node, ast.stmt) for entry in split_imports(node))
    return frozenset(entry.module.partition(".")[0] for entry in entries if not entry.level)


def render_imports(imports: Iterable[Import]) -> str:
    """Return import statements: merged by module, sorted, `__future__` first and `user_code` last."""
    plain: set[str] = set()
    members: dict[str, set[str]] = {}
    for entry in imports:
        source = "." * entry.level + entry.module
        alias = f" as {entry.alias}" if entry.alias else ""
        if entry.name is None:
            plain.add(f"import {source}{alias}")
        else:
            # A star import can't share a statement.
            key = source if entry.name != "*" else f"{source} *"
            members.setdefault(key, set()).add(f"{entry.name}{alias}")
    froms = [f"from {key.removesuffix(' *')} import {', '.join(sorted(names))}" for key, names in members.items()]
    lines = sorted(plain) + sorted(froms)
    rank = {"__future__": 0, USER_MODULE: 2}
    return "\n".join(sorted(lines, key=lambda line: rank.get(line.split()[1], 1)))


def add_missing_imports(code: str, own: Mapping[str, str] = MappingProxyType({})) -> tuple[str, tuple[str, ...]]:
    """Return `code` with missing imports of well-known names, and a note on each; `own` has the statements for
    names with another meaning here."""
    tree = parse(code)
    unbound = names_unbound(code).union(*(names_unbound(code, name) for name in own.keys() & BUILTINS))
    missing = sorted(name for name in unbound if name in own or name in KNOWN)
    if not missing:
        return code, ()
    added = [own.get(name) or _known(name, tree) for name in missing]
    place = head_end(tree)
    lines = code.split("\n")
    # Before the other imports: a star import that binds the name overrides it.
    head = [*lines[:place], ""] if place else []
    block = render_imports(entry for line in added for node in parse(line).body for entry in split_imports(node))
    rest = lines[place:]
    gap = [] if rest and (not rest[0].strip() or rest[0].startswith(("import ", "from "))) else ["", ""]
    return "\n".join([*head, block, *gap, *rest]), tuple(f"added {line}" for line in added)


def head_end(tree: ast.Module) -> int:
    """Return the number of the last line of a module's docstring and `__future__` imports; 0 without any."""
    end = 0
    for node in tree.body:
        docstring = not end and is_constant(node)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        end = node.end_lineno or node.lineno
    return end


def _known(name: str, tree: ast.Module) -> str:
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    if name in _CALLABLE_MODULES and any(isinstance(each, ast.Name) and each.id == name for each in called):
        return f"from {name} import {name}"
    return _datetime(tree) if name == "datetime" else KNOWN[name]


def _datetime(tree: ast.Module) -> str:
    """Return the import for `datetime`, which may be the module or its class."""
    members = {"datetime", "timedelta", "date", "time", "timezone"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "datetime":
            return "import datetime" if node.attr in members else "from datetime import datetime"
    return "from datetime import datetime"
