"""Names that the tests of a spec may use because the spec names a package or a module of the user's."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..records import UserModule
from ..syntax.definitions import is_definition
from ..syntax.imports import KNOWN
from ..syntax.source import names_bound, statements


def named_imports(packages: Sequence[str], modules: Sequence[UserModule]) -> dict[str, str]:
    """Return those names, each with the statement that imports it: of packages (requirements) their own names and
    aliases that everyone uses, of modules their names and what they define."""
    found: dict[str, str] = {}
    for requirement in packages:
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0].lower()
        aliases = {alias: line for alias, line in KNOWN.items() if line == f"import {name} as {alias}"}
        found |= aliases | ({name: f"import {name}"} if name.isidentifier() else {})
    for module in modules:
        source = module.files.get(f"{module.name}.py") or module.files.get(f"{module.name}/__init__.py") or ""
        for node in statements(source):  # none where it is of a newer Python, perhaps
            if is_definition(node) or (isinstance(node, ast.ImportFrom) and node.level > 0):
                public = (name for name in names_bound(node) if not name.startswith("_"))
                found |= {name: f"from {module.name} import {name}" for name in public}
        found[module.name] = f"import {module.name}"
    return found
