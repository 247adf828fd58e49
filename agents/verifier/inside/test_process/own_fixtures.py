"""Spares pytest the look for fixtures in those of its own modules that define none: a tenth of a verification."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from _pytest.fixtures import FixtureManager


def look_only_where_some_are() -> None:
    """Have pytest pass over its modules without fixtures; nothing changes where it marks fixtures otherwise."""
    try:
        from _pytest.fixtures import FixtureFunctionDefinition
    except ImportError:
        return
    look = FixtureManager.parsefactories

    def parsefactories(self: FixtureManager, *arguments: Any, **named: Any) -> None:
        holder = named.get("holder", next(iter(arguments), None))
        of_pytest = isinstance(holder, ModuleType) and holder.__name__.startswith("_pytest.")
        if of_pytest and not any(isinstance(each, FixtureFunctionDefinition) for each in vars(holder).values()):
            return
        look(self, *arguments, **named)

    FixtureManager.parsefactories = parsefactories  # type: ignore[method-assign]
