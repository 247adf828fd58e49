"""Notes on what lets code pass without doing what its tests ask: it may read them, or have written their cases."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...syntax.imports import USER_MODULE, split_imports
from ...syntax.source import parse
from ..inside.proxy.describe import words

_FRAMES = words(
    "_getframe _current_frames currentframe f_back tb_frame getouterframes get_objects get_referrers settrace"
)


def reads_frames(code: str) -> str | None:
    """Return a note where code that shares a process with its tests looks at frames or objects that are theirs."""
    try:
        used = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(parse(code)))
        found = next((name for name in used if name in _FRAMES), None)
    except (ValueError, RecursionError):
        return None
    return found and (
        f"The code uses {found}, by which code in one process with its tests can read what they expect: "
        "what passes says little."
    )


def has_written_cases(tests: str) -> Iterator[str]:
    """Yield a note for each list of the code's own that tests go through as their cases."""
    try:
        tree = parse(tests)
    except (ValueError, RecursionError):
        return
    imports = [each for node in tree.body for each in split_imports(node) if each.module == USER_MODULE]
    own = {each.binds for each in imports} | {USER_MODULE}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, cases, *_]):
                several = "," in ast.unparse(names)  # one has no expected value beside it
                root = cases.value if isinstance(cases, ast.Attribute) else cases
                if several and isinstance(root, ast.Name) and root.id in own:
                    yield f"The cases in {ast.unparse(cases)} are the code's own: it says itself what they expect."
