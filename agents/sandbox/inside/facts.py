"""Prints the facts of an interpreter that the host needs: `python -I facts.py`, from Python 3.9 on."""

from __future__ import annotations

import importlib.util
import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def facts() -> dict[str, Any]:
    """Return JSON values: this interpreter's path, version, prefixes, and directories that it imports from."""
    prefixes = [sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix]
    return {
        "executable": sys.executable,
        "implementation": sys.implementation.name,
        "version": sys.version_info[:3],
        "magic": importlib.util.MAGIC_NUMBER.hex(),
        "prefixes": prefixes,
        "path": [entry for entry in sys.path if any(entry.startswith(prefix + "/") for prefix in prefixes)],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(facts()))
