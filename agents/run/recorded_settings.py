"""Settings of a resumed run, heal or batch: those of the call, and those that its record may add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..checked import Record
from ..errors import UsageError
from ..events import EventHandler, Note
from ..llm_backends.providers import is_embedded, is_ollama, provider_of
from ..settings import Settings, Use, uses


def with_recorded(settings: Settings, recorded: Mapping[str, Any]) -> Settings:
    """Return `settings` with recorded values for those at their defaults that a record may decide. Raises
    UsageError for a value that doesn't fit."""
    taken = {name: value for name, value, use in _begun_with(settings, recorded) if Use.RECORD in use}
    return replace(settings, **taken)


def gone_on(own: Record, recorded: Mapping[str, Any], begun: str, emit: EventHandler) -> Settings:
    """Return `own` settings as `with_recorded` does for what is named `begun`; note recorded ones that are
    ignored.

    Raises UsageError where it began with a Python, weights, a server, or a model that is no name (such as a
    directory of replies), and this call gives none.
    """
    settings = Settings.of(own)
    left = [each for each in _begun_with(settings, recorded) if hasattr(own, each[0])]
    if again := _options(left, Use.AGAIN):
        raise UsageError(f"{begun} was begun with {again}, which no record decides: give that again, or another.")
    if noted := _options(left, Use.NOTED):
        text = f"{begun} was begun with {noted}; this goes on without: give that again if you want it."
        emit(Note(text, warning=True))
    return with_recorded(settings, recorded)


def check_server(settings: Settings, recorded: Mapping[str, Any], begun: str) -> None:
    """Raise UsageError where `begun` needs settings that the server resuming it was not started with."""
    if own := _options(_begun_with(settings, recorded), Use.SERVER):
        raise UsageError(f"{begun} was begun with {own}; start the server with it, or go on with --resume.")


def _begun_with(settings: Settings, recorded: Mapping[str, Any]) -> Iterator[tuple[str, Any, Use]]:
    """Yield the recorded settings that are not defaults and that this call leaves at their defaults."""
    defaults = Settings()
    for name, use in uses().items():
        default, value = getattr(defaults, name), recorded.get(name)
        if value not in (None, default) and getattr(settings, name) == default:
            if Use.RECORD | Use.SERVER in use and not _names_a_model(value):
                use = Use.AGAIN | Use.SERVER
            yield name, value, use


def _names_a_model(value: object) -> bool:
    """Return True for a model's name, not a directory, an address or a server's own name."""
    if not isinstance(value, str) or "://" in value:
        return False
    return is_embedded(value) or is_ollama(value) or provider_of(value) is not None


def _options(left: Iterable[tuple[str, Any, Use]], use: Use) -> str:
    return " and ".join(f"--{name.replace('_', '-')} {value}" for name, value, its in left if use in its)
