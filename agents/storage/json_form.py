"""The JSON form of records: dataclasses to text, and back with all types checked; checks of specs and rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..records import RoundRecord, Spec
from ..syntax.clean_text import clean
from ..syntax.source import parses

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def loaded(kind: type[Any], text: str | bytes) -> Any:
    """Return the record of `kind` in `text`. Raises pydantic's ValidationError, which is a ValueError."""
    return _adapter(kind).validate_json(text)


def checked(kind: type[Any], values: object) -> Any:
    """Return the record of `kind` with these JSON `values`. Raises as `loaded`."""
    return _adapter(kind).validate_python(values)


def dumped(record: object, *, indent: int | None = None) -> str:
    """Return the JSON text of a dataclass."""
    text: str = _adapter(type(record)).dump_json(record, indent=indent).decode("utf-8")
    return text


def cleaned(told: Any, shown: Callable[[str], str] = clean, most: int | None = None) -> Any:
    """Return JSON values with every text in them cleaned by `shown`, and at most so many items of each list."""
    match told:
        case str():
            return shown(told)
        case list() | tuple():
            return [cleaned(each, shown, most) for each in told[:most]]
        case dict():
            return {clean(key): cleaned(each, shown, most) for key, each in told.items()}
    return told


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        if is_dataclass(kind):  # a field that JSON can't hold is never read from a file
            own = getattr(kind, "__pydantic_config__", {})
            kind.__pydantic_config__ = {"allow_inf_nan": False, **own}  # type: ignore[attr-defined]
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def check_spec(spec: Spec, place: Path) -> None:
    """Raise UsageError where an example or a test of the spec in the untrusted file `place` is not Python."""
    examples = (example.code for example in spec.examples)
    _check_tests((*examples, *spec.wrong_tests, *spec.unspecified, spec.user_tests or ""), place)


def check_round(record: RoundRecord, place: Path) -> None:
    """Raise UsageError where the round in the untrusted file `place` is inconsistent, or a test is not Python."""
    for board in (record.board, record.probes or record.board):
        if len(board.candidates) != len(board.verdicts):
            raise UsageError(f"{place} has {len(board.verdicts)} verdicts on other candidates.")
    if record.ruling.leader not in (None, *(each.id for each in record.board.candidates)):
        raise UsageError(f"{place} is led by a candidate that it does not have.")
    tests = (*record.board.tests, *(entry.test for entry in record.ruling.ledger))
    _check_tests({f"{test.preamble}\n{test.source}" for test in tests}, place)


def _check_tests(tests: Iterable[str], place: Path) -> None:
    if not all(map(parses, tests)):
        raise UsageError(f"{place} has a test that is not Python; it can't be shown or resumed.")
